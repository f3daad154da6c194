#include "nodewise/mpi/topology.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::mpi {

Topology::Topology(std::span<const int> node_of_rank) {
  std::unordered_map<int, int> renumbered;
  node_of_rank_.reserve(node_of_rank.size());
  for (const int node : node_of_rank) {
    if (node < 0) {
      throw Error(ErrorCode::invalid_argument, "topology: node numbers must not be negative");
    }
    const int next = static_cast<int>(renumbered.size());
    node_of_rank_.push_back(renumbered.try_emplace(node, next).first->second);
  }
  const std::size_t n_nodes = renumbered.size();
  first_.assign(n_nodes + 1, 0);
  for (const int node : node_of_rank_) ++first_[static_cast<std::size_t>(node) + 1];
  for (std::size_t k = 0; k < n_nodes; ++k) first_[k + 1] += first_[k];
  std::vector<int> next(first_.begin(), first_.end() - 1);
  ranks_.resize(node_of_rank_.size());
  for (std::size_t r = 0; r < node_of_rank_.size(); ++r) {
    int& position = next[static_cast<std::size_t>(node_of_rank_[r])];
    ranks_[static_cast<std::size_t>(position++)] = static_cast<int>(r);
  }
}

Topology Topology::with_domains(std::span<const int> domain_of_rank) const {
  if (domain_of_rank.size() != node_of_rank_.size()) {
    throw Error(ErrorCode::invalid_argument, "topology: " + std::to_string(domain_of_rank.size()) +
                                                 " domains given for " +
                                                 std::to_string(node_of_rank_.size()) + " ranks");
  }
  std::map<std::pair<int, int>, int> number;  // of a node's domain among all
  std::vector<int> numbers;
  numbers.reserve(node_of_rank_.size());
  for (std::size_t r = 0; r < node_of_rank_.size(); ++r) {
    if (domain_of_rank[r] < 0) {
      throw Error(ErrorCode::invalid_argument, "topology: domain numbers must not be negative");
    }
    const int next = static_cast<int>(number.size());
    const std::pair name(node_of_rank_[r], domain_of_rank[r]);
    numbers.push_back(number.try_emplace(name, next).first->second);
  }
  Topology divided = *this;
  divided.domains_ = std::cmp_greater(number.size(), n_nodes())
                         ? std::make_shared<const Topology>(Topology(numbers))
                         : nullptr;
  return divided;
}

std::span<const int> Topology::ranks_on(int node) const {
  const auto begin = static_cast<std::size_t>(first_[static_cast<std::size_t>(node)]);
  const auto end = static_cast<std::size_t>(first_[static_cast<std::size_t>(node) + 1]);
  return std::span(ranks_).subspan(begin, end - begin);
}

std::size_t Topology::most_ranks_on_a_node() const {
  std::size_t most = 1;
  for (int node = 0; node < n_nodes(); ++node) most = std::max(most, ranks_on(node).size());
  return most;
}

std::size_t Topology::place_on_node(int rank) const {
  const std::span<const int> here = ranks_on(node(rank));
  return static_cast<std::size_t>(std::lower_bound(here.begin(), here.end(), rank) - here.begin());
}

int Topology::corresponding_rank(int rank, int node) const {
  const std::span<const int> there = ranks_on(node);
  return there[place_on_node(rank) % there.size()];
}

}  // namespace nodewise::mpi
