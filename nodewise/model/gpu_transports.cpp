// The ways of data between GPUs of different nodes, and their one list. Formulas: the max-rate
// model of Bienz, Olson, Gropp, Lockhart (Modeling data movement performance on heterogeneous
// architectures, 2021) with copies before and after.
#include <algorithm>

#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/model/message_cost.hpp"

namespace nodewise::model {

namespace {

double copy_s(const CopyPath& path, double bytes) {
  return path.latency_s + bytes / path.rate_bytes_per_s;
}

/// T = alpha m + max(beta S, S_N / R_N): m messages from each of the processes of a node, S bytes
/// of one process and S_N of the node.
double host_messages_s(const Machine& machine, double messages, double message_bytes, double bytes,
                       double node_bytes) {
  const MessageParameters& p = machine.parameters(Locality::other_node, message_bytes);
  return p.latency_s * messages +
         std::max(bytes / p.rate_bytes_per_s, node_bytes / p.injection_bytes_per_s);
}

Unanswered lacks(const char* key) {
  return {std::string("the machine file has no `gpu") + key + "`"};
}

Answer<double> direct_s(const Machine& machine, const GpuTraffic& traffic) {
  if (!machine.gpu) return lacks("");
  const GpuPaths& gpu = *machine.gpu;
  const auto& paths = gpu.direct[static_cast<std::size_t>(Locality::other_node)];
  if (!paths) return lacks(".direct.other_node");
  const bool is_short = traffic.bytes <= static_cast<double>(gpu.switch_bytes);
  const CopyPath& path = is_short ? paths->to_switch : paths->beyond;
  const double bytes = traffic.messages * traffic.bytes;
  return path.latency_s * traffic.messages +
         std::max(bytes / path.rate_bytes_per_s,
                  bytes * traffic.senders / gpu.injection_bytes_per_s);
}

Answer<double> one_core_s(const Machine& machine, const GpuTraffic& traffic) {
  if (!machine.gpu) return lacks("");
  const double bytes = traffic.messages * traffic.bytes;
  return copy_s(machine.gpu->to_host, bytes) + copy_s(machine.gpu->to_device, bytes) +
         host_messages_s(machine, traffic.messages, traffic.bytes, bytes, bytes * traffic.senders);
}

/// One core copies, and hands each of the others of its GPU a part in a message, before and after.
Answer<double> many_cores_s(const Machine& machine, const GpuTraffic& traffic) {
  if (!machine.gpu) return lacks("");
  const double bytes = traffic.messages * traffic.bytes;
  const int cores = std::max(1, machine.cores_per_node / machine.gpu->gpus_per_node);
  const double part = bytes / cores;
  return copy_s(machine.gpu->to_host, bytes) + copy_s(machine.gpu->to_device, bytes) +
         2.0 * (cores - 1) * message_s(machine, Locality::same_socket, part, 1) +
         host_messages_s(machine, traffic.messages / cores, traffic.bytes, part,
                         bytes * traffic.senders);
}

/// As many cores as were measured copying at once, each its part, from and to memory that all of
/// them see.
Answer<double> shared_memory_s(const Machine& machine, const GpuTraffic& traffic) {
  if (!machine.gpu) return lacks("");
  if (machine.gpu->shared_copies.empty()) return lacks(".shared_copies");
  const SharedCopy& copy = machine.gpu->shared_copies.back();
  const double bytes = traffic.messages * traffic.bytes;
  const double part = bytes / copy.processes;
  return 2 * copy_s(copy.path, part) + host_messages_s(machine, traffic.messages / copy.processes,
                                                       traffic.bytes, part,
                                                       bytes * traffic.senders);
}

const GpuTransport& direct() {
  static const GpuTransport way = {
      {"direct", "from GPU to GPU, by an MPI library that knows their memory", ""}, direct_s};
  return way;
}

const GpuTransport& one_core() {
  static const GpuTransport way = {
      {"one_core", "copied to the host by one core, which sends and receives", ""}, one_core_s};
  return way;
}

const GpuTransport& many_cores() {
  static const GpuTransport way = {
      {"many_cores", "copied by one core, then sent by all of the GPU's, to which it hands parts",
       ""},
      many_cores_s};
  return way;
}

const GpuTransport& shared_memory() {
  static const GpuTransport way = {
      {"shared_memory", "copied and sent by several cores, each a part of memory that they share",
       ""},
      shared_memory_s};
  return way;
}

}  // namespace

Family<GpuTransport>& GpuTransport::family() {
  static Family<GpuTransport> ways("gpu transport",
                                   {&direct(), &one_core(), &many_cores(), &shared_memory()});
  return ways;
}

int copies_win_from(const Machine& machine, const GpuTransport& host_way, double bytes, int most) {
  const auto seconds = [&](const GpuTransport& way, int messages) {
    return require((*way.seconds)(machine, {static_cast<double>(messages), bytes, 1}),
                   "messages between GPUs");
  };
  for (int m = 1; m <= most; ++m) {
    if (seconds(host_way, m) < seconds(direct(), m)) return m;
  }
  return 0;
}

}  // namespace nodewise::model
