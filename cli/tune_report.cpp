// What `nodewise tune` writes for other programs and for shells.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/json_parts.hpp"
#include "cli/tune_record.hpp"

namespace nodewise::cli {

namespace {

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int schema_version = 1;

/// In single quotes where a shell would make something else of it.
std::string quoted(const std::string& word) {
  const std::string harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=:+@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// Whether a word is an option that `nodewise solve` does not take or need, and whether its value
/// is the next word.
bool is_dropped(const std::string& word, bool& with_next) {
  static const std::array<std::string, 4> with_value = {"--max-seconds", "--max-candidates",
                                                        "--json", "--progress"};
  const std::string name = word.substr(0, word.find('='));
  const bool has_value = std::find(with_value.begin(), with_value.end(), name) != with_value.end();
  with_next = has_value && name == word;
  return has_value || name == "--quiet" || name == "--details" || word == "-q";
}

Json trial_json(const TuneRecord& record, const solver::Trial& trial) {
  Json options = Json::object();
  for (const auto& [name, value] : trial.options) options[with_dashes(name)] = value;
  return {{"options", options},
          {"command", command_to_paste(record, trial.options)},
          {"method", text_or_null(trial.method)},
          {"converged", trial.converged},
          {"reason", text_or_null(trial.reason)},
          {"setup_s", trial.setup},
          {"solve_s", trial.solve},
          {"total_s", trial.total()},
          {"iterations", trial.iterations},
          {"operator_complexity", number(trial.operator_complexity)},
          {"memory_bytes", trial.memory_bytes}};
}

}  // namespace

std::string command_to_paste(const TuneRecord& record, const solver::NamedValues& options) {
  std::string text;
  if (record.machine.ranks > 1) text = fmt::format("mpirun -n {} ", record.machine.ranks);
  text += "nodewise solve";
  const std::vector<std::string>& words = record.command_line;
  for (std::size_t k = 1; k < words.size(); ++k) {  // the first is "tune"
    bool with_next = false;
    if (is_dropped(words[k], with_next)) {
      k += with_next ? 1 : 0;
      continue;
    }
    text += " " + quoted(words[k]);
  }
  text += " --preset default";  // else solve would add what the rule chooses
  const std::string more = option_words(options);
  return more.empty() ? text : text + " " + more;
}

std::string option_words(const solver::NamedValues& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", with_dashes(name), value);
  }
  return text;
}

std::string tune_json(const TuneRecord& record, const Settings& settings) {
  const run::MatrixSummary& matrix = record.matrix;
  Json trials = Json::array();
  for (const solver::Trial& trial : record.trials) trials.push_back(trial_json(record, trial));
  const solver::Trial* best = record.best();
  const Json json = {
      {"schema_version", schema_version},
      {"program", program_json()},
      {"command_line", record.command_line},
      {"machine", machine_json(record.machine)},
      {"options", options_json(settings, Command::tune)},
      {"matrix",
       {{"source", matrix.source},
        {"format", text_or_null(matrix.format)},
        {"graph_laplacian", matrix.graph_laplacian},
        {"rows", matrix.rows},
        {"nonzeros", matrix.nonzeros},
        {"duplicates", matrix.duplicates},
        {"symmetric", matrix.symmetric}}},
      {"candidates", trials},
      {"not_tried", record.not_tried},
      {"seconds", record.seconds},
      {"best", best == nullptr ? Json(nullptr) : Json(command_to_paste(record, best->options))},
      {"exit_code", static_cast<int>(record.exit_code)}};
  return dumped(json);
}

}  // namespace nodewise::cli
