#include "cli/options/catalog.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/option_text.hpp"
#include "nodewise/base/row_text.hpp"

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
  if (f.type.starts_with("integer") && f.limits.starts_with(">=") && exceeds_int(text)) {
    return fmt::format("--{}: '{}' is more than {}, the largest number that is taken", option, text,
                       std::numeric_limits<int>::max());
  }
  return naming_option(message, f.name, option);
}

/// What is said of a table of fields as a whole.
struct OptionTable {
  std::string group;                                   ///< heading in the help
  Affects affects;                                     ///< those of its fields that do not say
  std::string prefix = {};                             ///< before names that others have
  std::vector<NamedValue> Settings::*later = nullptr;  ///< where values wait for all choices
};

/// What the library's table of an option says of it.
Option option_of(const KnownField& f, const OptionTable& table) {
  Option option;
  option.name = with_dashes(f.info.name);
  option.letter = f.info.letter;
  option.group = table.group;
  option.type = f.info.type;
  option.meaning = meaning_of(f.info);
  option.words = words_of(f.info);
  option.common = f.info.is_common;
  option.range = f.info.range();
  option.needs = f.owners_text("--");
  option.standard = f.standard;
  option.affects = f.info.affects == Affects::unsaid ? table.affects : f.info.affects;
  return option;
}

/// Returns a value as the library writes it, once it is found to be within the field's range.
std::string checked(const KnownField& f, const std::string& option, std::string_view text) {
  std::string value =
      f.info.type.starts_with("choice") ? with_underscores(text) : std::string(text);
  try {
    f.check(value);
  } catch (const Error& error) {
    throw Error(error.code(), refusal(f.info, option, text, error.what()));
  }
  return value;
}

/// Adds the fields of a struct, with those of every method that may be chosen in it.
template <class S>
void append(std::vector<Option>& options, const OptionTable& table,
            std::span<const Field<S>> fields, S Settings::*member) {
  Settings defaults;
  for (const KnownField& f : known_fields(view(defaults.*member, fields))) {
    Option option = option_of(f, table);
    if (is_taken(options, option.name)) option.name = table.prefix + "-" + option.name;
    const auto later = table.later;
    option.get = [=, name = f.info.name](const Settings& s) {
      S copy = s.*member;
      const OptionView<S> tree(fields, copy);
      if (has_option(tree, name)) return std::optional(get_option(tree, name));
      return later == nullptr ? s.given_text(name) : std::nullopt;
    };
    // A Krylov method may still be chosen; a model problem is given first.
    const bool may_come = table.group == "Solver";
    option.set = [=, needs = option.needs, name = option.name](Settings& s, std::string_view text) {
      const std::string value = checked(f, name, text);
      if (later != nullptr) {
        (s.*later).emplace_back(f.info.name, value);
        return;
      }
      OptionView<S> tree(fields, s.*member);
      const bool is_there = has_option(tree, f.info.name);
      if (is_there) set_option(tree, f.info.name, value);
      if (!is_there && !may_come) {
        throw Error(ErrorCode::invalid_argument, fmt::format("--{} needs {}", name, needs));
      }
      if (may_come && !f.owners.empty()) s.given_of_methods.emplace_back(f.info.name, value);
    };
    options.push_back(std::move(option));
  }
}

std::vector<Option> make_catalog() {
  using S = Settings;
  using A = Affects;
  std::vector<Option> all;
  append(all, {"Input", A::matrix}, source_fields(), &S::source);
  append(all, {"Input", A::right_hand_side}, rhs_fields(), &S::rhs);
  append(all, {"Solver", A::levels}, options_file_fields(), &S::options_file);
  append(all, {"Solver", A::iterations}, solver::method_fields(), &S::method);
  append(all, {"Solver", A::iterations}, solve::option_fields(), &S::solver);
  append(all, {"Eigenpairs", A::eigenpairs}, eigen::option_fields(), &S::eigen);
  append(all, {"Eigenpairs", A::eigenpairs}, mass_fields(), &S::mass);
  append(all, {"Multigrid", A::levels, "", &S::given_amg}, amg::option_fields(), &S::amg);
  append(all, {"Multigrid", A::levels}, knowledge_fields(), &S::knowledge);
  append(all, {"Model problems", A::matrix, "problem"}, io::gallery_fields(), &S::gallery);
  append(all, {"Placement", A::placement}, run::placement_fields(), &S::placement);
  append(all, {"Placement", A::virtual_ranks}, predict::virtual_fields(), &S::virtual_machine);
  append(all, {"Prediction", A::prediction}, predict::predict_fields(), &S::predict);
  append(all, {"Communication", A::iterations | A::eigenpairs}, mpi::setting_fields(),
         &S::communication);
  append(all, {"Output", A::report}, result_fields(), &S::result);
  append(all, {"Output", A::conversion}, conversion_fields(), &S::conversion);
  append(all, {"Output", A::console}, console_fields(), &S::console);
  append(all, {"Tuning", A::trials}, solver::tune_fields(), &S::tune);
  append(all, {"Measuring kernels", A::kernel_times}, roofline::bench_fields(), &S::bench);
  append(all, {"Calibration", A::machine_parameters}, calibrate::calibrate_fields(), &S::calibrate);
  append(all, {"Pages", A::pages}, page_fields(), &S::page);
  for (Option& option : all) {
    if (option.name == "problem") option.standard.clear();  // without it a file is read
  }
  return all;
}

std::string placeholder(const Option& option) {
  if (option.type == "integer") return "N";
  if (option.type == "number") return "X";
  if (option.type == "integers") return "N,...";
  if (option.type == "numbers") return "X,...";
  if (option.type == "choice") return "NAME";
  if (option.type == "choices") return "NAME,...";
  std::string upper = option.type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

bool Option::belongs_to(const Command& command) const {
  return overlap(affects, command.takes) && !command.overrules(name, "");
}

std::string Option::usage() const {
  std::string text = letter == 0 ? "" : std::string("-") + letter + ", ";
  text += "--" + name;
  if (!is_flag()) text += " " + placeholder(*this);
  return text;
}

std::string in_words_of_command_line(std::string_view text) {
  const auto write = [](std::string_view name, std::string_view value) {
    const bool known = is_taken(catalog(), with_dashes(std::string(name)));
    return known ? typed_option(name, value) : std::string();
  };
  return rows_from_one(rewrite_option_names(
      rewrite_options(text, write), [&](std::string_view name) { return write(name, ""); }));
}

std::string Option::meaning_for(const Command& command) const {
  if (name == "output") return "Write " + command.output;
  for (const auto& [option, other] : command.meanings) {
    if (option == name) return other;
  }
  return meaning;
}

std::string commands_text(const Option& option) {
  std::string text;
  for (const Command& command : Command::family()) {
    if (option.belongs_to(command)) text += (text.empty() ? "" : ", ") + *command.name;
  }
  return text;
}

std::span<const Option> catalog() {
  static const std::vector<Option> options = make_catalog();
  return options;
}

}  // namespace nodewise::cli
