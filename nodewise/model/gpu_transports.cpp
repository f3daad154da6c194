// The ways of data between GPUs, and their one list. Formulas: the max-rate model of Bienz, Olson,
// Gropp, Lockhart (Modeling data movement performance on heterogeneous architectures, 2021) with
// copies before and after.
#include <algorithm>

#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/model/machine_parameters.hpp"
#include "nodewise/model/message_cost.hpp"

namespace nodewise::model {

namespace {

double copy_s(const CopyPath& path, double bytes) {
  return path.latency_s + bytes / path.rate_bytes_per_s;
}

Unanswered lacks(const char* key) {
  return {std::string("the machine file has no `gpu") + key + "`"};
}

int one(const Machine& /*machine*/) {
  return 1;
}

double nothing_s(const Machine& /*machine*/, double /*bytes*/) {
  return 0;
}

/// Where no bound of the rate was seen it is the highest that check() lets pass.
MessageParameters as_message(const CopyPath& path, double injection_bytes_per_s) {
  return {path.latency_s, std::min(path.rate_bytes_per_s, a_rate.most), injection_bytes_per_s};
}

/// Two protocols, as they were fitted. The overheads of the host's messages are not theirs.
Answer<Machine> from_gpus(const Machine& machine) {
  if (!machine.gpu) return lacks("");
  const GpuPaths& gpu = *machine.gpu;
  if (!gpu.direct[static_cast<std::size_t>(Locality::other_node)]) {
    return lacks(".direct.other_node");
  }
  Machine seen = machine;
  seen.switch_sizes = {gpu.switch_bytes, gpu.switch_bytes};
  seen.own_switch_sizes = {};
  seen.overheads.reset();
  for (std::size_t l = 0; l < gpu.direct.size(); ++l) {
    PathParameters& path = seen.paths[l];
    path = {};
    if (!gpu.direct[l]) continue;
    path[static_cast<std::size_t>(Protocol::in_envelope)] =
        as_message(gpu.direct[l]->to_switch, gpu.injection_bytes_per_s);
    path[static_cast<std::size_t>(Protocol::rendezvous)] =
        as_message(gpu.direct[l]->beyond, gpu.injection_bytes_per_s);
  }
  return seen;
}

const GpuTransport& direct() {
  static const GpuTransport way = {
      {"direct", "from GPU to GPU, by an MPI library that knows their memory", ""},
      from_gpus,
      one,
      nothing_s,
      nothing_s};
  return way;
}

Answer<Machine> from_host(const Machine& machine) {
  if (!machine.gpu) return lacks("");
  return machine;
}

double to_host_s(const Machine& machine, double bytes) {
  return copy_s(machine.gpu->to_host, bytes);
}

double to_device_s(const Machine& machine, double bytes) {
  return copy_s(machine.gpu->to_device, bytes);
}

const GpuTransport& one_core() {
  static const GpuTransport way = {
      {"one_core", "copied to the host by one core, which sends and receives", ""},
      from_host,
      one,
      to_host_s,
      to_device_s};
  return way;
}

int cores_of_gpu(const Machine& machine) {
  return std::max(1, machine.cores_per_node / machine.gpu->gpus_per_node);
}

/// One core hands each of the others of its GPU a part in a message, or is handed it.
double parts_s(const Machine& machine, double bytes) {
  const int cores = cores_of_gpu(machine);
  return (cores - 1) * message_s(machine, Locality::same_socket, bytes / cores, 1);
}

const GpuTransport& many_cores() {
  static const GpuTransport way = {
      {"many_cores", "copied by one core, then sent by all of the GPU's, to which it hands parts",
       ""},
      from_host,
      cores_of_gpu,
      [](const Machine& m, double bytes) { return to_host_s(m, bytes) + parts_s(m, bytes); },
      [](const Machine& m, double bytes) { return parts_s(m, bytes) + to_device_s(m, bytes); }};
  return way;
}

Answer<Machine> from_shared_memory(const Machine& machine) {
  if (!machine.gpu) return lacks("");
  if (machine.gpu->shared_copies.empty()) return lacks(".shared_copies");
  return machine;
}

/// As many as were measured copying at once.
int cores_that_copy(const Machine& machine) {
  return machine.gpu->shared_copies.back().processes;
}

/// Each its part, from and to memory that all of them see. Copies to the host were measured; those
/// from there are taken to be alike.
double shared_copy_s(const Machine& machine, double bytes) {
  return copy_s(machine.gpu->shared_copies.back().path, bytes / cores_that_copy(machine));
}

const GpuTransport& shared_memory() {
  static const GpuTransport way = {
      {"shared_memory", "copied and sent by several cores, each a part of memory that they share",
       ""},
      from_shared_memory,
      cores_that_copy,
      shared_copy_s,
      shared_copy_s};
  return way;
}

}  // namespace

Family<GpuTransport>& GpuTransport::family() {
  static Family<GpuTransport> ways("gpu transport",
                                   {&direct(), &one_core(), &many_cores(), &shared_memory()});
  return ways;
}

GpuCopies copies(const GpuTransport& way, const Machine& machine, const GpuBytes& bytes) {
  return {bytes.out > 0 ? (*way.out_s)(machine, bytes.out) : 0,
          bytes.in > 0 ? (*way.in_s)(machine, bytes.in) : 0};
}

const GpuTransport& plain_gpu_transport() {
  return one_core();
}

double share_of_core(double messages, int cores) {
  return 1 / std::max(1.0, std::min(messages, static_cast<double>(cores)));
}

Answer<double> seconds(const GpuTransport& way, const Machine& machine, const GpuTraffic& traffic) {
  const Answer<Machine> answer = (*way.messages)(machine);
  if (const auto* none = std::get_if<Unanswered>(&answer)) return *none;
  const MessageParameters& p =
      std::get<Machine>(answer).parameters(Locality::other_node, traffic.bytes);
  const double bytes = traffic.messages * traffic.bytes;
  const double share = share_of_core(traffic.messages, (*way.cores)(machine));
  return copies(way, machine, {bytes, bytes}).total() + p.latency_s * traffic.messages * share +
         std::max(bytes * share / p.rate_bytes_per_s,
                  bytes * traffic.senders / p.injection_bytes_per_s);
}

Answer<int> copies_win_from(const Machine& machine, const GpuTransport& host_way, double bytes,
                            int most) {
  for (int m = 1; m <= most; ++m) {
    const GpuTraffic traffic = {static_cast<double>(m), bytes, 1};
    const Answer<double> straight_s = seconds(direct(), machine, traffic);
    const Answer<double> host_s = seconds(host_way, machine, traffic);
    for (const auto* answer : {&straight_s, &host_s}) {
      if (const auto* none = std::get_if<Unanswered>(answer)) return *none;
    }
    if (std::get<double>(host_s) < std::get<double>(straight_s)) return m;
  }
  return 0;
}

}  // namespace nodewise::model
