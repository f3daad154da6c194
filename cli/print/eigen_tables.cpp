#include "cli/print/eigen_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/options/catalog.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using eigen::Eigenpair;
using report::EigenRecord;

/// Of the table of pairs, without --details.
constexpr std::size_t most_pairs_shown = 24;

std::string small_number(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.1e}", value);
}

/// The smaller bound, which both are.
double best_bound(const Eigenpair& pair) {
  return pair.quadratic_bound ? *pair.quadratic_bound : pair.bound;
}

std::string effort_text(const EigenRecord& record) {
  std::string text =
      fmt::format("{} of {}", counted(record.found.iterations, *record.method->iteration),
                  *record.method->title);
  if (record.preconditioner == "amg") text += " with a multigrid cycle as the preconditioner";
  if (record.preconditioner == "jacobi") text += " with the diagonal as the preconditioner";
  return text;
}

std::string answer_text(const EigenRecord& record) {
  const eigen::Report& found = record.found;
  const std::string end = eigen::to_string(record.which);
  if (!found.converged()) {
    return fmt::format("NOT CONVERGED: {} of {}, after {}", found.n_converged(),
                       counted(std::max<std::int64_t>(std::int64_t(found.pairs.size()), 1), "pair"),
                       effort_text(record));
  }
  const Eigenpair& first = found.pairs.front();
  if (found.pairs.size() == 1) {
    return fmt::format("the {} eigenvalue is {:.12g}, found in {}", end, first.value,
                       effort_text(record));
  }
  return fmt::format("the {} {} eigenvalues, from {:.12g} to {:.12g}, were found in {}",
                     found.pairs.size(), end, first.value, found.pairs.back().value,
                     effort_text(record));
}

void print_pairs(Console& console, const EigenRecord& record, bool all) {
  Table table({"number", "eigenvalue", "|A x - lambda B x|\nof |x| = 1", "relative\nresidual",
               "an eigenvalue\nis within", "if the gaps\nare as found",
               fmt::format("converged\nin {}", *record.method->iteration)});
  for (std::size_t c = 0; c < record.found.pairs.size(); ++c) {
    const Eigenpair& pair = record.found.pairs[c];
    table.add_row({std::to_string(c + 1), fmt::format("{:.12e}", pair.value),
                   small_number(pair.residual), small_number(pair.relative_residual),
                   small_number(pair.bound),
                   pair.quadratic_bound ? small_number(best_bound(pair)) : "-",
                   pair.converged ? std::to_string(pair.converged_at) : "not"});
  }
  if (!all) table.shorten(most_pairs_shown);
  table.print(console);
  console.line();
}

/// What is to be said of values whose first digits are in doubt; empty where there is none. Next to
/// nothing is a value of a singular matrix.
std::string doubt_text(const EigenRecord& record) {
  constexpr double digits = 1e-2, nothing = 1e-12;
  std::int64_t doubtful = 0;
  for (const Eigenpair& pair : record.found.pairs) {
    const double size = std::abs(pair.value);
    const bool is_nothing = record.mass.rows == 0 && size <= nothing * record.found.norm;
    doubtful += pair.converged && !is_nothing && best_bound(pair) > digits * size ? 1 : 0;
  }
  if (doubtful == 0) return "";
  return fmt::format(
      "the bounds of {} are above a hundredth of the value, which is small beside "
      "the norm of the matrix: a smaller --tolerance makes more digits certain",
      counted(doubtful, "pair"));
}

std::string work_text(const EigenRecord& record) {
  const eigen::Work& work = record.found.work;
  std::string text = fmt::format("{} in {}", counted(work.products, "product"),
                                 counted(work.product_calls, "exchange"));
  if (work.mass_products > 0)
    text += ", " + counted(work.mass_products, "product") + " with the mass matrix";
  if (work.preconditioners > 0)
    text += ", " + counted(work.preconditioners, "preconditioner application");
  return text + ", " + counted(work.reductions, "reduction");
}

