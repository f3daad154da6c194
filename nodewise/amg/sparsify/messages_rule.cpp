// All entries go that a message between nodes is for.
#include <algorithm>
#include <map>
#include <vector>

#include "nodewise/amg/sparsify/drop_rule.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

/// What one end of messages, a rank or a node, sees of the others: numbers by their number.
using ByOther = std::map<int, double>;

/// The worth of the messages that the rows here are at one end of.
template <class T>
class WorthOfMessages {
 public:
  explicit WorthOfMessages(const WorthCall<T>& call)
      : call_(call),
        blocks_(call.blocks),
        topology_(*call.places.topology),
        guard_(call.A, call.blocks, call.kept_vector) {
    for (LocalIndex point = 0; point < blocks_.n_all(); ++point) {
      ranks_.push_back(rank_of(blocks_.global(point)));
    }
    ends_.resize(static_cast<std::size_t>(n_ends()));
    norms_.resize(ends_.size());
  }

  /// Sums the norms of what each message is for.
  void weigh() {
    for_each_far_block([&](LocalIndex point, Offset block) {
      norms_[end_of(point)][other_end(block)] += static_cast<double>(blocks_.worth(block));
    });
  }

  /// Finds how much of a row is lost at most with a message and all that weigh less.
  void find_losses() {
    std::vector<std::map<int, int>> places;
    for (const ByOther& norms : norms_) places.push_back(places_of(norms));
    std::vector<Offset> order;
    for (LocalIndex point = 0; point < blocks_.n_points(); ++point) {
      order.clear();
      double sum = 0;
      for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
        if (blocks_.column(block) == point) continue;
        sum += static_cast<double>(blocks_.worth(block));
        if (is_far(point, block)) order.push_back(block);
      }
      if (order.empty()) continue;
      const std::map<int, int>& place = places[end_of(point)];
      std::stable_sort(order.begin(), order.end(), [&](Offset a, Offset b) {
        return place.at(other_end(a)) < place.at(other_end(b));
      });
      lose_row(point, order, sum);
    }
    for (std::size_t end = 0; end < ends_.size(); ++end) raise_in_order(ends_[end], places[end]);
  }

  /// Says it of every block.
  void set_worth() {
    for (LocalIndex point = 0; point < blocks_.n_points(); ++point) {
      for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
        blocks_.worth(block) = is_far(point, block)
                                   ? static_cast<T>(ends_[end_of(point)].at(other_end(block)))
                                   : always_kept<T>;
      }
    }
  }

  /// What this rank has of its only end, one number for each node, to be joined with others'.
  std::vector<double> norms_by_node() const { return dense(norms_.front()); }
  std::vector<double> losses_by_node() const { return dense(ends_.front()); }
  void take_norms(const std::vector<double>& joined) { take(joined, norms_.front()); }
  void take_losses(const std::vector<double>& joined) { take(joined, ends_.front()); }

 private:
  int rank_of(GlobalIndex point) const {
    const auto& starts = call_.places.starts;
    const GlobalIndex row = starts.front() + point * blocks_.unknowns();
    return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), row) - starts.begin()) -
           1;
  }
  int end_of_rank(int rank) const { return call_.places.by_nodes ? topology_.node(rank) : rank; }
  int n_ends() const {
    if (!call_.places.is_virtual) return 1;
    return call_.places.by_nodes ? topology_.n_nodes() : topology_.n_ranks();
  }
  std::size_t end_of(LocalIndex point) const {
    if (!call_.places.is_virtual) return 0;
    return static_cast<std::size_t>(end_of_rank(ranks_[static_cast<std::size_t>(point)]));
  }
  int other_end(Offset block) const {
    return end_of_rank(ranks_[static_cast<std::size_t>(blocks_.column(block))]);
  }
  /// Whether a block joins rows of different nodes.
  bool is_far(LocalIndex point, Offset block) const {
    return !topology_.same_node(ranks_[static_cast<std::size_t>(point)],
                                ranks_[static_cast<std::size_t>(blocks_.column(block))]);
  }
  template <class F>
  void for_each_far_block(F&& f) const {
    for (LocalIndex point = 0; point < blocks_.n_points(); ++point) {
      for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
        if (is_far(point, block)) f(point, block);
      }
    }
  }

  /// The others by the weight of their messages, the lightest first.
  static std::map<int, int> places_of(const ByOther& norms) {
    std::vector<std::pair<double, int>> order;
    for (const auto& [other, norm] : norms) order.emplace_back(norm, other);
    std::sort(order.begin(), order.end());
    std::map<int, int> places;
    for (std::size_t k = 0; k < order.size(); ++k) places[order[k].second] = static_cast<int>(k);
    return places;
  }

  /// The blocks of a row go in this order; `sum` is that of all its off-diagonal norms.
  void lose_row(LocalIndex point, std::span<const Offset> order, double sum) {
    if (call_.guards_diagonal) guard_.start(point);
    double lost = 0;
    for (const Offset block : order) {
      lost += static_cast<double>(blocks_.worth(block));
      const bool bears = !call_.guards_diagonal || guard_.bears(block);
      double& most = ends_[end_of(point)][other_end(block)];
      most = std::max(most, bears ? lost / sum : always_kept<double>);
    }
  }

  /// A message is worth no less than a lighter one, which has gone before it.
  static void raise_in_order(ByOther& losses, const std::map<int, int>& places) {
    std::vector<int> others(places.size());
    for (const auto& [other, place] : places) others[static_cast<std::size_t>(place)] = other;
    double most = 0;
    for (const int other : others) losses[other] = most = std::max(most, losses[other]);
  }

  std::vector<double> dense(const ByOther& numbers) const {
    std::vector<double> all(static_cast<std::size_t>(topology_.n_nodes()), 0);
    for (const auto& [node, number] : numbers) all[static_cast<std::size_t>(node)] = number;
    return all;
  }
  static void take(const std::vector<double>& joined, ByOther& numbers) {
    for (std::size_t node = 0; node < joined.size(); ++node) {
      if (joined[node] > 0) numbers[static_cast<int>(node)] = joined[node];
    }
  }

  const WorthCall<T>& call_;
  PointBlocks<T>& blocks_;
  const mpi::Topology& topology_;
  DiagonalGuard<T> guard_;
  std::vector<int> ranks_;      // of the points
  std::vector<ByOther> norms_;  // of what their messages are for, by the ends here
  std::vector<ByOther> ends_;   // what is lost with them
};

