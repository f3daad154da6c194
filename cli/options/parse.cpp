#include "cli/options/parse.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/multigrid_options.hpp"
#include "cli/options/options_file.hpp"

namespace nodewise::cli {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Failure(ExitCode::usage, message);
}

std::string command_name(Command command) {
  for (const CommandInfo& info : commands()) {
    if (info.command == command) return info.name;
  }
  return "";
}

/// A guess what was meant by a word that is no command.
[[noreturn]] void fail_unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const CommandInfo& info : commands()) names.push_back(info.name);
  const int near = nearest_name(word, names);
  std::string hint = "; `nodewise --help` lists the commands";
  if (near >= 0) {
    hint = fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(near)]);
  } else if (word.ends_with(".mtx") || word.ends_with(".mtx.gz")) {
    hint = fmt::format("; did you mean 'nodewise solve {}'?", word);
  }
  fail(fmt::format("there is no command '{}'{}", word, hint));
}

bool is_letter_of(const Option& option, const std::string& typed) {
  return option.letter != 0 && typed.size() > 1 && typed[0] == '-' && typed[1] == option.letter;
}

/// An option of other commands.
[[noreturn]] void fail_foreign_option(const Option& option, const std::string& typed,
                                      Command command) {
  std::string hint;
  for (const Option& json : catalog()) {
    if (option.name == "output" && json.name == "json" && json.belongs_to(command)) {
      hint = "; --json FILE writes its report";
    }
  }
  fail(fmt::format("`nodewise {}` takes no {}{}", command_name(command), typed, hint));
}

[[noreturn]] void fail_unknown_option(const std::string& word, Command command) {
  const std::string typed = word.substr(0, word.find('='));
  const std::string bare = typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  std::vector<std::string> names = {"help", "help-all"};
  for (const Option& option : catalog()) {
    if (option.belongs_to(command)) {
      names.push_back(option.name);
    } else if (option.name == bare || is_letter_of(option, typed)) {
      fail_foreign_option(option, typed.starts_with("--") ? typed : typed.substr(0, 2), command);
    }
  }
  std::string dashed = bare;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  const int near = nearest_name(dashed, names);
  const std::string hint =
      near >= 0 ? fmt::format("did you mean --{}?", names[static_cast<std::size_t>(near)])
                : fmt::format("`nodewise {} --help` lists the options", command_name(command));
  fail(fmt::format("there is no option {}; {}", typed, hint));
}

/// What CLI11 collected for one option.
struct Collected {
  const Option* option;
  CLI::Option* parsed;
  std::string text;
};

void declare(CLI::App& app, std::vector<Collected>& collected, Command command) {
  for (const Option& option : catalog()) {
    if (option.belongs_to(command)) collected.push_back({&option, nullptr, ""});
  }
  for (Collected& c : collected) {  // addresses of the texts are fixed from here on
    const std::string letter = c.option->letter ? std::string("-") + c.option->letter + "," : "";
    const std::string name = letter + "--" + c.option->name;
    c.parsed = c.option->is_flag() ? app.add_flag(name, c.text) : app.add_option(name, c.text);
    c.parsed->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }
}

/// Stores what was given; the tables of fields check types and ranges.
void store(Settings& settings, std::span<const Collected> collected) {
  for (const Collected& c : collected) {
    if (c.parsed->count() == 0) continue;
    settings.given.insert(c.option->name);
    if (c.text.empty() && !c.option->is_flag()) fail(fmt::format("--{}: empty", c.option->name));
    try {
      c.option->set(settings, c.text);
    } catch (const Error& error) {
      fail(error.what());
    }
  }
}

/// An option that was given without its value, or more often than once.
[[noreturn]] void fail_wrong_number(const CLI::App& app, std::string_view message) {
  const std::string name(message.substr(0, message.find(':')));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) fail(std::string(message));
  fail(name + (option->count() > 1 ? " is given more than once" : " needs a value"));
}

void run_parser(CLI::App& app, std::span<const std::string> words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 wants the last first
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    fail_wrong_number(app, error.what());
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    fail(message);
  }
}