std::string messages_text(const EigenRecord& record) {
  const mpi::Counts sum = mpi::total(record.accounts).sum;
  return fmt::format(
      "{} on nodes ({}), {} between nodes ({})", counted(sum.messages_on_node, "message"),
      human_bytes(static_cast<double>(sum.bytes_on_node)), grouped(sum.messages_off_node),
      human_bytes(static_cast<double>(sum.bytes_off_node)));
}

std::string eigensolver_text(const EigenRecord& record) {
  std::string text = *record.method->name;
  if (record.method_was_chosen) text += ", chosen by the matrix";
  if (!record.levels.empty()) {
    text += fmt::format("; multigrid of {}, operator complexity {:.2f}",
                        counted(std::int64_t(record.levels.size()), "level"),
                        record.operator_complexity);
  }
  return text;
}

std::string matrix_size_text(const run::MatrixSummary& matrix) {
  return fmt::format("{}; {}, {}", matrix_text(matrix), counted(matrix.rows, "row"),
                     counted(matrix.nonzeros, "nonzero"));
}

std::string unused_names(std::span<const solver::UnusedOption> options) {
  std::string text;
  for (const solver::UnusedOption& option : options) {
    text += fmt::format("{}--{} (needs {})", text.empty() ? "" : ", ", with_dashes(option.name),
                        option.needs);
  }
  return text;
}

}  // namespace

void print_eigenproblem(Console& console, const EigenRecord& record) {
  console.line("Problem");
  print_entry(console, "matrix", matrix_size_text(record.run.matrix));
  if (record.mass.rows > 0) print_entry(console, "mass matrix", matrix_size_text(record.mass));
  const bool has_preset = record.preconditioner == "amg" && is_worth_telling(record.run.preset);
  if (has_preset) print_entry(console, "preset", preset_text(record.run.preset));
  print_entry(console, "eigensolver", eigensolver_text(record));
  if (!record.unused.empty()) print_entry(console, "without effect", unused_names(record.unused));
  console.line();
}

void print_eigenpairs(Console& console, const EigenRecord& record, const Settings& settings) {
  const eigen::Report& found = record.found;
  console.line("Result");
  print_entry(console, "outcome", answer_text(record));
  if (!found.converged()) {
    print_entry(console, "diagnosis",
                fmt::format("{}: {}", solve::to_string(found.outcome),
                            in_words_of_command_line(found.diagnosis)));
  }
  console.line();
  if (!found.pairs.empty()) print_pairs(console, record, settings.result.details);
  print_entry(console, "tolerance",
              fmt::format("{:.1e} of the relative residual, by {:.3g} as the norm of the matrix",
                          record.tolerance, found.norm));
  const std::string doubt = doubt_text(record);
  if (!doubt.empty()) print_entry(console, "accuracy", doubt);
  print_entry(console, "work", work_text(record));
  if (record.run.machine.ranks > 1) print_entry(console, "communication", messages_text(record));
  print_entry(console, "time",
              fmt::format("read {}, setup {}, search {}", human_seconds(record.times.read),
                          human_seconds(record.times.setup), human_seconds(record.times.solve)));
  const auto bytes = [](std::int64_t count) { return human_bytes(static_cast<double>(count)); };
  print_entry(
      console, "peak memory",
      fmt::format("{} on the largest rank, {} on all", bytes(record.run.memory.peak_max_bytes),
                  bytes(record.run.memory.peak_sum_bytes)));
  if (!record.vectors_file.empty()) print_entry(console, "eigenvectors", record.vectors_file);
  if (record.vectors_file.empty() && !settings.result.output.empty()) {
    print_entry(console, "eigenvectors",
                "not written; --output-anyway writes the best approximations");
  }
  if (!settings.result.json.empty()) print_entry(console, "report", settings.result.json);
}

}  // namespace nodewise::cli