template <class T>
void weigh_messages(const WorthCall<T>& call, std::optional<Error>& failure) {
  const bool joins_node = call.places.by_nodes && !call.places.is_virtual;
  const mpi::Comm& node = call.A.comm().node();
  std::optional<WorthOfMessages<T>> worth;
  std::vector<double> numbers(static_cast<std::size_t>(call.places.topology->n_nodes()), 0);
  const auto locally = [&](const auto& work) {
    if (!failure) failure = mpi::caught(work);
  };
  locally([&] {
    worth.emplace(call);
    worth->weigh();
    if (joins_node) numbers = worth->norms_by_node();
  });
  if (joins_node) mpi::sum_in_place(node, std::span<double>(numbers));
  locally([&] {
    if (joins_node) worth->take_norms(numbers);
    worth->find_losses();
    if (joins_node) numbers = worth->losses_by_node();
  });
  if (joins_node) mpi::max_in_place(node, std::span<double>(numbers));
  locally([&] {
    if (joins_node) worth->take_losses(numbers);
    worth->set_worth();
  });
}

std::span<const Field<DropMessagesOptions>> drop_messages_fields() {
  static const std::vector<Field<DropMessagesOptions>> fields = {field_by_level(
      "drop_loss", &DropMessagesOptions::drop_loss,
      "What a row of the coarse matrices of levels 1, 2, ... may lose of the sum of its "
      "off-diagonal entries; the last number is for all deeper levels, 0 drops nothing")};
  return fields;
}

double loss_of_messages(const Choice<DropRule>& rule, int level) {
  return number_of_level(rule.options<DropMessagesOptions>().drop_loss, level);
}

void set_losses_of_messages(Choice<DropRule>& rule, const std::vector<double>& by_level) {
  rule.options<DropMessagesOptions>().drop_loss = by_level;
}

}  // namespace

const DropRule& drop_messages() {
  static const DropRule rule = {
      {"messages",
       "all entries that a message between two nodes is for, the lightest messages first, as long "
       "as no row loses more than drop_loss; what stays on a node is kept",
       "", own_options(drop_messages_fields)},
      false,
      false,
      loss_of_messages,
      set_losses_of_messages,
      true,
      std::vector<double>{0.05, 0.1, 0.2},
      weigh_messages<double>,
      weigh_messages<float>};
  return rule;
}

}  // namespace nodewise::amg::sparsify
