#include "cli/options/catalog.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/option_text.hpp"

#include "cli/print/row_numbers.hpp"

namespace nodewise::cli {

namespace {

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// The words of choices are written with underscores; with dashes they are understood, too.
std::string with_underscores(std::string_view text) {
  std::string word(text);
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

std::string typed_option(std::string_view name, std::string_view value) {
  return fmt::format("--{}{}{}", with_dashes(std::string(name)), value.empty() ? "" : " ", value);
}

std::string meaning_of(const FieldInfo& field) {
  return capitalised(rewrite_options(field.meaning, typed_option));
}

/// ". hmis: ...; pmis: ...", of the words that say what they mean.
std::string words_of(const FieldInfo& field) {
  std::string text;
  const char* before = ". ";
  for (const Word& word : field.words()) {
    if (word.summary.empty()) continue;
    text += fmt::format("{}{}: {}", before, word.name, word.summary);
    before = "; ";
  }
  return text;
}

bool is_taken(std::span<const Option> options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == name; });
}

/// Rewrites the library's "option max_iterations: ..." into what the user typed.
std::string naming_option(std::string_view message, const std::string& field,
                          const std::string& option) {
  const std::string start = "option " + field + ":";
  if (!message.starts_with(start)) return std::string(message);
  return "--" + option + ":" + std::string(message.substr(start.size()));
}

/// Whether the text is a whole number that is too large for an int.
bool exceeds_int(std::string_view text) {
  int ignored = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return status == std::errc::result_out_of_range && end == text.data() + text.size() &&
         !text.starts_with('-');
}

/// Why `text` was refused by a field. Ranges of whole numbers leave out the end that all of them
/// have.
std::string refusal(const FieldInfo& f, const std::string& option, std::string_view text,
                    std::string_view message) {
  if (f.type == "integer" && f.limits.starts_with(">=") && exceeds_int(text)) {
    return fmt::format("--{}: '{}' is more than {}, the largest number that is taken", option, text,
                       std::numeric_limits<int>::max());
  }
  return naming_option(message, f.name, option);
}

/// Adds a table of fields. Where a field's name is taken by an earlier table, `prefix` goes before
/// it.
template <class S>
void append(std::vector<Option>& options, std::string_view group, std::string_view prefix,
            const std::vector<Command>& of_commands, std::span<const Field<S>> fields,
            S Settings::*member) {
  Settings defaults;
  for (const KnownField& f : known_fields(view(defaults.*member, fields))) {
    Option option;
    option.name = with_dashes(f.info.name);
    if (is_taken(options, option.name)) option.name = std::string(prefix) + "-" + option.name;
    option.group = group;
    option.type = f.info.type;
    option.meaning = meaning_of(f.info);
    option.words = words_of(f.info);
    option.range = f.info.range();
    option.needs = f.owners_text("--");
    option.commands = of_commands;
    option.standard = f.standard;
    option.get = [fields, member, name = f.info.name](const Settings& s) {
      S copy = s.*member;
      const OptionView<S> tree(fields, copy);
      return has_option(tree, name) ? std::optional(get_option(tree, name)) : s.given_text(name);
    };
    option.set = [fields, member, f, name = option.name](Settings& s, std::string_view text) {
      const std::string value =
          f.info.type.starts_with("choice") ? with_underscores(text) : std::string(text);
      OptionView<S> tree(fields, s.*member);
      try {
        f.check(value);
      } catch (const Error& error) {
        throw Error(error.code(), refusal(f.info, name, text, error.what()));
      }
      if (has_option(tree, f.info.name)) set_option(tree, f.info.name, value);
      if (!f.owners.empty()) s.given_of_methods.emplace_back(f.info.name, value);
    };
    options.push_back(std::move(option));
  }
}

/// Adds the options of multigrid, with those of every method that may be chosen. They are checked
/// when they are given, and set when all choices are known.
void append_multigrid(std::vector<Option>& options, const std::vector<Command>& of_commands) {
  amg::Options defaults;
  for (const KnownField& f : known_fields(view(defaults, amg::option_fields()))) {
    Option option;
    option.name = with_dashes(f.info.name);
    option.group = "Multigrid";
    option.type = f.info.type;
    option.meaning = meaning_of(f.info);
    option.words = words_of(f.info);
    option.range = f.info.range();
    option.needs = f.owners_text("--");
    option.commands = of_commands;
    option.standard = f.standard;
    option.get = [name = f.info.name](const Settings& s) -> std::optional<std::string> {
      return s.amg.has(name) ? std::optional(s.amg.get(name)) : std::nullopt;
    };
    option.set = [f, name = option.name](Settings& s, std::string_view text) {
      const std::string value =
          f.info.type.starts_with("choice") ? with_underscores(text) : std::string(text);
      try {
        f.check(value);
      } catch (const Error& error) {
        throw Error(error.code(), refusal(f.info, name, text, error.what()));
      }
      s.given_amg.emplace_back(f.info.name, value);
    };
    options.push_back(std::move(option));
  }
}

bool is_one_of(const Option& option, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), option.name) != names.end();
}

