// What a command of the program says of itself. methods.cpp lists them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/mpi/comm.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

struct Settings;

/// What a command is started with.
struct Call {
  const std::shared_ptr<const mpi::Comm>& world;
  const Settings& settings;
  std::span<const std::string> words;  ///< of the command line
};

struct CommandFacts {
  Required<std::string> usage;        ///< its arguments: "A.mtx | --problem NAME"
  std::vector<std::string> examples;  ///< without "nodewise"; "# " and what it does come after it
  Required<Affects> takes;            ///< the options that affect one of these
  /// Local. Checks the arguments that are no options; throws Failure{usage}.
  Required<void (*)(Settings& settings)> take_arguments;
  /// Collective. Throws Failure or Error, the same on every rank.
  Required<ExitCode (*)(const Call& call)> run;
  /// Local. Refuses combinations of options that are its own; throws Failure{usage}. Null: none.
  void (*check)(const Settings& settings) = nullptr;
  /// Local. The words behind the command as the options have them; null: as they are.
  std::vector<std::string> (*rewrite)(std::span<const std::string> words) = nullptr;
  std::string output = "the solution x";  ///< what --output writes
  /// Names of options that mean another thing for it, and what.
  std::vector<NamedValue> meanings = {};
  bool chooses_routes = false;  ///< knows route `automatic`
  bool tries_presets = false;   ///< one after the other, whatever --preset says
  bool writes_matrix = false;   ///< to its last argument, and works on it no further
  bool leaves_words = false;    ///< to another program: they are not looked at
};

/// One of the program's commands. An option that it ignores() it does not take.
struct Command : MethodInfo, CommandFacts {
  bool reads_matrix() const { return overlap(takes, Affects::matrix); }

  /// Their list, which defines the order of the help.
  static Family<Command>& family();
};

}  // namespace nodewise::cli
