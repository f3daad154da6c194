// One line for every setup level and every iteration.
#pragma once

#include <functional>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/calibrate/stopwatch.hpp"
#include "nodewise/predict/predict.hpp"
#include "nodewise/solve/report.hpp"

#include "cli/print/console.hpp"

namespace nodewise::cli {

/// Prints levels as they are made; hand it to amg::Hierarchy.
amg::LevelObserver level_progress(Console& console);

/// Prints what inspections and predictions are at, on a terminal or where lines are asked for:
/// their answer is to stand on the first screen.
predict::Progress predict_progress(Console& console);

/// Prints the parts of a measurement as they begin.
calibrate::PartObserver part_progress(Console& console);

/// Prints how much of a file is read, where that takes long; hand it to io::read_matrix().
std::function<void(double)> reading_progress(Console& console);

/// Prints iterations as they are done; hand it to a Krylov method.
solve::Observer iteration_progress(Console& console);

/// The same, but ends the solve on all ranks where any of them has met a signal.
solve::Observer interruptible(solve::Observer observe);

/// The history in columns, for a terminal where the lines of the iterations replaced each other.
void print_history(Console& console, const solve::Report& report);

}  // namespace nodewise::cli