void check_file_count(const Settings& s) {
  const std::size_t files = s.files.size();
  if (s.command == Command::solve || s.command == Command::inspect ||
      s.command == Command::predict || s.command == Command::tune || s.command == Command::bench) {
    if (s.is_model_problem() && files > 0) {
      fail(fmt::format("give a matrix file or --problem, not both ('{}')", s.files[0]));
    }
    if (!s.is_model_problem() && files == 0) {
      fail("no matrix: give a Matrix Market file, or a model problem by --problem NAME");
    }
    if (files > 1) {
      const char* hint = s.command != Command::inspect && s.command != Command::bench
                             ? " (a right-hand side is given by --rhs)"
                             : "";
      fail(fmt::format("one matrix at a time: '{}' is one file too many{}", s.files[1], hint));
    }
  } else if (s.command == Command::convert) {
    const std::size_t wanted = s.is_model_problem() ? 1 : 2;
    if (files != wanted) {
      fail(fmt::format(
          "convert needs {}, but {} given",
          wanted == 1 ? "one file to write" : "a file to read and one to write",
          files == 0 ? "none is" : fmt::format("{} {}", files, files == 1 ? "is" : "are")));
    }
  } else if (files > 0) {
    fail(fmt::format("unexpected argument '{}'", s.files[0]));
  }
}

/// Takes the word that says what to measure from the arguments.
void take_benchmark(Settings& s) {
  if (s.files.empty()) fail("bench needs to be told what to measure: nodewise bench spmv A.mtx");
  if (s.files[0] != "spmv") {
    // A benchmark misspelt, or one left out before the matrix.
    const std::vector<std::string> known = {"spmv"};
    const bool misspelt = nearest_name(s.files[0], known) >= 0 || s.files.size() > 1;
    const std::size_t matrix = misspelt ? 1 : 0;
    fail(fmt::format("there is no benchmark '{}'; did you mean 'nodewise bench spmv{}'?",
                     s.files[0], matrix < s.files.size() ? " " + s.files[matrix] : ""));
  }
  s.files.erase(s.files.begin());
}

void check_prediction(const Settings& s) {
  if (s.predict.machine.empty()) {
    fail("predict needs --machine NAME or FILE, which says what messages cost");
  }
  if (!s.has_virtual_ranks()) fail("predict needs --virtual-ranks N, the ranks of that machine");
  if (s.has("rank-counts") && s.placement.ranks_per_node == 0) {
    fail("--rank-counts needs --ranks-per-node N: a list of nodes fits one number of ranks only");
  }
  if (s.has("rank-counts") && s.has("domain-map")) {
    fail("give --rank-counts or --domain-map, not both");
  }
}

void check_virtual_ranks(const Settings& s) {
  if (s.has_virtual_ranks()) {
    if (s.placement.ranks_per_node == 0 && s.placement.node_map.empty()) {
      fail("--virtual-ranks needs --ranks-per-node N or --node-map LIST, which say what is a node");
    }
    if (s.has("placement") && !s.placement.node_map.empty()) {
      fail("--placement deals ranks to nodes of --ranks-per-node; --node-map has dealt them");
    }
    if (s.placement.domains != run::DomainChoice::none) {
      fail("--domains asks this machine; those of virtual ranks are given by --domain-map");
    }
    return;
  }
  for (const char* name : {"placement", "routes"}) {
    if (s.has(name))
      fail(fmt::format("--{} is for virtual ranks; it needs --virtual-ranks N", name));
  }
}

/// What a method wants of other options may not be given otherwise.
void check_fixes(const Settings& s) {
  for (const auto& [name, value] : s.amg.method->fixes) {
    for (const NamedValue& given : s.given_amg) {
      if (given.first != name || given.second == value) continue;
      fail(fmt::format("--{} is not for --method {}, which has --{} {}", with_dashes(name),
                       s.amg.method.name(), with_dashes(name), value));
    }
  }
}

void check_aggregation(const Settings& s) {
  if (s.has("near-null-space") && s.has("coordinates")) {
    fail("give --near-null-space or --coordinates, not both");
  }
  const bool aggregates = s.amg.method->takes_near_null_space;
  for (const char* name : {"near-null-space", "coordinates"}) {
    if (s.has(name) && !aggregates && (s.has("method") || !s.may_be_elasticity())) {
      fail(fmt::format("--{} is for --method aggregation", name));
    }
  }
  if (s.has("left-near-null-space") && !amg::has_smoothed_restriction(s.amg)) {
    fail("--left-near-null-space is for --restriction smoothed");
  }
}

