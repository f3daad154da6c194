// What the operations of a level exchange on virtual ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/messages/setup_messages.hpp"
#include "nodewise/model/event_simulation.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/predict/virtual_levels.hpp"

namespace nodewise::predict {

/// Local. The bytes of a value as the cycle sends it; the setup is in double precision.
std::int64_t value_bytes(const amg::Hierarchy<double>& hierarchy, std::size_t level);

/// Local. The messages of an operation over the plans of `exchange`. What a setup sends is known of
/// each level but the last; of that nobody asks.
model::MessageStages messages_of(const VirtualExchange& exchange, const VirtualMachine& machine,
                                 std::span<const amg::LevelSetup> setups,
                                 std::int64_t bytes_of_value, Exchanged what);

/// Local. The most that a rank copies for an exchange of a cycle, where vectors lie on GPUs.
model::GpuBytes most_copied(const VirtualExchange& exchange, std::int64_t bytes_of_value,
                            Exchanged what);

/// The exchanges of a level's operation in a cycle, in the words of the report. `is_one_way` where
/// the restriction has plans of its own.
std::vector<Exchanged> exchanged_in_cycle(CountedExchange operation, bool is_one_way);
/// Likewise in the setup, over the same plans.
std::vector<Exchanged> exchanged_in_setup(CountedExchange operation, bool has_restriction);

}  // namespace nodewise::predict
