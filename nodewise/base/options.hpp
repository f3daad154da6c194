// One table of fields per options struct drives parsing, range checks, suggestions for misspelt
// names, the command line, JSON and the reference page.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"

namespace nodewise {

class OptionSet;
class FamilyBase;

/// A word that an option may be set to, and what it means.
struct Word {
  Word() = default;
  Word(const char* n, std::string s = {}) : name(n), summary(std::move(s)) {}             // NOLINT
  Word(std::string n, std::string s = {}) : name(std::move(n)), summary(std::move(s)) {}  // NOLINT

  std::string name, summary;
};

/// What an option has an effect on: a front end whose command does a part of the work takes the
/// options of that part.
enum class Affects : std::uint32_t {
  unsaid = 0,                      ///< what the choice affects whose method has the option
  matrix = 1U << 0U,               ///< which matrix it is
  right_hand_side = 1U << 1U,      ///< what is solved for
  levels = 1U << 2U,               ///< the matrices of a hierarchy, and what joins them
  exchanges = 1U << 3U,            ///< how often a cycle exchanges, and how much
  kernels = 1U << 4U,              ///< what the sweeps of a cycle compute
  travel = 1U << 5U,               ///< how data travels in the solve
  setup_travel = 1U << 6U,         ///< how data travels in the setup
  iterations = 1U << 7U,           ///< the Krylov method, and when it ends
  placement = 1U << 8U,            ///< where ranks are, real ones or virtual ones
  real_run = 1U << 9U,             ///< ranks that run, and no virtual ones
  virtual_ranks = 1U << 10U,       ///< ranks that are counted and do not run
  prediction = 1U << 11U,          ///< what messages of virtual ranks cost
  solution = 1U << 12U,            ///< what one solve begins with, and what is made of its end
  trials = 1U << 13U,              ///< which combinations of options are tried
  kernel_times = 1U << 14U,        ///< which kernels are measured
  machine_parameters = 1U << 15U,  ///< what is measured of a machine
  report = 1U << 16U,              ///< whether a report is written
  details = 1U << 17U,             ///< how much of it is printed
  console = 1U << 18U,             ///< how the program prints
  pages = 1U << 19U,               ///< which page of the reference is printed
  rows = 1U << 20U,                ///< which rank has which rows
  counts = 1U << 21U,              ///< what is counted of virtual ranks
  conversion = 1U << 22U,          ///< what is written of a matrix
  costs = 1U << 23U,               ///< by which ranks of levels are decided
  eigenpairs = 1U << 24U           ///< which eigenpairs are looked for, and how
};
constexpr Affects operator|(Affects a, Affects b) {
  return static_cast<Affects>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// Whether they have something in common.
constexpr bool overlap(Affects a, Affects b) {
  return (static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b)) != 0;
}

/// The description of an option, whatever struct the option is in.
struct FieldInfo {
  std::string name;  ///< snake_case, as in the struct; the command line writes it with dashes
  std::string
      type;  ///< "integer", "integers", "number", "numbers", "flag", "text", "choice" or "choices"
  std::string meaning;                 ///< one sentence for the help and the reference page
  std::string limits;                  ///< such as ">= 1"; empty where any value will do
  std::vector<Word> choices = {};      ///< the words of a choice of no family
  const FamilyBase* family = nullptr;  ///< of the methods it chooses from
  std::string needs = {};  ///< of the same struct, to have an effect: "aggressive_levels above 0"
  Affects affects = Affects::unsaid;
  bool is_common = false;  ///< what a newcomer may want; the others are for those who look for them
  char letter = '\0';      ///< its short name on command lines

  /// The words that it may be set to.
  std::vector<Word> words() const;
  /// ">= 1", or "hmis | pmis".
  std::string range() const;
};

/// One field of an options struct S. `get` prints the value and `set` parses, checks and stores it;
/// both are made by the field() functions below, from a pointer to the member.
template <class S>
struct Field : FieldInfo {
  std::function<std::string(const S&)> get;
  std::function<void(S&, std::string_view)>
      set;                                    ///< throws invalid_argument, naming field and range
  std::function<bool(const S&)> is_met = {};  ///< whether what it needs is so; null: always
  std::function<OptionSet*(S&)> own = {};     ///< the options of the method it chooses

