// What it costs to send data that lie on GPUs: straight, or by way of the host. gpu_transports.cpp
// lists the ways.
#pragma once

#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// Messages that each of some GPUs of a node sends to other nodes at once, all of the same length;
/// it receives as much.
struct GpuTraffic {
  double messages = 1;  ///< of a GPU
  double bytes = 8;     ///< of a message
  int senders = 1;      ///< GPUs of the node that send
};

/// A way, in seconds of an exchange. All functions are local.
struct GpuTransport : MethodInfo {
  using Seconds = Answer<double> (*)(const Machine& machine, const GpuTraffic& traffic);
  /// Unanswered where the machine file lacks what the way needs.
  Required<Seconds> seconds;

  static Family<GpuTransport>& family();
};

/// Local. The least number of messages of so many bytes, up to `most`, from which on the host's way
/// takes less time than the straight one; 0: never. Throws unsupported where one of both is
/// unanswered.
int copies_win_from(const Machine& machine, const GpuTransport& host_way, double bytes, int most);

}  // namespace nodewise::model