/// Options of multigrid that only its cycle, or the way its data travels, depends on.
bool leaves_levels_alone(const Option& option) {
  return is_one_of(
      option, {"smoother", "sweep-order", "pre-sweeps", "post-sweeps", "jacobi-weight", "route",
               "route-from-level", "setup-route", "transport", "setup-transport", "expected-solves",
               "precision", "sor-weight", "chebyshev-degree", "chebyshev-fraction", "fine-sweeps",
               "coarse-sweeps", "cycle"});
}

/// Those of them that decide how often a cycle exchanges, and how much.
bool decides_exchanges(const Option& option) {
  return is_one_of(option,
                   {"smoother", "sweep-order", "pre-sweeps", "post-sweeps", "chebyshev-degree",
                    "fine-sweeps", "coarse-sweeps", "cycle", "precision"});
}

/// Other options that have no effect on a prediction.
bool is_of_the_real_run(const Option& option) {
  return is_one_of(option, {"domains", "threads"});
}

/// What `nodewise tune` takes: all that says what is solved, and how.
bool is_tuned_with(const Option& option) {
  static const std::vector<std::string> names = {"preset",    "output", "output-anyway", "profile",
                                                 "rhs-count", "scale",  "initial-guess"};
  return option.belongs_to(Command::solve) &&
         std::find(names.begin(), names.end(), option.name) == names.end();
}

/// What `nodewise bench` takes: which matrix, which levels, which ranks, which smoother.
bool is_benched_with(const Option& option) {
  if (is_one_of(option,
                {"json", "preset", "options", "quiet", "progress", "seconds", "smoother", "route",
                 "route-from-level", "transport", "expected-solves", "jacobi-weight", "sor-weight",
                 "chebyshev-degree", "chebyshev-fraction", "fine-sweeps", "coarse-sweeps"})) {
    return true;
  }
  return option.name != "details" && option.belongs_to(Command::inspect) &&
         option.belongs_to(Command::solve);
}

/// The letters of what is typed most.
char letter_of(const std::string& name) {
  static const std::map<std::string, char> letters = {
      {"problem", 'p'}, {"n", 'n'},    {"solver", 's'},  {"tolerance", 't'},
      {"output", 'o'},  {"json", 'j'}, {"machine", 'm'}, {"quiet", 'q'}};
  const auto found = letters.find(name);
  return found == letters.end() ? '\0' : found->second;
}

/// What a newcomer may want; all other options are for those who know what they look for.
bool is_common(const std::string& name) {
  static const std::set<std::string> names = {"graph-laplacian",
                                              "rhs",
                                              "initial-guess",
                                              "random-rhs",
                                              "remove-constants",
                                              "preset",
                                              "solver",
                                              "preconditioner",
                                              "tolerance",
                                              "max-iterations",
                                              "method",
                                              "unknowns",
                                              "coordinates",
                                              "near-null-space",
                                              "smoother",
                                              "cycle",
                                              "strength-threshold",
                                              "problem",
                                              "n",
                                              "ranks-per-node",
                                              "threads",
                                              "virtual-ranks",
                                              "routes",
                                              "route",
                                              "machine",
                                              "rank-counts",
                                              "output",
                                              "json",
                                              "profile",
                                              "quiet",
                                              "output-anyway",
                                              "details",
                                              "max-seconds",
                                              "max-candidates"};
  return names.contains(name);
}

