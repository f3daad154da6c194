// What an entry of a coarse matrix is worth. methods.cpp lists the rules.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/sparsify/diagonal_guard.hpp"
#include "nodewise/amg/sparsify/minimal_pattern.hpp"
#include "nodewise/base/coarse_level_list.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg::sparsify {

struct DropRule;

/// Which ranks have the rows of a matrix, virtual ones in one process or real ones.
struct RowPlaces {
  std::span<const GlobalIndex> starts;  ///< where the rows of each rank begin, and the last end
  const mpi::Topology* topology = nullptr;
  bool is_virtual = false;
  /// Whether messages go from node to node, as on node-aware routes, and not from rank to rank.
  bool by_nodes = false;
};

template <class T>
struct WorthCall {
  const matrix::DistMatrix<T>& A;
  PointBlocks<T>& blocks;            ///< with their norms, which become what they are worth
  const MinimalPattern<T>& minimal;  ///< where the rule needs it
  T tolerance;  ///< what is worth as much or more need not be told apart from what always stays
  bool guards_diagonal = false;  ///< whether dropped entries are added to the diagonal
  KeptVector<T> kept_vector = {};
  const RowPlaces& places;
  const Choice<DropRule>& rule;
};

template <class T>
using OwnWorth = void (*)(const WorthCall<T>& call, std::optional<Error>& failure);

struct DropRule : MethodInfo {
  /// Whether it keeps the minimal pattern.
  Required<bool> keeps_minimal_pattern;
  /// Whether anything may be dropped where all ranks are on one node.
  Required<bool> drops_on_one_node;
  /// Local. The tolerance of a level, below which the worth of an entry is too little; 0: none is.
  Required<double (*)(const Choice<DropRule>& rule, int level)> tolerance;
  /// Local. Sets the tolerances of levels 1, 2, ...; the last is for all below.
  Required<void (*)(Choice<DropRule>& rule, const std::vector<double>& by_level)> set_tolerances;
  /// Whether messages from node to node are dropped otherwise than those from rank to rank.
  Required<bool> depends_on_route;
  /// The tolerances that are tried where costs decide, ascending.
  Required<std::vector<double>> ladder;
  /// Collective. Sets what this rank's rows say that their blocks are worth; always_kept those that
  /// no tolerance drops. A failure of this rank alone is left in `failure`.
  Required<OwnWorth<double>> in_double;
  Required<OwnWorth<float>> in_float;

  template <class T>
  OwnWorth<T> function() const;

  static Family<DropRule>& family();
};

template <>
inline OwnWorth<double> DropRule::function<double>() const {
  return in_double;
}
template <>
inline OwnWorth<float> DropRule::function<float>() const {
  return in_float;
}

/// The options of rule `entries`.
struct DropEntriesOptions {
  std::vector<double> drop_tolerance = {0, 0.01, 0.1};  ///< of levels 1, 2, ...; the last below
};
/// The options of rule `messages`.
struct DropMessagesOptions {
  std::vector<double> drop_loss = {0.2};  ///< of levels 1, 2, ...; the last below
};

/// A field of numbers from 0 to 1 for levels 1, 2, ...
template <class O>
Field<O> field_by_level(const std::string& name, std::vector<double> O::*member,
                        const std::string& meaning) {
  return coarse_level_field(
      name, member, meaning, "in [0, 1]",
      [](const std::string& option, std::string_view word) {
        return detail::parse_number(option, word, 0, 1);
      },
      detail::print_number);
}

/// Local. The number for a level, 0 being the finest, which loses nothing.
inline double number_of_level(const std::vector<double>& list, int level) {
  return level == 0 ? 0 : of_coarse_level(list, level);
}

}  // namespace nodewise::amg::sparsify
