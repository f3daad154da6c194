// Plans for records whose lengths are known: every item an entry of its own, so that new values
// travel without their lengths.
#pragma once

#include <span>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/plan.hpp"

namespace nodewise::comm {

/// Collective over the plan's ranks. The plan that brings the items of the ghosts' records, in
/// their order, where owned entry i has the items offsets[i] .. offsets[i + 1). The records of
/// entries that no message carries may be empty. One exchange of lengths. Throws the same Error on
/// every rank: index_overflow where the items of a rank do not fit its indices.
Plan plan_of_items(const std::shared_ptr<const mpi::Comm>& comm, const Plan& plan,
                   std::span<const Offset> offsets);

/// Sums of contributions, one for every pair of an owned entry and a key.
struct SumPlan {
  /// To be run reversed, with addition. Its ghosts are the items of the records of contributions,
  /// in their order; its owned entries the items of `keys`.
  Plan plan;
  /// For every owned entry the keys that some rank contributes to, ascending, each once.
  Records<GlobalIndex> keys;
};

/// Collective over the plan's ranks. Record g of `keys` has the keys to which this rank contributes
/// at the owner of ghost g, each once. Ranks that pass records on add them up, so that a pair of
/// entry and key travels as often as the entry itself. One reversed exchange of records. Throws as
/// plan_of_items() does.
SumPlan plan_of_sums(const std::shared_ptr<const mpi::Comm>& comm, const Plan& plan,
                     const Records<GlobalIndex>& keys);

}  // namespace nodewise::comm
