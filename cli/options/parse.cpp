#include "cli/options/parse.hpp"

#include <algorithm>
#include <charconv>
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

/// A guess what was meant by a word that is no command.
[[noreturn]] void fail_unknown_command(const std::string& word) {
  const std::vector<std::string> names = Command::family().names();
  const int near = nearest_name(word, names);
  std::string hint = "; `nodewise --help` lists the commands";
  if (near >= 0) {
    hint = fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(near)]);
  } else if (word.ends_with(".mtx") || word.ends_with(".mtx.gz")) {
    hint = fmt::format("; did you mean 'nodewise solve {}'?", word);
  }
  fail_usage(fmt::format("there is no command '{}'{}", word, hint));
}

bool is_letter_of(const Option& option, const std::string& typed) {
  return option.letter != 0 && typed.size() > 1 && typed[0] == '-' && typed[1] == option.letter;
}

/// An option of other commands.
[[noreturn]] void fail_foreign_option(const Option& option, const std::string& typed,
                                      const Command& command) {
  std::string hint;
  for (const Option& json : catalog()) {
    if (option.name == "output" && json.name == "json" && json.belongs_to(command)) {
      hint = "; --json FILE writes its report";
    }
  }
  fail_usage(fmt::format("`nodewise {}` takes no {}{}", *command.name, typed, hint));
}

[[noreturn]] void fail_unknown_option(const std::string& word, const Command& command) {
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
                : fmt::format("`nodewise {} --help` lists the options", *command.name);
  fail_usage(fmt::format("there is no option {}; {}", typed, hint));
}

/// What CLI11 collected for one option.
struct Collected {
  const Option* option;
  CLI::Option* parsed;
  std::string text;
};

void declare(CLI::App& app, std::vector<Collected>& collected, const Command& command) {
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
    if (c.text.empty() && !c.option->is_flag())
      fail_usage(fmt::format("--{}: empty", c.option->name));
    try {
      c.option->set(settings, c.text);
    } catch (const Error& error) {
      fail_usage(error.what());
    }
  }
}

/// An option that was given without its value, or more often than once.
[[noreturn]] void fail_wrong_number(const CLI::App& app, std::string_view message) {
  const std::string name(message.substr(0, message.find(':')));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) fail_usage(std::string(message));
  fail_usage(name + (option->count() > 1 ? " is given more than once" : " needs a value"));
}

bool is_number(const std::string& word) {
  double ignored = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), ignored);
  return status == std::errc() && end == word.data() + word.size();
}

/// Whether an option of the command that takes several numbers is named by the word.
bool takes_numbers(const std::string& word, const Command& command) {
  const auto is_named = [&](const Option& option) {
    const bool takes = option.type == "integers" || option.type == "numbers";
    const std::string letter = {'-', option.letter};
    return takes && option.belongs_to(command) &&
           (word == "--" + option.name || (option.letter != 0 && word == letter));
  };
  const std::span<const Option> options = catalog();
  return std::any_of(options.begin(), options.end(), is_named);
}

/// The words with `--n 40 20 10` as `--n 40,20,10`.
std::vector<std::string> with_lists(std::span<const std::string> words, const Command& command) {
  std::vector<std::string> all;
  bool is_in_list = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool goes_on = is_in_list && i > 0 && is_number(words[i - 1]) && is_number(words[i]);
    if (goes_on) {
      all.back() += "," + words[i];
      continue;
    }
    is_in_list = takes_numbers(words[i], command) || (is_in_list && is_number(words[i]));
    all.push_back(words[i]);
  }
  return all;
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
    fail_usage(message);
  }
}

