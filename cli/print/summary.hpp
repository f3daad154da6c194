// What the program says of a solve before, while and after it runs.
#pragma once

#include <string>

#include "cli/command_records.hpp"
#include "cli/options/settings.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

/// "  label            text", the text wrapped beside the label.
void print_entry(Console& console, const std::string& label, const std::string& text);
/// Where the matrix came from, and what was made of it.
std::string matrix_text(const run::MatrixSummary& matrix);
/// The first lines: version, ranks, nodes.
void print_machine(Console& console, const run::Environment& machine);
/// Which rank has which rows, where a partition moves them, and in which order, where they get one.
void print_partition(Console& console, const solver::MethodOptions& method);
/// Whether a partition pays; nothing where that was not asked.
void print_decision(Console& console, const std::optional<partition::PartitionDecision>& decision);
/// What it gained to have its parts on other ranks; nothing where that was not asked for.
void print_placement(Console& console, const partition::Placement& placement,
                     const std::optional<partition::PlacementGain>& gain);
/// Whether virtual ranks that no list places fill one node after the other.
bool deals_in_blocks(const Settings& settings);
/// Matrix, right-hand side and method.
void print_system(Console& console, const SolveRecord& record, const Settings& settings);
/// The table of levels; with details all of them, and why they have their routes.
void print_hierarchy(Console& console, const SolveRecord& record, bool details);
/// Outcome, residual, error, times, memory, files.
void print_outcome(Console& console, const SolveRecord& record, const Settings& settings);

}  // namespace nodewise::cli
