// What it costs to send data that lie on GPUs: straight, or by way of the host. gpu_transports.cpp
// lists the ways.
#pragma once

#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// A way, for ranks that have a GPU each. All functions are local. The last three are for machines
/// of which `messages` has answered.
struct GpuTransport : MethodInfo {
  /// The machine as the messages of this way meet it: all that costs messages takes it in place of
  /// the machine. Unanswered where the machine file lacks what the way needs.
  Required<Answer<Machine> (*)(const Machine& machine)> messages;
  /// The cores that share the messages of a rank.
  Required<int (*)(const Machine& machine)> cores;
  /// Seconds until so many bytes of a GPU, not 0, are where messages leave from.
  Required<double (*)(const Machine& machine, double bytes)> out_s;
  /// Likewise back to the GPU from where messages arrive.
  Required<double (*)(const Machine& machine, double bytes)> in_s;

  static Family<GpuTransport>& family();
};

/// The way that every machine with GPUs has: it asks nothing of the MPI library, and nothing of
/// other cores.
const GpuTransport& plain_gpu_transport();

/// Bytes that leave the memory of a GPU in an exchange, and that come into it.
struct GpuBytes {
  double out = 0;
  double in = 0;

  GpuBytes reversed() const { return {in, out}; }
};
/// Seconds of copies before the messages of an exchange, and after them.
struct GpuCopies {
  double out_s = 0;
  double in_s = 0;

  double total() const { return out_s + in_s; }
};
/// Local. Nothing is copied where there is nothing. Of a machine of which the way's `messages` has
/// answered.
GpuCopies copies(const GpuTransport& way, const Machine& machine, const GpuBytes& bytes);

/// Local. The part of a rank's messages that each of its cores has: there is no part of a message.
double share_of_core(double messages, int cores);

/// Messages that each of some GPUs of a node sends to other nodes at once, all of the same length;
/// it receives as much.
struct GpuTraffic {
  double messages = 1;  ///< of a GPU
  double bytes = 8;     ///< of a message
  int senders = 1;      ///< GPUs of the node that send
};

/// Local. The seconds of such an exchange: copies, and the max-rate model. Unanswered as
/// GpuTransport::messages is.
Answer<double> seconds(const GpuTransport& way, const Machine& machine, const GpuTraffic& traffic);

/// Local. The least number of messages of so many bytes, up to `most`, from which on the host's way
/// takes less time than the straight one; 0: never. Unanswered where one of both is.
Answer<int> copies_win_from(const Machine& machine, const GpuTransport& host_way, double bytes,
                            int most);

}  // namespace nodewise::model