void check_virtual_ranks(const Settings& s) {
  if (s.has_virtual_ranks()) {
    const bool is_placed = s.placement.ranks_per_node > 0 || !s.placement.node_map.empty();
    const bool fills_nodes =
        s.predict.threads_per_rank > 1 || s.predict.memory == predict::Memory::device;
    if (!is_placed && !fills_nodes) {
      fail_usage(
          "--virtual-ranks needs --ranks-per-node N or --node-map LIST, which say what is a node");
    }
    const bool deals_ranks = s.has("placement") && s.method.placement->deals_ranks;
    if (deals_ranks && !s.placement.node_map.empty()) {
      fail_usage(
          fmt::format("--placement {} deals virtual ranks to nodes of --ranks-per-node; "
                      "--node-map has dealt them",
                      s.method.placement.name()));
    }
    if (s.placement.domains != run::DomainChoice::none) {
      fail_usage("--domains asks this machine; those of virtual ranks are given by --domain-map");
    }
    return;
  }
  if (s.has("routes")) fail_usage("--routes is for virtual ranks; it needs --virtual-ranks N");
}

/// What a method wants of other options may not be given otherwise.
void check_fixes(const Settings& s) {
  for (const auto& [name, value] : s.amg.method->fixes) {
    for (const NamedValue& given : s.given_amg) {
      if (given.first != name || given.second == value) continue;
      fail_usage(fmt::format("--{} is not for --method {}, which has --{} {}", with_dashes(name),
                             s.amg.method.name(), with_dashes(name), value));
    }
  }
}

void check_aggregation(const Settings& s) {
  if (s.has("near-null-space") && s.has("coordinates")) {
    fail_usage("give --near-null-space or --coordinates, not both");
  }
  const bool aggregates = s.amg.method->takes_near_null_space;
  for (const char* name : {"near-null-space", "coordinates"}) {
    if (s.has(name) && !aggregates && (s.has("method") || !s.may_be_elasticity())) {
      fail_usage(fmt::format("--{} is for --method aggregation", name));
    }
  }
  if (s.has("left-near-null-space") && !amg::has_smoothed_restriction(s.amg)) {
    fail_usage("--left-near-null-space is for --restriction smoothed");
  }
}

void check_problem(const Settings& s) {
  try {
    io::check_problem(s.gallery);
  } catch (const Error& error) {
    fail_usage(in_words_of_command_line(error.what()));
  }
  if (s.source.graph_laplacian) {
    fail_usage("--graph-laplacian is for matrix files, not for model problems");
  }
}

void check_problem_rhs(const Settings& s) {
  if (!s.rhs.problem_rhs) return;
  if (s.has("rhs")) fail_usage("give --rhs or --problem-rhs, not both");
  if (s.rhs.random_rhs) fail_usage("give --random-rhs or --problem-rhs, not both");
  if (!s.is_model_problem()) fail_usage("--problem-rhs needs --problem NAME");
  if (s.gallery.problem->has_right_hand_side()) return;
  const std::string some = io::ModelProblem::family().some([](const MethodInfo& info) {
    return static_cast<const io::ModelProblem&>(info).has_right_hand_side();
  });
  fail_usage(fmt::format("--problem-rhs: --problem {} has no right-hand side of its own; take {}",
                         s.gallery.problem.name(), some));
}

/// A partition of a file, and the file, are given together.
void check_partition(const Settings& s) {
  const bool knows_costs = overlap(s.command->takes, Affects::prediction | Affects::setup_travel);
  if (s.method.partition.is_automatic() && !knows_costs) {
    fail_usage(
        fmt::format("--partition automatic goes by costs, which `nodewise {}` does not know; "
                    "name a partition",
                    *s.command->name));
  }
  const bool is_of_file = s.method.partition == "file";
  if (s.has("partition-file") && !is_of_file) {
    fail_usage("--partition-file needs --partition file");
  }
  if (is_of_file && !s.has("partition-file")) {
    fail_usage("--partition file needs --partition-file FILE");
  }
}

