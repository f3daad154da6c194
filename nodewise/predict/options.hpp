// The options of predictions and of counts for virtual ranks.
#pragma once

#include <span>
#include <string>

#include "nodewise/base/options.hpp"
#include "nodewise/model/queue_search.hpp"
#include "nodewise/model/scenario.hpp"

namespace nodewise::predict {

/// The ranks of a machine that is not at hand.
struct VirtualOptions {
  int virtual_ranks = 0;  ///< 0: none
  std::string routes = "direct,two_step,three_step";
};

/// Where vectors lie.
enum class Memory { host, device };

/// The options of a prediction.
struct PredictOptions {
  std::string machine;      ///< a machine file, or the name of a machine of the library
  std::string rank_counts;  ///< such as "64,512,4096": a curve of strong scaling
  model::Arrival arrival = model::usual_arrival;
  Choice<model::Scenario> scenario = "automatic";
  int threads_per_rank = 1;
  Memory memory = Memory::host;
  double s_per_flop = 0;  ///< 0: as the machine says
};

std::span<const Field<VirtualOptions>> virtual_fields();
std::span<const Field<PredictOptions>> predict_fields();

}  // namespace nodewise::predict
