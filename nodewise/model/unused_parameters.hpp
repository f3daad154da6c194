// What a machine file has and no prediction takes.
#pragma once

#include <string>
#include <vector>

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// Local. The keys of a machine's file that have something which exchanges, reductions and
/// arithmetic are not predicted from, by its scenario: "network.hop_latency_s".
std::vector<std::string> unused_parameters(const Machine& machine);

}  // namespace nodewise::model