/// Combinations that contradict themselves, or an option that would have no effect.
void check_combinations(const Settings& s) {
  for (const Option& option : catalog()) {
    if (option.group == "Model problems" && s.has(option.name) && !s.is_model_problem()) {
      fail_usage(
          fmt::format("--{} describes a model problem; it needs --problem NAME", option.name));
    }
  }
  if (s.is_model_problem()) check_problem(s);
  if (s.has("rhs") && s.rhs.random_rhs) fail_usage("give --rhs or --random-rhs, not both");
  check_problem_rhs(s);
  for (const char* name : {"rhs-seed", "rhs-count"}) {
    if (s.has(name) && !s.rhs.random_rhs) fail_usage(fmt::format("--{} needs --random-rhs", name));
  }
  check_aggregation(s);
  check_fixes(s);
  check_partition(s);
  if (s.has("node-map") && s.has("ranks-per-node")) {
    fail_usage("give --node-map or --ranks-per-node, not both");
  }
  if (s.has("domains") && s.has("domain-map"))
    fail_usage("give --domains or --domain-map, not both");
  const mpi::SparseExchange& exchange = s.communication.sparse_exchange;
  if (!exchange.is_automatic() && exchange->needs_equal_counts) {
    fail_usage(fmt::format(
        "--sparse-exchange {} is for messages of one size only, and those of a solve are not",
        exchange.name()));
  }
  if (s.command->check != nullptr) s.command->check(s);
  check_virtual_ranks(s);
  if (s.asks_for_routes() && !s.command->chooses_routes) {
    fail_usage("only `nodewise solve` chooses routes; name them");
  }
  if (s.has("route-from-level") && std::max(s.amg.route.size(), s.amg.setup_route.size()) > 1) {
    fail_usage("give routes by level or --route-from-level, not both");
  }
}

Settings parse_command(const Command& command, std::span<const std::string> words,
                       const ReadText& read) {
  Settings settings;
  settings.command = &command;
  CLI::App app;
  app.set_help_flag();
  app.set_config();
  app.allow_extras();
  app.add_flag("-h,--help", settings.help);
  app.add_flag("--help-all", settings.help_all);
  app.add_option("files", settings.files);
  std::vector<Collected> collected;
  declare(app, collected, command);
  if (command.leaves_words) {
    run_parser(app, words);
  } else {
    const std::vector<std::string> listed = with_lists(words, command);
    run_parser(app, command.rewrite != nullptr ? command.rewrite(listed) : listed);
  }
  settings.help = settings.help || settings.help_all;
  if (settings.help || command.leaves_words) return settings;
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word[0] == '-') fail_unknown_option(word, command);
    fail_usage(fmt::format("unexpected argument '{}'", word));
  }
  store(settings, collected);
  if (settings.is_model_problem() && !settings.has("unknowns")) {
    settings.amg.unknowns = settings.gallery.problem->unknowns;
  }
  if (settings.has("options")) {
    const std::string& file = settings.options_file.options;
    take_options(read(file), file, settings);
    if (!settings.has("preset")) settings.method.preset = "default";
  }
  set_multigrid_options(settings);
  // What goes to the standard output goes there alone.
  if (settings.result.json == "-" || settings.result.output == "-") settings.console.quiet = true;
  (*command.take_arguments)(settings);
  check_combinations(settings);
  check_multigrid_options(settings);
  return settings;
}

}  // namespace

Settings parse(std::span<const std::string> words, const ReadText& read) {
  if (words.empty()) fail_usage("no command; `nodewise --help` lists them");
  if (words[0] == "-h" || words[0] == "--help" || words[0] == "help") return {};
  if (words[0] == "--version" || words[0] == "-V") {
    return parse_command(Command::family().find("version"), {}, read);
  }
  for (const Command& command : Command::family()) {
    if (*command.name == words[0]) return parse_command(command, words.subspan(1), read);
  }
  if (words[0].starts_with("-")) {
    fail_usage(fmt::format(
        "the first argument is a command, not '{}'; `nodewise --help` lists them", words[0]));
  }
  fail_unknown_command(words[0]);
}

}  // namespace nodewise::cli
