// The exchanges of lumping methods that share what is dropped among strong entries.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/amg/sparsify/strong_rows.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

/// Collective. A Lumping is made of the call and its strong rows. It has find_alone(), the entries
/// that have nowhere to go, which so stay on both sides; lump(), its changes of rows of the ghosts;
/// take_all() of those that arrive; and rows(). With new values nothing more may stay. Three
/// exchanges of records: strong rows to the ghosts, entries that have to stay, changes of others'
/// rows.
template <class Lumping, class T>
LumpedRows<T> lump_to_strong_rows(const LumpingCall<T>& call, double threshold,
                                  double max_row_sum) {
  std::optional<Error>& failure = call.failure;
  const StrongRows<T> strong = strong_rows(call, threshold, max_row_sum);
  std::vector<Offset> alone;
  std::optional<Lumping> lumping;
  const bool is_new = call.set_aside == nullptr;
  if (!failure) {
    failure = mpi::caught([&] {
      lumping.emplace(call, strong);
      if (is_new) alone = lumping->find_alone();
    });
  }
  if (is_new) keep_both<T>(call.A, alone, call.worth, failure);
  const auto arrived = call.A.exchange().reverse_records(
      [&] { return lumping->lump(); }, [](auto record) { return record.size(); }, failure);
  LumpedRows<T> lumped;
  if (failure) return lumped;
  failure = mpi::caught([&] {
    lumping->take_all(arrived);
    lumped = lumping->rows();
  });
  return lumped;
}

}  // namespace nodewise::amg::sparsify