std::vector<Option> make_catalog() {
  const std::vector<Command> any = {Command::solve, Command::inspect, Command::predict,
                                    Command::convert};
  const std::vector<Command> solve = {Command::solve};
  const std::vector<Command> with_levels = {Command::solve, Command::inspect, Command::predict};
  const std::vector<Command> with_virtual_ranks = {Command::inspect, Command::predict};
  std::vector<Option> all;
  append(all, "Input", "input", any, source_fields(), &Settings::source);
  append(all, "Input", "input", solve, rhs_fields(), &Settings::rhs);
  append(all, "Solver", "solver", with_levels, options_file_fields(), &Settings::options_file);
  append(all, "Solver", "solver", solve, solver::method_fields(), &Settings::method);
  append(all, "Solver", "solver", solve, solve::option_fields(), &Settings::solver);
  append_multigrid(all, with_levels);
  append(all, "Multigrid", "amg", with_levels, knowledge_fields(), &Settings::knowledge);
  append(all, "Model problems", "problem", any, io::gallery_fields(), &Settings::gallery);
  std::vector<Command> placed = with_levels;
  placed.push_back(Command::calibrate);
  append(all, "Placement", "placement", placed, run::placement_fields(), &Settings::placement);
  append(all, "Placement", "placement", with_virtual_ranks, predict::virtual_fields(),
         &Settings::virtual_machine);
  append(all, "Prediction", "prediction", {Command::predict}, predict::predict_fields(),
         &Settings::predict);
  append(all, "Communication", "communication", solve, mpi::setting_fields(),
         &Settings::communication);
  append(all, "Output", "output", solve, result_fields(), &Settings::result);
  append(all, "Output", "output", any, console_fields(), &Settings::console);
  append(all, "Tuning", "tune", {Command::tune}, solver::tune_fields(), &Settings::tune);
  append(all, "Measuring kernels", "bench", {Command::bench}, roofline::bench_fields(),
         &Settings::bench);
  append(all, "Calibration", "calibrate", {Command::calibrate}, calibrate::calibrate_fields(),
         &Settings::calibrate);
  append(all, "Pages", "page", {Command::options}, page_fields(), &Settings::page);
  for (Option& option : all) {
    option.letter = letter_of(option.name);
    option.common = is_common(option.name) || option.group == "Measuring kernels" ||
                    option.group == "Calibration" || option.group == "Pages";
    if (option.name == "machine") option.commands.push_back(Command::solve);  // to choose routes
    if (is_one_of(option, {"json", "preset", "details"})) option.commands = with_levels;
    if (option.name == "json" || option.name == "output" || option.name == "quiet" ||
        option.name == "progress") {
      option.commands.push_back(Command::calibrate);
    }
    if (leaves_levels_alone(option)) option.commands = solve;
    if (decides_exchanges(option)) option.commands.push_back(Command::predict);
    if (is_of_the_real_run(option)) std::erase(option.commands, Command::predict);
    if (is_benched_with(option)) option.commands.push_back(Command::bench);
    if (is_tuned_with(option)) option.commands.push_back(Command::tune);
    if (option.name == "problem") option.standard.clear();  // without it a file is read
  }
  return all;
}

