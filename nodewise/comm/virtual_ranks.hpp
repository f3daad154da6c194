// Exchanges between any number of virtual ranks, planned in one process without MPI: what they
// would send is counted exactly for machines that are not at hand.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm {

/// Local. The patterns of all ranks, as discover_pattern() gives each its own: rank r owns the
/// indices [starts[r], starts[r + 1]) and needs ghosts[r], ascending and none its own. Memory for
/// all ghosts together; nothing of size P x P. Throws invalid_argument where the ghosts are not so.
std::vector<Pattern> virtual_patterns(std::span<const GlobalIndex> starts,
                                      const Records<GlobalIndex>& ghosts);

/// Local. The plans of all ranks, as make_plan() gives each its own.
std::vector<Plan> virtual_plans(std::span<const Pattern> patterns, const mpi::Topology& topology,
                                const Route& route,
                                const route::NodeMapping& mapping = route::map_by_size);

/// Told of a message: in which stage, from which rank to which, and how many entries it carries.
using MessageVisitor =
    std::function<void(std::size_t stage, int from, int to, std::int64_t entries)>;

/// How many items a record with these columns has.
using RecordLength = std::function<Offset(std::span<const GlobalIndex> columns)>;

/// Local. Tells of every message of one forward run of the plans, stage by stage and rank by rank,
/// those of a rank in the order in which it posts them: to other nodes first.
void visit_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                    const MessageVisitor& visit);
/// Likewise of one reversed run, whose first stage is the last of the plans.
void visit_reversed_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                             const MessageVisitor& visit);
/// Likewise of records of varying length that travel forwards, their lengths not counted: entries
/// are items of records here. Record i of all ranks together, in their order, has offsets[i + 1] -
/// offsets[i] items. Records without items make no message.
void visit_record_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                           std::span<const Offset> offsets, const MessageVisitor& visit);
/// Likewise of records that come back to the owners of the ghosts, as reverse_records() brings
/// them, stage by stage reversed; lengths are not counted. All ghosts of all ranks together, in
/// their order, have the records `ghosts`, of columns, each once in a record. A rank that
/// passes records on sends each column once, ascending. A record of some columns, as it is sent,
/// has length(columns) items. Memory for all records. Throws invalid_argument where there are not
/// as many records as ghosts.
void visit_returned_record_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                                    const Records<GlobalIndex>& ghosts, const RecordLength& length,
                                    const MessageVisitor& visit);

/// Local. What each rank sends in one forward run of its plan.
std::vector<Traffic> virtual_traffic(std::span<const Plan> plans, const mpi::Topology& topology);

/// Local. What each rank sends of the messages of visit_record_messages().
std::vector<Traffic> virtual_record_traffic(std::span<const Plan> plans,
                                            const mpi::Topology& topology,
                                            std::span<const Offset> offsets);

}  // namespace nodewise::comm
