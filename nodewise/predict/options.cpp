#include "nodewise/predict/options.hpp"

#include <vector>

#include "nodewise/base/text_field.hpp"

namespace nodewise::predict {

std::span<const Field<VirtualOptions>> virtual_fields() {
  constexpr int most_ranks = 10'000'000;
  static const std::vector<Field<VirtualOptions>> fields = {
      field(
          "virtual_ranks", &VirtualOptions::virtual_ranks,
          "count, or predict, what so many ranks would send to each other; needs `ranks_per_node` "
          "or `node_map`, which place them; 0: count nothing",
          0, most_ranks)
          .common(),
      text_field("routes", &VirtualOptions::routes, "list",
                 "the routes of virtual ranks to look at, some of direct, two_step, three_step")
          .affecting(Affects::counts)
          .common(),
  };
  return fields;
}

std::span<const Field<PredictOptions>> predict_fields() {
  static const std::vector<Field<PredictOptions>> fields = {
      text_field("machine", &PredictOptions::machine, "machine",
                 "the machine whose costs are taken, for predictions, `route automatic`, "
                 "`redistribution automatic` or `sparsification automatic` (without it a short "
                 "look at the network), and whose "
                 "memory `profile` compares with: a machine file, "
                 "or "
                 "the name of a shipped one")
          .affecting(Affects::prediction | Affects::setup_travel | Affects::costs)
          .common('m'),
      text_field("rank_counts", &PredictOptions::rank_counts, "list",
                 "predict a cycle and the setup on each of these numbers of ranks, too, such as "
                 "64,512,4096: curves of strong scaling")
          .common(),
      field("arrival", &PredictOptions::arrival,
            "in which order messages reach a rank, compared with that of its receives, which "
            "decides how long queues are searched",
            {"in_order", "random", "observed", "reversed"}),
      field("scenario", &PredictOptions::scenario,
            "what messages between nodes are charged beside latency, bytes, queues and contention")
          .affecting(Affects::prediction | Affects::setup_travel | Affects::costs)
          .needing("machine", [](const PredictOptions& o) { return !o.machine.empty(); }),
      field("threads_per_rank", &PredictOptions::threads_per_rank,
            "that share a rank's arithmetic, each of them slower as the memory's bandwidth by "
            "threads says; where there are several, and no `ranks_per_node` or `node_map`, a node "
            "has "
            "as many ranks as its cores have room for",
            1, 1024)
          .affecting(Affects::prediction),
      field("memory", &PredictOptions::memory,
            "where vectors lie: device predicts a cycle with a GPU a rank, by every way of data "
            "between GPUs; where no `ranks_per_node` or `node_map` says otherwise, a node then has "
            "as many ranks as GPUs",
            {"host", "device"})
          .affecting(Affects::prediction),
      field("s_per_flop", &PredictOptions::s_per_flop,
            "the time of a floating-point operation of a sparse product, in seconds, in the place "
            "of what the machine says; 0: what it says",
            0.0, 1.0),
  };
  return fields;
}

}  // namespace nodewise::predict