std::string placeholder(const Option& option) {
  if (option.type == "integer") return "N";
  if (option.type == "number") return "X";
  if (option.type == "choice") return "NAME";
  if (option.type == "choices") return "NAME,...";
  std::string upper = option.type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

bool Option::belongs_to(Command command) const {
  return std::find(commands.begin(), commands.end(), command) != commands.end();
}

std::string Option::usage() const {
  std::string text = letter == 0 ? "" : std::string("-") + letter + ", ";
  text += "--" + name;
  if (!is_flag()) text += " " + placeholder(*this);
  return text;
}

std::string in_words_of_command_line(std::string_view given) {
  const std::string rewritten =
      rewrite_options(given, [](std::string_view name, std::string_view value) {
        const bool known = is_taken(catalog(), with_dashes(std::string(name)));
        return known ? typed_option(name, value) : std::string();
      });
  std::string_view message = rewritten;
  constexpr std::string_view word = "option ";
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::string text;
  while (true) {
    const std::size_t at = message.find(word);
    if (at == std::string_view::npos) return rows_from_one(text + std::string(message));
    const std::string_view rest = message.substr(at + word.size());
    const std::string_view name = rest.substr(0, rest.find_first_not_of(letters));
    const std::string dashed = with_dashes(std::string(name));
    const bool known = is_taken(catalog(), dashed);
    text += message.substr(0, at);
    text += known ? "--" + dashed : std::string(word) + std::string(name);
    message = rest.substr(name.size());
  }
}

std::string Option::meaning_for(Command command) const {
  if (name != "output") return meaning;
  return command == Command::calibrate ? "Write the machine file" : "Write the solution x";
}

std::span<const Option> catalog() {
  static const std::vector<Option> options = make_catalog();
  return options;
}

std::span<const CommandInfo> commands() {
  static const std::vector<CommandInfo> table = {
      {Command::solve,
       "solve",
       "A.mtx | --problem NAME",
       "solve A x = b and report how it went",
       {"solve A.mtx -o x.mtx  # b = A 1; multigrid and the method by the matrix",
        "solve A.mtx --rhs b.mtx -t 1e-10 --json report.json",
        "solve -p laplace7 -n 50 --solver gmres --smoother jacobi"}},
      {Command::inspect,
       "inspect",
       "A.mtx | --problem NAME",
       "describe a matrix and its hierarchy, and count messages for any number of ranks",
       {"inspect A.mtx", "inspect A.mtx --virtual-ranks 1024 --ranks-per-node 32",
        "inspect -p laplace27 -n 20 --method aggregation --json levels.json"}},
      {Command::predict,
       "predict",
       "A.mtx | --problem NAME",
       "predict what the levels cost on a machine described by a file, on any ranks",
       {"predict A.mtx -m blue-waters --virtual-ranks 256 --ranks-per-node 16",
        "predict A.mtx -m my.json --virtual-ranks 64 --ranks-per-node 16 --rank-counts 64,256",
        "predict -p laplace7 -n 40 -m eos --virtual-ranks 64 --ranks-per-node 32"}},
      {Command::tune,
       "tune",
       "A.mtx | --problem NAME",
       "try combinations of options, and say which solves A x = b fastest",
       {"tune A.mtx  # 60 seconds at most",
        "tune A.mtx --rhs b.mtx --max-seconds 600 --json tuned.json",
        "tune A.mtx --method aggregation --max-candidates 8"}},
      {Command::bench,
       "bench",
       "spmv A.mtx | spmv --problem NAME",
       "measure the kernels of every level against the bandwidth of the memory",
       {"bench spmv A.mtx", "bench spmv -p laplace7 -n 100 --seconds 20 --json bench.json",
        "bench spmv A.mtx --vectors 8"}},
      {Command::convert,
       "convert",
       "IN OUT | --problem NAME OUT",
       "write a matrix, or a model problem, in the format that OUT's name ends in",
       {"convert A.mtx A.petsc", "convert A.petsc A.mtx.gz", "convert -p laplace5 -n 100 A.mtx"}},
      {Command::calibrate,
       "calibrate",
       "",
       "measure messages, memory and products, and write a machine file of that",
       {"calibrate -o here.json --name here  # started on several nodes",
        "calibrate --base blue-waters -o here.json  # one node: the rest is of that machine",
        "calibrate --seconds 30 --json measured.json"}},
      {Command::options,
       "options",
       "",
       "print the reference of all options",
       {"options", "options --man | man -l -",
        "options --completion bash > ~/.nodewise-completion"}},
      {Command::version, "version", "", "print version, commit, compiler and MPI library", {}},
  };
  return table;
}

}  // namespace nodewise::cli
