#include "cli/commands/inspect.hpp"

#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/inspect_json.hpp"
#include "cli/inspect_record.hpp"
#include "cli/machine.hpp"
#include "cli/matrix_survey.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/console.hpp"
#include "cli/print/inspect_tables.hpp"
#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"
#include "cli/timed.hpp"
#include "cli/virtual_counts.hpp"

namespace nodewise::cli {

namespace {

using OptionalHierarchy = std::unique_ptr<const amg::Hierarchy<double>>;  // or null

/// As the virtual ranks would make it, if there are any. Where multigrid cannot treat the matrix
/// there is no hierarchy, and the record says why; the matrix can be inspected all the same.
OptionalHierarchy make_hierarchy(const std::shared_ptr<const Matrix>& A, const Settings& settings,
                                 Console& console, InspectRecord& record) {
  if (!console.is_live()) console.line("Setup");
  try {
    amg::ProblemInfo<double> knowledge = make_knowledge(*A, record.matrix.symmetric, settings);
    if (settings.has_virtual_ranks()) {
      knowledge.virtual_starts = comm::uniform_point_starts(
          A->rows().n_global(), settings.virtual_machine.virtual_ranks, settings.amg.unknowns);
    }
    auto hierarchy = std::make_unique<const amg::Hierarchy<double>>(
        A, settings.amg, std::move(knowledge), level_progress(console));
    record.levels.assign(hierarchy->levels().begin(), hierarchy->levels().end());
    for (std::size_t l = 0; l < record.levels.size(); ++l) {
      record.level_surveys.push_back({longest_row(*hierarchy->matrix(l))});
    }
    record.grid_complexity = hierarchy->grid_complexity();
    record.operator_complexity = hierarchy->operator_complexity();
    return hierarchy;
  } catch (const Error& error) {  // the same on every rank
    if (error.code() != ErrorCode::unsuitable_matrix &&
        error.code() != ErrorCode::dimension_mismatch) {
      throw;
    }
    record.no_hierarchy = error.what();
    return nullptr;
  }
}

VirtualRecord count(const Matrix& A, const OptionalHierarchy& hierarchy,
                    const VirtualMachine& machine, const Settings& settings, Console& console) {
  if (!console.is_live()) console.line("Counting");
  const auto observe = [&console](std::size_t level, Operation operation, double seconds) {
    console.progress(fmt::format("  level {:>3}   {:<20}{:>10}", level, to_string(operation),
                                 human_seconds(seconds)));
  };
  VirtualRecord counted = hierarchy ? count_virtually(*hierarchy, machine, observe)
                                    : count_virtually(A, machine, observe);
  counted.levels_are_exact = is_independent_of_ranks(settings.amg) || counted.levels.size() == 1;
  if (!console.is_live()) console.line();
  return counted;
}

}  // namespace

ExitCode inspect_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                         std::span<const std::string> command_line) {
  Settings settings = given;
  const bool is_virtual = settings.has_virtual_ranks();
  std::optional<VirtualMachine> machine;
  if (is_virtual) {
    check_one_process(*world, "counts");
    machine = virtual_machine(settings);
  }
  on_root(*world, [&] {
    if (!settings.result.json.empty()) check_writable(settings.result.json);
  });
  Console console(world->is_root(), settings.console);
  const std::shared_ptr<const mpi::Comm> comm =
      is_virtual ? world : make_comm(*world, settings.placement, settings.communication);
  InspectRecord record;
  record.command_line.assign(command_line.begin(), command_line.end());
  record.machine = describe_machine(*comm, settings);
  if (is_virtual) record.machine.placement_given = false;  // what is given places virtual ranks
  print_machine(console, record.machine);

  LoadedMatrix loaded;
  record.times.read = timed(*comm, [&] { loaded = load_matrix(*world, comm, settings); });
  record.matrix = describe_matrix(loaded, settings);
  record.survey = survey_matrix(*loaded.A);
  print_matrix(console, record);
  record.preset = apply_preset(*loaded.A, record.matrix.symmetric, settings);
  if (is_worth_telling(record.preset)) {
    print_entry(console, "preset", preset_text(record.preset));
    console.line();
  }

  OptionalHierarchy hierarchy;
  record.times.setup =
      timed(*comm, [&] { hierarchy = make_hierarchy(loaded.A, settings, console, record); });
  if (!console.is_live()) console.line();
  if (is_virtual) {
    record.times.count = timed(
        *comm, [&] { record.counted = count(*loaded.A, hierarchy, *machine, settings, console); });
  }
  record.memory = measure_memory(*comm);
  on_root(*comm, [&] {
    const std::string& path = settings.result.json;
    if (!path.empty()) write_text_file(path, inspect_json(record, settings));
  });
  print_levels(console, record);
  if (is_virtual) print_counts(console, record, settings);
  print_cost(console, record, settings);
  return ExitCode::success;
}

}  // namespace nodewise::cli
