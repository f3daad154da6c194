#include "nodewise/comm/route/within_nodes.hpp"

#include <map>
#include <utility>

#include "nodewise/comm/route/splice.hpp"

namespace nodewise::comm::route {

namespace {

/// The messages of several planners, one a rank: for each planner that sends there its number, how
/// many words follow, and these.
Words join(const std::vector<Words>& parts) {
  std::map<int, std::vector<std::int64_t>> to;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < parts[p].size(); ++i) {
      const auto message = parts[p].message(i);
      auto& words = to[parts[p].ranks[i]];
      words.insert(words.end(), {static_cast<std::int64_t>(p), std::ssize(message)});
      words.insert(words.end(), message.begin(), message.end());
    }
  }
  return to_messages(to);
}

std::vector<Words> separate(const Words& joined, std::size_t n_parts) {
  std::vector<Words> parts(n_parts);
  for (std::size_t i = 0; i < joined.size(); ++i) {
    auto message = joined.message(i);
    while (!message.empty()) {
      Words& part = parts[static_cast<std::size_t>(message[0])];
      const auto words = message.subspan(2, static_cast<std::size_t>(message[1]));
      part.ranks.push_back(joined.ranks[i]);
      part.data.insert(part.data.end(), words.begin(), words.end());
      part.offsets.push_back(static_cast<Offset>(part.data.size()));
      message = message.subspan(2 + words.size());
    }
  }
  return parts;
}

class WithinNodes : public Planner {
 public:
  WithinNodes(std::unique_ptr<Planner> outer, std::vector<std::size_t> stages, MakePlanner inner,
              const mpi::Topology& topology, int rank)
      : outer_(std::move(outer)),
        stages_(std::move(stages)),
        make_inner_(std::move(inner)),
        example_(make_inner_(nothing_, topology.domains(), rank)),
        topology_(topology),
        rank_(rank) {}

  int n_rounds() const override { return outer_->n_rounds() + example_->n_rounds(); }

  Words step(int round, const Words& arrived) override {
    if (!is_inner(round)) return outer_->step(round, arrived);
    const bool is_first = round == outer_->n_rounds();
    if (is_first) begin_inner(arrived);
    std::vector<Words> parts =
        is_first ? std::vector<Words>(inner_.size()) : separate(arrived, inner_.size());
    for (std::size_t p = 0; p < inner_.size(); ++p) {
      parts[p] = inner_[p]->step(round - outer_->n_rounds(), parts[p]);
    }
    return join(parts);
  }

  Words step_after_failure(int round, const Words& arrived) override {
    return is_inner(round) ? Words{} : outer_->step_after_failure(round, arrived);
  }

  /// The sources of the inner planners follow from the outer plan, which a rank that has failed
  /// does not have. So nobody waits for it on the node, and the node is not the network.
  std::optional<std::vector<int>> sources(int round) const override {
    return is_inner(round) ? std::nullopt : outer_->sources(round);
  }

  Plan plan(const Words& arrived) override {
    const std::vector<Words> parts = separate(arrived, inner_.size());
    std::vector<Replacement> replacements;
    for (std::size_t p = 0; p < inner_.size(); ++p) {
      replacements.push_back({stages_[p], inner_[p]->plan(parts[p])});
    }
    return splice(plan_, replacements, topology_, rank_);
  }

 private:
  bool is_inner(int round) const { return round >= outer_->n_rounds(); }

  void begin_inner(const Words& arrived) {
    plan_ = outer_->plan(arrived);
    for (const std::size_t s : stages_) {
      patterns_.push_back(on_node_pattern(plan_, s, topology_, rank_));
    }
    for (const Pattern& pattern : patterns_) {
      inner_.push_back(make_inner_(pattern, topology_.domains(), rank_));
    }
  }

  std::unique_ptr<Planner> outer_;
  std::vector<std::size_t> stages_;
  MakePlanner make_inner_;
  Pattern nothing_;
  std::unique_ptr<Planner> example_;  // tells the rounds of inner planners, which are made later
  const mpi::Topology& topology_;
  int rank_;
  Plan plan_;                      // of outer_
  std::vector<Pattern> patterns_;  // of inner_
  std::vector<std::unique_ptr<Planner>> inner_;
};

}  // namespace

std::unique_ptr<Planner> within_nodes(std::unique_ptr<Planner> outer,
                                      std::vector<std::size_t> stages, MakePlanner inner,
                                      const mpi::Topology& topology, int rank) {
  return std::make_unique<WithinNodes>(std::move(outer), std::move(stages), std::move(inner),
                                       topology, rank);
}

}  // namespace nodewise::comm::route
