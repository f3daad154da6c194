#include "cli/options/settings.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/base/text_field.hpp"

namespace nodewise::cli {

std::optional<std::string> Settings::given_text(std::string_view name) const {
  for (const auto& [known, value] : given_of_methods) {
    if (known == name) return value;
  }
  return std::nullopt;
}

bool Settings::knows_near_null_space() const {
  const bool may_aggregate = !has("method") || amg.method->takes_near_null_space;
  const bool of_problem = is_model_problem() && gallery.problem->has_rigid_body_modes();
  return gives_near_null_space() || (of_problem && may_aggregate);
}

bool Settings::may_be_elasticity() const {
  return command->tries_presets || method.preset.is_automatic() || method.preset == "elasticity";
}

bool Settings::asks_for_routes() const {
  const auto asks = [](const ByLevel<comm::Route>& routes) {
    return std::any_of(routes.begin(), routes.end(),
                       [](const comm::Route& route) { return route.is_automatic(); });
  };
  return asks(amg.route) || asks(amg.setup_route);
}

bool Settings::asks_for_costs() const {
  return asks_for_routes() || amg.redistribution->decide != nullptr ||
         amg.sparsification->asks_costs || method.placement->moves_parts ||
         method.partition.is_automatic() || chooses_ways_of_devices();
}

bool Settings::chooses_ways_of_devices() const {
  return method.device.has_options<offload::DeviceOptions>() &&
         method.device.options<offload::DeviceOptions>().transport.is_automatic();
}

std::span<const Field<SourceOptions>> source_fields() {
  static const std::vector<Field<SourceOptions>> fields = {
      field(
          "graph_laplacian", &SourceOptions::graph_laplacian,
          "take the file as the adjacency matrix W of a graph; use diag(W 1) - W without the last "
          "row and column")
          .common(),
      field("ignore_memory_check", &SourceOptions::ignore_memory_check,
            "start even where the estimated need exceeds the memory available"),
  };
  return fields;
}

std::span<const Field<RhsOptions>> rhs_fields() {
  static const std::vector<Field<RhsOptions>> fields = {
      text_field("rhs", &RhsOptions::rhs, "file",
                 "the right-hand side b, or several, one a column; without it b = A 1, so that "
                 "the error is known")
          .common(),
      field("random_rhs", &RhsOptions::random_rhs,
            "take standard normal numbers as the right-hand side")
          .common(),
      field("problem_rhs", &RhsOptions::problem_rhs,
            "take the right-hand side that belongs to the model problem"),
      field("rhs_seed", &RhsOptions::rhs_seed, "seed of --random-rhs", 0),
      field("rhs_count", &RhsOptions::rhs_count,
            "so many right-hand sides by --random-rhs, of the seeds from --rhs-seed on", 1, 1000)
          .affecting(Affects::solution),
      field(
          "remove_constants", &RhsOptions::remove_constants,
          "subtract its mean from the right-hand side, so that a singular system whose null space "
          "are the constants (A 1 = 0, A symmetric) has a solution")
          .common(),
      text_field("initial_guess", &RhsOptions::initial_guess, "file",
                 "the x to start from, or several, one a column; without it zero")
          .affecting(Affects::solution)
          .common(),
  };
  return fields;
}

std::span<const Field<OptionsFile>> options_file_fields() {
  static const std::vector<Field<OptionsFile>> fields = {
      text_field("options", &OptionsFile::options, "file",
                 "take what says how to solve from a report (--json), or from a JSON object of "
                 "names and values; options that are given win over it, and no preset is added")};
  return fields;
}

std::span<const Field<MassOptions>> mass_fields() {
  static const std::vector<Field<MassOptions>> fields = {
      text_field("mass", &MassOptions::mass, "file",
                 "the symmetric positive definite matrix B of A x = lambda B x; without it the "
                 "identity")
          .common()};
  return fields;
}

std::span<const Field<KnowledgeOptions>> knowledge_fields() {
  static const std::vector<Field<KnowledgeOptions>> fields = {
      text_field("near_null_space", &KnowledgeOptions::near_null_space, "file",
                 "vectors that the matrix nearly maps to zero, one a column, which an aggregation "
                 "is to represent; without them, the constant of every unknown")
          .common(),
      text_field(
          "left_near_null_space", &KnowledgeOptions::left_near_null_space, "file",
          "as many vectors that the transposed matrix nearly maps to zero, for --restriction "
          "smoothed; without them, those of the matrix"),
      text_field("coordinates", &KnowledgeOptions::coordinates, "file",
                 "the coordinates of the points, one a row: the near null space is then that of "
                 "linear elasticity, the rigid body modes, with as many unknowns as coordinates")
          .common(),
      text_field("row_fields", &KnowledgeOptions::row_fields, "file",
                 "the field of each row, a whole number from 0, for --preconditioner fields, which "
                 "eliminates field 0 first"),
  };
  return fields;
}

std::span<const Field<ResultOptions>> result_fields() {
  static const std::vector<Field<ResultOptions>> fields = {
      text_field("output", &ResultOptions::output, "file",
                 "write the solution x; calibrate: the machine file")
          .affecting(Affects::solution | Affects::machine_parameters | Affects::eigenpairs)
          .common('o'),
      field("output_anyway", &ResultOptions::output_anyway,
            "write the best iterate even where the solver did not converge")
          .affecting(Affects::solution | Affects::eigenpairs)
          .common(),
      text_field("json", &ResultOptions::json, "file",
                 "write the report as JSON; - is the standard output, which nothing else goes to "
                 "then")
          .common('j'),
      text_field("report", &ResultOptions::report, "file",
                 "write a page to look at (.html), which the Python package makes of the report "
                 "(docs/report-pages.md)")
          .affecting(Affects::solution),
      field("profile", &ResultOptions::profile,
            "print the messages and the time of every operation on every level")
          .affecting(Affects::solution)
          .common(),
      field("details", &ResultOptions::details,
            "print the tables behind the summary; --json has them always")
          .affecting(Affects::details)
          .common(),
  };
  return fields;
}

std::span<const Field<ConversionOptions>> conversion_fields() {
  static const std::vector<Field<ConversionOptions>> fields = {
      text_field("write_partition", &ConversionOptions::write_partition, "file",
                 "write which row is on which rank, as --partition finds it for the ranks or the "
                 "virtual ranks: a number a line, for --partition-file")
          .common(),
      text_field("write_order", &ConversionOptions::write_order, "file",
                 "write which row of the matrix each row written was, from 0 on: a number a line")
          .common(),
  };
  return fields;
}

std::span<const Field<ConsoleOptions>> console_fields() {
  static const std::vector<Field<ConsoleOptions>> fields = {
      field("quiet", &ConsoleOptions::quiet, "print nothing but errors").common('q'),
      field("progress", &ConsoleOptions::progress,
            "one line that changes, or a line for every level and iteration; auto takes live on a "
            "terminal and lines elsewhere",
            {"auto", "live", "lines"}),
  };
  return fields;
}

std::span<const Field<PageOptions>> page_fields() {
  static const std::vector<Field<PageOptions>> fields = {
      field("markdown", &PageOptions::markdown, "print the reference page docs/options.md")
          .common(),
      field("exit_codes", &PageOptions::exit_codes, "print the reference page docs/exit-codes.md")
          .common(),
      field("presets", &PageOptions::presets, "print the table of presets").common(),
      field("man", &PageOptions::man, "print the manual page, for man").common(),
      field("completion", &PageOptions::completion, "print what completes command lines in a shell",
            {"none", "bash", "zsh"})
          .common(),
  };
  return fields;
}

}  // namespace nodewise::cli
