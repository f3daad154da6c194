// One table of fields per options struct drives parsing, range checks, suggestions for misspelt
// names, the command line, JSON and the reference page.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"

namespace nodewise {

/// One field of an options struct S. `get` prints the value and `set` parses, checks and stores it;
/// both are made by the field() functions below, from a pointer to the member.
template <class S>
struct Field {
  std::string name;     ///< snake_case, as in the struct; the command line writes it with dashes
  std::string type;     ///< "integer", "number", "flag", "text" or "choice"
  std::string meaning;  ///< one sentence for the help and the reference page
  std::string range;    ///< such as ">= 1" or "hmis | pmis"; empty where any value will do
  std::function<std::string(const S&)> get;
  std::function<void(S&, std::string_view)>
      set;  ///< throws invalid_argument, naming field and range
};

/// The index of the name closest to `name` by edit distance, or -1 where none is near.
int nearest_name(std::string_view name, std::span<const std::string> candidates);

namespace detail {
long long parse_integer(std::string_view name, std::string_view text, long long low,
                        long long high);
double parse_number(std::string_view name, std::string_view text, double low, double high);
bool parse_flag(std::string_view name, std::string_view text);
int parse_choice(std::string_view name, std::string_view text,
                 std::span<const std::string> choices);
std::string print_choice(std::string_view name, int value, std::span<const std::string> choices);
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
  return {name,
          "integer",
          std::move(meaning),
          detail::print_range(static_cast<long long>(low), static_cast<long long>(high)),
          [member](const S& s) { return std::to_string(s.*member); },
          [name, member, low, high](S& s, std::string_view text) {
            s.*member = static_cast<int>(detail::parse_integer(name, text, low, high));
          }};
}

/// A real number in [low, high].
template <class S>
Field<S> field(std::string name, double S::*member, std::string meaning, double low,
               double high = std::numeric_limits<double>::infinity()) {
  return {name,
          "number",
          std::move(meaning),
          detail::print_range(low, high),
          [member](const S& s) { return detail::print_number(s.*member); },
          [name, member, low, high](S& s, std::string_view text) {
            s.*member = detail::parse_number(name, text, low, high);
          }};
}

/// A switch: true or false.
template <class S>
Field<S> field(std::string name, bool S::*member, std::string meaning) {
  return {
      name,
      "flag",
      std::move(meaning),
      "true | false",
      [member](const S& s) { return std::string(s.*member ? "true" : "false"); },
      [name, member](S& s, std::string_view text) { s.*member = detail::parse_flag(name, text); }};
}

/// One of a list of words; choices[k] stands for the enumerator of value k.
template <class S, class Enum>
requires std::is_enum_v<Enum> Field<S> field(std::string name, Enum S::*member, std::string meaning,
                                             std::vector<std::string> choices) {
  return {name,
          "choice",
          std::move(meaning),
          detail::join(choices, " | "),
          [name, member, choices](const S& s) {
            return detail::print_choice(name, static_cast<int>(s.*member), choices);
          },
          [name, member, choices](S& s, std::string_view text) {
            s.*member = static_cast<Enum>(detail::parse_choice(name, text, choices));
          }};
}

/// Local. Throws invalid_argument, naming the field and its range, where a value is outside.
template <class S>
void check_options(const S& options, std::span<const Field<S>> fields) {
  S checked;
  for (const Field<S>& f : fields) f.set(checked, f.get(options));
}

/// Local. A number that is the same for equal options, and with overwhelming probability another
/// for others.
template <class S>
std::uint64_t hash_of(const S& options, std::span<const Field<S>> fields) {
  std::uint64_t h = 0;
  for (const Field<S>& f : fields) {
    for (const char c : f.get(options)) h = hash64(static_cast<unsigned char>(c), h);
    h = hash64(0, h);
  }
  return h;
}

/// Local. Sets the field called `name` (snake_case); throws unknown_option with the nearest name,
/// or invalid_argument with the range.
template <class S>
void set_option(S& options, std::span<const Field<S>> fields, std::string_view name,
                std::string_view value) {
  std::vector<std::string> names;
  for (const Field<S>& f : fields) {
    if (f.name == name) return f.set(options, value);
    names.push_back(f.name);
  }
  detail::throw_unknown_option(name, names);
}

}  // namespace nodewise