  /// The same, for an option that has an effect only where `met`, said in words.
  Field needing(const char* text, std::function<bool(const S&)> met) && {
    needs = text;
    is_met = std::move(met);
    return std::move(*this);
  }
  /// The same, for an option that has an effect on nothing else.
  Field affecting(Affects what) && {
    this->affects = what;
    return std::move(*this);
  }
  /// The same, for an option that a newcomer may want.
  Field common(char short_name = '\0') && {
    this->is_common = true;
    this->letter = short_name;
    return std::move(*this);
  }
};

/// The index of the name closest to `name` by edit distance, or -1 where none is near.
int nearest_name(std::string_view name, std::span<const std::string> candidates);

namespace detail {
long long parse_integer(std::string_view name, std::string_view text, long long low,
                        long long high);
double parse_number(std::string_view name, std::string_view text, double low, double high);
/// Numbers with commas between them, as many as one of `counts`.
std::vector<int> parse_integers(std::string_view name, std::string_view text, int low,
                                std::span<const std::size_t> counts);
std::vector<double> parse_numbers(std::string_view name, std::string_view text);
std::string print_list(std::span<const int> values);
std::string print_list(std::span<const double> values);
bool parse_flag(std::string_view name, std::string_view text);
int parse_choice(std::string_view name, std::string_view text, std::span<const Word> choices);
std::string print_choice(std::string_view name, int value, std::span<const Word> choices);
std::string print_number(double value);
std::string print_range(double low, double high);
std::string print_range(long long low, long long high);
std::string join(std::span<const std::string> words, std::string_view separator);
[[noreturn]] void throw_unknown_option(std::string_view name, std::span<const std::string> names);
}  // namespace detail

/// A whole number in [low, high].
template <class S>
Field<S> field(std::string name, int S::*member, std::string meaning, int low,
               int high = std::numeric_limits<int>::max()) {
  return {{name, "integer", std::move(meaning),
           detail::print_range(static_cast<long long>(low), static_cast<long long>(high))},
          [member](const S& s) { return std::to_string(s.*member); },
          [name, member, low, high](S& s, std::string_view text) {
            s.*member = static_cast<int>(detail::parse_integer(name, text, low, high));
          }};
}

/// A real number in [low, high].
template <class S>
Field<S> field(std::string name, double S::*member, std::string meaning, double low,
               double high = std::numeric_limits<double>::infinity()) {
  return {{name, "number", std::move(meaning), detail::print_range(low, high)},
          [member](const S& s) { return detail::print_number(s.*member); },
          [name, member, low, high](S& s, std::string_view text) {
            s.*member = detail::parse_number(name, text, low, high);
          }};
}

/// `count` whole numbers from `low` on, or none.
template <class S>
Field<S> field(std::string name, std::vector<int> S::*member, std::string meaning, int low,
               std::size_t count) {
  return {{name, "integers", std::move(meaning),
           detail::print_range(static_cast<long long>(low), std::numeric_limits<int>::max())},
          [member](const S& s) { return detail::print_list(s.*member); },
          [name, member, low, count](S& s, std::string_view text) {
            const std::size_t counts[] = {0, count};
            s.*member = detail::parse_integers(name, text, low, counts);
          }};
}

/// Any real numbers, or none.
template <class S>
Field<S> field(std::string name, std::vector<double> S::*member, std::string meaning) {
  return {{name, "numbers", std::move(meaning), ""},
          [member](const S& s) { return detail::print_list(s.*member); },
          [name, member](S& s, std::string_view text) {
            s.*member = detail::parse_numbers(name, text);
          }};
}

/// A switch: true or false.
template <class S>
Field<S> field(std::string name, bool S::*member, std::string meaning) {
  return {
      {name, "flag", std::move(meaning), "true | false"},
      [member](const S& s) { return std::string(s.*member ? "true" : "false"); },
      [name, member](S& s, std::string_view text) { s.*member = detail::parse_flag(name, text); }};
}

/// One of a list of words; choices[k] stands for the enumerator of value k.
template <class S, class Enum>
requires std::is_enum_v<Enum> Field<S> field(const std::string& name, Enum S::*member,
                                             const std::string& meaning,
                                             const std::vector<Word>& choices) {
  return {{name, "choice", meaning, "", choices},
          [name, member, choices](const S& s) {
            return detail::print_choice(name, static_cast<int>(s.*member), choices);
          },
          [name, member, choices](S& s, std::string_view text) {
            s.*member = static_cast<Enum>(detail::parse_choice(name, text, choices));
          }};
}

/// Local. Throws invalid_argument, naming the field and its range, where a value is outside.
template <class S>
void check_options(const S& options, std::span<const Field<S>> fields);

/// Local. A number that is the same for equal options, and with overwhelming probability another
/// for others.
template <class S>
std::uint64_t hash_of(const S& options, std::span<const Field<S>> fields);

/// Local. Sets the field called `name` (snake_case), also that of a chosen method; throws as
/// set_option() of OptionSet does.
template <class S>
void set_option(S& options, std::span<const Field<S>> fields, std::string_view name,
                std::string_view value);

}  // namespace nodewise

#include "nodewise/base/option_set.hpp"
