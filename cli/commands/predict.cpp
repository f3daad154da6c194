#include "cli/commands/predict.hpp"

#include "nodewise/predict/predict.hpp"
#include "nodewise/report/predict_json.hpp"
#include "nodewise/run/memory.hpp"
#include "nodewise/run/timed.hpp"

#include "cli/command_records.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/options/reported_options.hpp"
#include "cli/options/solver_options.hpp"
#include "cli/print/console.hpp"
#include "cli/print/predict_summary.hpp"
#include "cli/print/predict_tables.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

ExitCode predict_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& given,
                         std::span<const std::string> command_line) {
  Settings settings = given;
  predict::check_one_process(*world, "predicts");
  const predict::Request request =
      predict::make_request(settings.predict, settings.virtual_machine, settings.placement);
  predict::check_predictable(settings.amg);
  const std::string& path = settings.result.json;
  if (!path.empty()) check_writable(path);
  Console console(world->is_root(), settings.console);
  PredictRecord record;
  record.run.command_line.assign(command_line.begin(), command_line.end());
  LoadedMatrix loaded;
  record.run.read_s = run::timed(*world, [&] { loaded = load_matrix(*world, world, settings); });
  check_shape(*loaded.A);
  record.run.matrix = describe_matrix(loaded, settings);
  const bool symmetric = record.run.matrix.symmetric;
  record.run.preset = apply_preset(*loaded.A, symmetric, settings);
  record.run.options = reported_options(settings);

  record.result =
      predict::predict({loaded.A, make_knowledge(*loaded.A, symmetric, settings), settings.amg},
                       request, predict_progress(console));
  if (console.wants_lines()) console.line();
  record.run.memory = run::measure_memory(*world);
  if (!path.empty()) write_text_file(path, report::predict_json(record.result, record.run));
  print_prediction_summary(console, record, settings);
  if (settings.result.details) {
    console.line();
    print_prediction_tables(console, record.result);
  }
  return ExitCode::success;
}

}  // namespace nodewise::cli
