// The options of the PC: those of the library, and its own.
#pragma once

#include <petscpc.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/base/option_set.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/solver/options.hpp"

namespace nodewise::petsc {

/// What stands between the PC's prefix and the name of an option: PETSc's own way, which keeps an
/// option of one PC type from meaning something to another.
inline constexpr const char* option_prefix = "pc_nodewise_";
/// The same in short, where `option_prefix` is not given.
inline constexpr const char* short_option_prefix = "nodewise_";

/// What is kept of a preconditioner where a matrix gets new values in its old places.
enum class Keeps { interpolation, splitting, nothing };

/// What the PC is told.
struct Settings {
  solver::Options solver;
  mpi::CommSettings comm;
  Keeps reuse = Keeps::interpolation;
};

/// All options, in the order of help: those of the library that are not for PETSc's own iterations
/// to know, those of its communicator, and the PC's own.
std::span<const KnownField> all_options();

/// Whether one of them has that name.
bool is_option(std::string_view name);

/// What an option of the library that is not among them is in PETSc, "ksp_rtol"; empty where it is
/// among them, or none of the library at all.
std::string option_of_petsc(std::string_view name);

/// What PETSc's database has for a PC.
struct GivenOptions {
  /// A name with one of the PC's prefixes that is no option.
  struct Stranger {
    std::string typed, name;  ///< with the prefix, and without
  };

  solver::NamedValues values;  ///< in the order of all_options()
  std::vector<Stranger> strangers;
};

/// Local. What they come to. Throws invalid_argument, naming the range, where a value is outside,
/// or an option is for PETSc to know; unknown_option, with the nearest name, for another stranger.
Settings settings_of(const GivenOptions& given);

/// Looks all options up, which prints them where PETSc was asked for help.
PetscErrorCode look_up(PetscOptionItems* PetscOptionsObject, GivenOptions& given);

}  // namespace nodewise::petsc
