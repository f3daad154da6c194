// What virtual ranks send to copies of a level, in a cycle and in the setup.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/comm/pattern.hpp"

namespace nodewise::amg {

/// Local. Whether one rank of each node has a copy of the level after this one, which has none.
bool is_copied_below(const Hierarchy<double>& hierarchy, std::size_t level);

/// The way from a level to copies of the next one (amg/redistribute/level_copies.hpp), laid out
/// over virtual ranks. All functions are local. The hierarchy must outlive it.
class VirtualCopies {
 public:
  /// Needs is_copied_below().
  VirtualCopies(const Hierarchy<double>& hierarchy, std::size_t level,
                const mpi::Topology& topology);

  /// How sums go to all copies: over the first's plans reversed where there is no restriction of
  /// its own, else over the second's.
  std::vector<comm::Plan> to_copies(const comm::Route& route) const;
  std::vector<comm::Plan> restriction(const comm::Route& route) const;
  /// How every rank fetches from the copy of its node.
  std::vector<comm::Plan> from_copy() const;

  /// The setup's: the matrix and the restriction, row by row, vectors of so many bytes a row, and
  /// what the matrices of the way ask for.
  model::MessageStages rows(std::span<const std::size_t> bytes_of_vectors) const;
  void add_requests(model::MessageStages& stages) const;

 private:
  std::vector<comm::Pattern> patterns_to_copies() const;
  std::vector<comm::Pattern> patterns_of_restriction() const;
  std::vector<comm::Pattern> patterns_from_copy() const;
  /// From the rank that has the level to the others, of these columns.
  std::vector<comm::Pattern> patterns_of_columns(std::span<const GlobalIndex> columns) const;

  const Hierarchy<double>& hierarchy_;
  std::size_t level_;
  const mpi::Topology& topology_;
  std::vector<GlobalIndex> coarse_;  // where the level's rows begin, and its copies'
  std::vector<GlobalIndex> copied_;
  std::vector<int> holders_;            // of each rank
  std::vector<int> copies_;             // ranks that have some
  GlobalIndex n_ = 0;                   // rows of the level
  comm::Records<GlobalIndex> columns_;  // of P, by rank
};

}  // namespace nodewise::amg
