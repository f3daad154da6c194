// All that decides how a system is solved, in one struct: preset, Krylov method, preconditioner.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/partition/arrangement.hpp"
#include "nodewise/solve/method.hpp"
#include "nodewise/solve/report.hpp"
#include "nodewise/solver/preconditioner.hpp"
#include "nodewise/solver/presets.hpp"
#include "nodewise/solver/row_permutation.hpp"
#include "nodewise/solver/scaling.hpp"

namespace nodewise::solver {

struct MethodOptions {
  Choice<Preset> preset = "auto";
  Choice<solve::KrylovMethod> solver = "auto";
  partition::Partition partition = "none";  ///< which rank has which rows
  partition::Placement placement = "none";  ///< which rank has which of the partition's parts
  /// What ranks get equal shares of.
  partition::Balance balance = partition::Balance::automatic;
  partition::Reordering reorder = "none";  ///< in which order rows are numbered
  /// What is preconditioned is the matrix with its rows in this order, and scaled so.
  Choice<RowPermutationMethod> permute_rows = "auto";
  Choice<ScalingMethod> scale = "none";
  Choice<PreconditionerMethod> preconditioner = "amg";
  offload::Device device = "none";  ///< where it is solved
};

std::span<const Field<MethodOptions>> method_fields();

/// Names of options and their values as text.
using NamedValues = std::vector<NamedValue>;

/// A preset leaves alone what is set by name, and what differs from the defaults.
struct Options {
  MethodOptions method;
  solve::Options krylov;
  amg::Options amg;
  /// The nodes of the communicator are a placement to study: there is no network between them that
  /// routes could be chosen by.
  bool placement_is_given = false;
  NamedValues given;  ///< what was set by name
  /// Presets may replace what differs from the defaults, unless it was set by name.
  bool only_named_are_given = false;

  /// Local. Sets an option by its name, as on the command line but with underscores, such as
  /// "strength_threshold"; one of a method that is not chosen is set when that is, by name or by
  /// the preset. Throws invalid_argument, naming the range, where the value is outside, and
  /// unknown_option, with the nearest name, where there is none of that name.
  void set(std::string_view name, std::string_view value);
  /// Local. The value of an option as text. Throws as set() does.
  std::string get(std::string_view name) const;
  /// Whether it was set by name.
  bool has(std::string_view name) const;
  /// Local. What was set by name, and what differs from the defaults.
  NamedValues given_or_changed() const;
};

/// One table for all of them: `preset`, `solver`, `preconditioner`, and those of the Krylov methods
/// and of multigrid.
std::span<const Field<Options>> option_fields();

}  // namespace nodewise::solver
