#include "nodewise/model/machine_parameters.hpp"

#include <algorithm>

#include "nodewise/model/network_shape.hpp"

namespace nodewise::model {

namespace {

using Visitor = ParameterVisitor;

bool always(const Machine& /*machine*/) {
  return true;
}

void describe_sizes(Visitor& v, SwitchSizes& sizes) {
  v.whole({"short_bytes", "the longest message by the protocol short"}, sizes.short_bytes);
  v.whole({"eager_bytes", "the longest message by the protocol eager; 0 and 0: one protocol"},
          sizes.eager_bytes);
}

void describe_message(Visitor& v, MessageParameters& set) {
  v.number({"latency_s", "alpha of the max-rate model"}, set.latency_s, a_time);
  v.number({"rate_bytes_per_s", "its R_b"}, set.rate_bytes_per_s, a_rate);
  v.number(Key{"injection_bytes_per_s",
               "its R_N, which all ranks of a node share; missing: no such limit"}
               .optional(),
           set.injection_bytes_per_s, a_rate);
}

void describe_path(Visitor& v, PathParameters& path, std::optional<SwitchSizes>& sizes) {
  for (std::size_t p = 0; p < path.size(); ++p) {
    const Key key = {to_string(static_cast<Protocol>(p)),
                     "messages by protocol P: short, eager, rendezvous", false, "P"};
    v.object(key, path[p], describe_message);
  }
  v.object(
      Key{"switch_sizes", "those of messages of this locality, where they have others"}.optional(),
      sizes, describe_sizes);
}

void describe_protocols(Visitor& v, Machine& machine) {
  v.object({"switch_sizes", "where protocols switch"}, machine.switch_sizes, describe_sizes);
  for (int l = 0; l < n_localities; ++l) {
    const auto locality = static_cast<Locality>(l);
    PathParameters& path = machine.path(locality);
    auto& sizes = machine.own_switch_sizes[static_cast<std::size_t>(l)];
    const bool needed = locality == Locality::other_node;
    const Key key = {to_string(locality),
                     "messages of locality L: same_socket, same_node, other_node", needed, "L"};
    const auto is_known = [](const auto& set) { return set.has_value(); };
    const bool has_some = sizes || std::any_of(path.begin(), path.end(), is_known);
    if (v.enters(key, has_some)) v.group(key, [&] { describe_path(v, path, sizes); });
  }
}

void describe_flops(Visitor& v, FlopCost& cost) {
  v.number(Key{"up_to_nonzeros", "that a core holds; missing in the last"}.optional(),
           cost.up_to_nonzeros, a_number);
  v.number({"s_per_flop", "seconds a floating-point operation"}, cost.s_per_flop, a_positive_time);
}

void describe_bandwidth(Visitor& v, ThreadBandwidth& entry) {
  v.count({"threads", "that use the memory"}, entry.threads);
  v.number({"bytes_per_s", "b_j there: what each of them has"}, entry.bytes_per_s, a_rate);
}

void describe_cache(Visitor& v, Cache& cache) {
  v.number({"bytes", "its size"}, cache.bytes, a_size);
  v.count(Key{"cores", "that share it; 1 where it is missing"}.optional(), cache.cores);
}

void describe_computation(Visitor& v, Machine& machine) {
  v.numbers(Key{"s_per_flop_by_level",
                "t_i there: seconds a floating-point operation of a sparse product by level; the "
                "last holds for all coarser levels"}
                .optional()
                .unused([](const Machine& m) { return !m.s_per_flop_by_size.empty(); }),
            machine.s_per_flop_by_level, a_positive_time);
  v.list(Key{"s_per_flop_by_size",
             "the same by the nonzeros that a core holds, ascending; counts where both are there"}
             .optional(),
         machine.s_per_flop_by_size, describe_flops);
  v.list(Key{"thread_bandwidth", "memory bandwidth by threads, ascending"}.optional(),
         machine.thread_bandwidth, describe_bandwidth);
  v.list(Key{"caches", "from the first level to the last"}.optional().unused(always),
         machine.caches, describe_cache);
}

void describe_copy(Visitor& v, CopyPath& path) {
  v.number({"latency_s", "of a copy or message"}, path.latency_s, a_time);
  v.number({"rate_bytes_per_s", "likewise"}, path.rate_bytes_per_s, a_rate);
}

void describe_shared_copy(Visitor& v, SharedCopy& copy) {
  v.count({"processes", "that copy at once"}, copy.processes);
  describe_copy(v, copy.path);
}

void describe_gpu_message(Visitor& v, CopyPath& path) {
  v.number({"latency_s", "alpha"}, path.latency_s, a_time);
  v.number(Key{"rate_bytes_per_s", "1 / beta; missing: no bound was seen"}.optional(),
           path.rate_bytes_per_s, a_rate);
}

void describe_gpu_messages(Visitor& v, GpuMessages& messages) {
  v.object({"short", "up to switch_bytes"}, messages.to_switch, describe_gpu_message);
  v.object({"long", "beyond"}, messages.beyond, describe_gpu_message);
}

void describe_direct(Visitor& v, GpuPaths& gpu) {
  v.whole({"switch_bytes", "the longest short message"}, gpu.switch_bytes);
  for (int l = 0; l < n_localities; ++l) {
    const Key key = {to_string(static_cast<Locality>(l)),
                     "messages of locality L: same_socket, same_node, other_node", false, "L"};
    v.object(key, gpu.direct[static_cast<std::size_t>(l)], describe_gpu_messages);
  }
  v.number(Key{"injection_bytes_per_s",
               "what all GPUs of a node together can send to others; missing: no such limit"}
               .optional(),
           gpu.injection_bytes_per_s, a_rate);
}

void describe_gpu(Visitor& v, GpuPaths& gpu) {
  v.count({"gpus_per_node", "of one node"}, gpu.gpus_per_node);
  v.object({"to_host", "copies to the memory of the host"}, gpu.to_host, describe_copy);
  v.object({"to_device", "copies from there"}, gpu.to_device, describe_copy);
  v.list(Key{"shared_copies", "copies by several processes at once, ascending in these"}.optional(),
         gpu.shared_copies, describe_shared_copy);
  const Key direct = Key{"direct", "messages from GPU to GPU"}.optional();
  const bool has_some = std::any_of(gpu.direct.begin(), gpu.direct.end(),
                                    [](const auto& messages) { return messages.has_value(); });
  if (v.enters(direct, has_some)) v.group(direct, [&] { describe_direct(v, gpu); });
}

void describe_overheads(Visitor& v, MessageOverheads& overheads) {
  v.number({"send_on_node_s", "what a message on the node costs the processor that sends it"},
           overheads.send_on_node_s, a_time);
  v.number({"receive_on_node_s", "and the one that receives it"}, overheads.receive_on_node_s,
           a_time);
  v.number({"send_other_node_s", "the same of a message to another node"},
           overheads.send_other_node_s, a_time);
  v.number({"receive_other_node_s", "likewise"}, overheads.receive_other_node_s, a_time);
  v.number(
      Key{"nic_gap_s", "between two messages that leave a node; 0 where it is missing"}.optional(),
      overheads.nic_gap_s, a_time);
}

void describe_allreduce(Visitor& v, AllreduceTime& time) {
  v.number({"bytes", "of the vector"}, time.bytes, a_size);
  v.number({"seconds", "of the allreduce"}, time.seconds, a_positive_time);
}

void describe_allreduces(Visitor& v, MeasuredAllreduces& measured) {
  v.count({"ranks", "on which they were measured"}, measured.ranks);
  v.count({"nodes", "likewise"}, measured.nodes);
  v.list(Key{"mpi", "by the library's own algorithm, ascending in bytes"}.optional(), measured.mpi,
         describe_allreduce);
  v.list(Key{"node_aware", "by the node-aware algorithm; one of both must be there"}.optional(),
         measured.node_aware, describe_allreduce);
}

void describe_progress(Visitor& v, Progress& progress) {
  v.number({"bytes", "of the message"}, progress.bytes, a_size);
  v.number(Key{"receive", "the part hidden on a rank that receives"}.optional(), progress.receive,
           a_part);
  v.number(Key{"send", "likewise on a rank that sends"}.optional(), progress.send, a_part);
}

void describe_network(Visitor& v, Machine& machine) {
  visit_shape(v, machine.network);
  v.word(Key{"scenario",
             "which scenario of Gahvari et al. fits the machine best, and is charged unless "
             "`--scenario` says otherwise; baseline where it is missing"}
             .optional(),
         machine.scenario);
  v.number(Key{"hop_latency_s",
               "gamma of Gahvari et al.: each hop beyond the fewest possible; 0 "
               "where it is missing"}
               .optional()
               .unused([](const Machine& m) { return !m.scenario->penalties->distance; }),
           machine.hop_latency_s, a_time);
  v.number(Key{"hardware_bytes_per_s", "B_max there: what the hardware of a node could carry"}
               .optional()
               .unused([](const Machine& m) { return !m.scenario->penalties->bandwidth; }),
           machine.hardware_bytes_per_s, a_rate);
}

}  // namespace

void visit_parameters(Visitor& v, Machine& machine) {
  v.text({"name", "what it is"}, machine.name);
  v.text({"source", "where the numbers come from"}, machine.source);
  v.flag({"measured", "false for assumptions"}, machine.measured);
  v.texts(Key{"notes", "what else is to be said"}.optional(), machine.notes);
  v.group({"node", "one node"}, [&] {
    v.count({"sockets", "of one node"}, machine.sockets_per_node);
    v.count({"cores", "of one node"}, machine.cores_per_node);
  });
  v.group({"protocols", "messages"}, [&] { describe_protocols(v, machine); });
  v.number(Key{"queue_search_s",
               "gamma of (3.1) in Bienz 2018: a step through the queue of "
               "receives; 0 where it is missing"}
               .optional(),
           machine.queue_search_s, a_time);
  v.number(Key{"contention_s_per_byte_per_link", "delta of (3.3) there; 0 where it is missing"}
               .optional(),
           machine.contention_s_per_byte_per_link, a_time);
  const Key network = Key{"network", "its shape, and what hops cost"}.optional();
  if (v.enters(network, true)) v.group(network, [&] { describe_network(v, machine); });
  const Key computation = Key{"computation", "arithmetic and memory"}.optional();
  if (v.enters(computation, true)) {
    v.group(computation, [&] { describe_computation(v, machine); });
  }
  v.object(Key{"gpu", "copies and messages of the GPUs of a node"}.optional().unused(always),
           machine.gpu, describe_gpu);
  v.object(Key{"overheads", "for simulations message by message"}.optional(), machine.overheads,
           describe_overheads);
  v.object(Key{"allreduce", "allreduces as they were measured; the formulas are scaled by them"}
               .optional(),
           machine.allreduces, describe_allreduces);
  v.list(Key{"progress",
             "what part of the shorter of message and work the other hid (listing 2 of Schubert, "
             "Fehske, Hager, Wellein 2011), ascending in bytes. No formula takes it: exchanges are "
             "not overlapped with arithmetic"}
             .optional()
             .unused(always),
         machine.progress, describe_progress);
}

}  // namespace nodewise::model