/// The machine serves to choose routes, which nothing else can, and to say what memory allows.
void check_automatic_routes(const Settings& s) {
  const auto asks = [](const ByLevel<comm::Route>& routes) {
    return std::any_of(routes.begin(), routes.end(),
                       [](const comm::Route& route) { return route.is_automatic(); });
  };
  const bool automatic = asks(s.amg.route) || asks(s.amg.setup_route);
  if (automatic && s.command != Command::solve) {
    fail("only `nodewise solve` chooses routes; name them");
  }
  if (!automatic && !s.result.profile && s.command == Command::solve && s.has("machine")) {
    fail("--machine is for --route automatic or --profile");
  }
}

/// Combinations that contradict themselves, or an option that would have no effect.
void check_combinations(const Settings& s) {
  for (const Option& option : catalog()) {
    if (option.group == "Model problems" && s.has(option.name) && !s.is_model_problem()) {
      fail(fmt::format("--{} describes a model problem; it needs --problem NAME", option.name));
    }
  }
  if (s.gallery.problem == io::Problem::random && s.is_model_problem() &&
      s.gallery.entries >= s.gallery.n) {
    fail(fmt::format("--entries {}{} is too many for --n {}: at most {}", s.gallery.entries,
                     s.has("entries") ? "" : " (the default)", s.gallery.n, s.gallery.n - 1));
  }
  if (s.is_model_problem() && s.source.graph_laplacian) {
    fail("--graph-laplacian is for matrix files, not for model problems");
  }
  if (s.has("rhs") && s.rhs.random_rhs) fail("give --rhs or --random-rhs, not both");
  for (const char* name : {"rhs-seed", "rhs-count"}) {
    if (s.has(name) && !s.rhs.random_rhs) fail(fmt::format("--{} needs --random-rhs", name));
  }
  check_aggregation(s);
  check_fixes(s);
  if (s.has("node-map") && s.has("ranks-per-node")) {
    fail("give --node-map or --ranks-per-node, not both");
  }
  if (s.has("domains") && s.has("domain-map")) fail("give --domains or --domain-map, not both");
  if (s.communication.sparse_exchange == "rma") {
    fail("--sparse-exchange rma is for messages of one size only, and those of a solve are not");
  }
  if (s.command == Command::predict) check_prediction(s);
  check_virtual_ranks(s);
  check_automatic_routes(s);
  if (s.has("route-from-level") && std::max(s.amg.route.size(), s.amg.setup_route.size()) > 1) {
    fail("give routes by level or --route-from-level, not both");
  }
  if (s.result.output_anyway && s.result.output.empty())
    fail("--output-anyway needs --output FILE");
}

Settings parse_command(Command command, std::span<const std::string> words, const ReadText& read) {
  Settings settings;
  settings.command = command;
  CLI::App app;
  app.set_help_flag();
  app.set_config();
  app.allow_extras();
  app.add_flag("-h,--help", settings.help);
  app.add_flag("--help-all", settings.help_all);
  app.add_option("files", settings.files);
  std::vector<Collected> collected;
  declare(app, collected, command);
  run_parser(app, words);
  settings.help = settings.help || settings.help_all;
  if (settings.help) return settings;
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word[0] == '-') fail_unknown_option(word, command);
    fail(fmt::format("unexpected argument '{}'", word));
  }
  store(settings, collected);
  if (settings.is_model_problem() && !settings.has("unknowns")) {
    settings.amg.unknowns = io::unknowns_of(settings.gallery.problem);
  }
  if (settings.has("options")) {
    const std::string& file = settings.options_file.options;
    take_options(read(file), file, settings);
    if (!settings.has("preset")) settings.method.preset = "default";
  }
  set_multigrid_options(settings);
  // What goes to the standard output goes there alone.
  if (settings.result.json == "-" || settings.result.output == "-") settings.console.quiet = true;
  if (command == Command::bench) take_benchmark(settings);
  check_file_count(settings);
  check_combinations(settings);
  check_multigrid_options(settings);
  return settings;
}

}  // namespace

Settings parse(std::span<const std::string> words, const ReadText& read) {
  if (words.empty()) fail("no command; `nodewise --help` lists them");
  if (words[0] == "-h" || words[0] == "--help" || words[0] == "help") {
    Settings settings;
    settings.command = Command::help;
    return settings;
  }
  if (words[0] == "--version" || words[0] == "-V") return parse_command(Command::version, {}, read);
  for (const CommandInfo& info : commands()) {
    if (info.name == words[0]) return parse_command(info.command, words.subspan(1), read);
  }
  if (words[0].starts_with("-")) {
    fail(fmt::format("the first argument is a command, not '{}'; `nodewise --help` lists them",
                     words[0]));
  }
  fail_unknown_command(words[0]);
}

}  // namespace nodewise::cli
