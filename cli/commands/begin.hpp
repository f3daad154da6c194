// How the runs of several commands begin.
#pragma once

#include "nodewise/predict/predict.hpp"
#include "nodewise/report/frame.hpp"

#include "cli/commands/command.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Collective. The environment of a run, with what the options of placement say of it. One
/// allgather of host names.
run::Environment describe_machine(const mpi::Comm& comm, const Settings& settings);

/// Collective. Finds the machine of --machine, if it is given, and puts it into the options of
/// multigrid: routes and ranks of levels are chosen by its costs, and a profile is compared with
/// its memory.
void take_machine(const mpi::Comm& comm, Settings& settings);

/// Collective. The frame of a run on `comm` with its command line and its environment, which is
/// printed.
report::RunFrame begin_run(Console& console, const mpi::Comm& comm, const Call& call);

enum class Shape { any, square };

/// Collective. Loads or makes the matrix that levels are made of, and puts the options of --preset
/// into the settings. The frame is told of all this. Throws as load_matrix() and make_knowledge()
/// do, and where the matrix has not that shape.
predict::Problem load_problem(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                              Shape shape, Settings& settings, report::RunFrame& run);

}  // namespace nodewise::cli
