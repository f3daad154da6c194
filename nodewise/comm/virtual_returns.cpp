#include <algorithm>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/virtual_ranks.hpp"

namespace nodewise::comm {

namespace {

using Columns = std::vector<GlobalIndex>;

/// Runs the plans of all ranks backwards on records of columns.
class ReturnRun {
 public:
  ReturnRun(std::span<const Plan> plans, const mpi::Topology& topology,
            const Records<GlobalIndex>& ghosts, const RecordLength& length,
            const MessageVisitor& visit)
      : plans_(plans),
        topology_(topology),
        length_(length),
        visit_(visit),
        received_(plans.size()) {
    std::size_t first = 0;
    for (std::size_t r = 0; r < plans.size(); ++r) first = spread(r, ghosts, first);
    if (first != ghosts.size()) {
      throw Error(ErrorCode::invalid_argument, "virtual ranks: more records than ghosts");
    }
  }

  void run() {
    const std::size_t n_stages = plans_.empty() ? 0 : plans_.front().stages.size();
    for (std::size_t s = n_stages; s-- > 0;) {
      for (std::size_t r = 0; r < plans_.size(); ++r) send(r, s, n_stages - 1 - s);
      if (s > 0) combine();
    }
  }

 private:
  /// The records of rank r's ghosts, the first of which is number `first`, to their places in its
  /// pool; returns the number of the first that is another rank's.
  std::size_t spread(std::size_t r, const Records<GlobalIndex>& ghosts, std::size_t first) {
    const Plan& plan = plans_[r];
    const auto n = static_cast<std::size_t>(plan.n_ghosts);
    if (first + n > ghosts.size()) {
      throw Error(ErrorCode::invalid_argument, "virtual ranks: fewer records than ghosts");
    }
    received_[r].resize(static_cast<std::size_t>(plan.pool_size() - plan.n_owned));
    for (std::size_t g = 0; g < n; ++g) {
      const auto place =
          static_cast<std::size_t>(plan.ghost_entry(static_cast<LocalIndex>(g)) - plan.n_owned);
      const auto record = ghosts[first + g];
      received_[r][place].insert(received_[r][place].end(), record.begin(), record.end());
    }
    return first + n;
  }

  /// The receives of rank r in stage s of the plans go back, those to other nodes first.
  void send(std::size_t r, std::size_t s, std::size_t reversed) {
    const Stage& stage = plans_[r].stages[s];
    std::size_t begin = 0;
    for (std::size_t t = 0; t < s; ++t) {
      begin += static_cast<std::size_t>(plans_[r].stages[t].n_received());
    }
    const int from = static_cast<int>(r);
    const Rotation rotation(stage.recv_ranks, from);
    for (const bool on_node : {false, true}) {
      for (std::size_t k = 0; k < stage.recv_ranks.size(); ++k) {
        const std::size_t i = rotation[k];
        if (topology_.same_node(from, stage.recv_ranks[i]) != on_node) continue;
        const auto first = static_cast<std::size_t>(stage.recv_offsets[i]);
        const auto count = static_cast<std::size_t>(stage.recv_offsets[i + 1]) - first;
        const Offset items =
            deliver(s, from, stage.recv_ranks[i],
                    std::span<Columns>(received_[r]).subspan(begin + first, count));
        if (items > 0) visit_(reversed, from, stage.recv_ranks[i], items);
      }
    }
  }

  /// Puts records where their receiver's plan sent the entries from; what has come to its owner is
  /// not looked at again. Returns the number of items.
  Offset deliver(std::size_t s, int from, int to, std::span<Columns> records) {
    const Plan& plan = plans_[static_cast<std::size_t>(to)];
    const Stage& stage = plan.stages[s];
    const auto at = std::find(stage.send_ranks.begin(), stage.send_ranks.end(), from);
    if (at == stage.send_ranks.end()) {
      throw Error(ErrorCode::internal, "virtual ranks: a message that nobody sends");
    }
    const auto message = static_cast<std::size_t>(at - stage.send_ranks.begin());
    auto entry = static_cast<std::size_t>(stage.send_offsets[message]);
    Offset items = 0;
    for (Columns& record : records) {
      items += length_(record);
      const LocalIndex place = stage.send_entries[entry++] - plan.n_owned;
      if (place >= 0) {
        Columns& target = received_[static_cast<std::size_t>(to)][static_cast<std::size_t>(place)];
        target.insert(target.end(), record.begin(), record.end());
      }
      Columns().swap(record);
    }
    return items;
  }

  void combine() {
    for (std::vector<Columns>& of_rank : received_) {
      for (Columns& record : of_rank) {
        std::sort(record.begin(), record.end());
        record.erase(std::unique(record.begin(), record.end()), record.end());
      }
    }
  }

  std::span<const Plan> plans_;
  const mpi::Topology& topology_;
  const RecordLength& length_;
  const MessageVisitor& visit_;
  std::vector<std::vector<Columns>>
      received_;  // of each rank, the records of its pool, owned left out
};

}  // namespace

void visit_returned_record_messages(std::span<const Plan> plans, const mpi::Topology& topology,
                                    const Records<GlobalIndex>& ghosts, const RecordLength& length,
                                    const MessageVisitor& visit) {
  ReturnRun(plans, topology, ghosts, length, visit).run();
}

}  // namespace nodewise::comm
