// The cost of a cycle whose vectors lie on GPUs, by every way of data between these.
#pragma once

#include "nodewise/model/machine.hpp"
#include "nodewise/predict/result.hpp"

namespace nodewise::predict {

/// Local. The ways that the machine, which has `gpu`, tells of, without predictions.
GpuPrediction begin_gpu_prediction(const model::Machine& machine);

/// Local. From how many messages on copies win on each level, once the ways have predictions.
void add_turns(const model::Machine& machine, GpuPrediction& prediction);

}  // namespace nodewise::predict
