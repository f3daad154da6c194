#include "nodewise/base/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/by_level.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise {

namespace {

/// Levenshtein's edit distance between two short words.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

[[noreturn]] void throw_value(std::string_view name, std::string_view text,
                              std::string_view wanted) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("option {}: '{}' is not {}", name, text, wanted));
}

std::vector<std::string> names_of(std::span<const Word> words) {
  std::vector<std::string> names;
  for (const Word& word : words) names.push_back(word.name);
  return names;
}

}  // namespace

std::vector<Word> FieldInfo::words() const {
  return family != nullptr ? family->words() : choices;
}

std::string FieldInfo::range() const {
  return limits.empty() ? detail::join(names_of(words()), " | ") : limits;
}

int nearest_name(std::string_view name, std::span<const std::string> candidates) {
  int best = -1;
  // A third of the letters wrong is still a typing mistake; more is another word.
  int best_distance = 1 + std::max<int>(2, static_cast<int>(name.size()) / 3);
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const int distance = edit_distance(name, candidates[k]);
    if (distance < best_distance) {
      best_distance = distance;
      best = static_cast<int>(k);
    }
  }
  return best;
}

namespace detail {

long long parse_integer(std::string_view name, std::string_view text, long long low,
                        long long high) {
  long long value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw_value(name, text, "a whole number " + print_range(low, high));
  }
  return value;
}

double parse_number(std::string_view name, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that NaN fails both comparisons.
  const bool inside = value >= low && value <= high;
  if (status != std::errc() || end != text.data() + text.size() || !inside) {
    throw_value(name, text, "a number " + print_range(low, high));
  }
  return value;
}

std::vector<int> parse_integers(std::string_view name, std::string_view text, int low,
                                std::span<const std::size_t> counts) {
  std::vector<int> values;
  for (const std::string_view part : split_list(text)) {
    values.push_back(
        static_cast<int>(parse_integer(name, part, low, std::numeric_limits<int>::max())));
  }
  if (std::find(counts.begin(), counts.end(), values.size()) == counts.end()) {
    std::vector<std::size_t> wanted;  // none, which some take, is no advice
    for (const std::size_t count : counts) {
      if (count > 0) wanted.push_back(count);
    }
    throw_value(name, text, fmt::format("{} whole numbers", fmt::join(wanted, " or ")));
  }
  return values;
}

std::vector<double> parse_numbers(std::string_view name, std::string_view text) {
  std::vector<double> values;
  for (const std::string_view part : split_list(text)) {
    values.push_back(parse_number(name, part, std::numeric_limits<double>::lowest(),
                                  std::numeric_limits<double>::max()));
  }
  return values;
}

std::string print_list(std::span<const int> values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::string print_list(std::span<const double> values) {
  return fmt::format("{}", fmt::join(values, ","));
}

bool parse_flag(std::string_view name, std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  throw_value(name, text, "true or false");
}

int parse_choice(std::string_view name, std::string_view text, std::span<const Word> choices) {
  const std::vector<std::string> names = names_of(choices);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  const int near = nearest_name(text, names);
  const std::string hint =
      near < 0 ? "" : fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(near)]);
  throw_value(name, text, "one of " + join(names, ", ") + hint);
}

std::string print_choice(std::string_view name, int value, std::span<const Word> choices) {
  if (value >= 0 && std::cmp_less(value, choices.size())) {
    return choices[static_cast<std::size_t>(value)].name;
  }
  throw_value(name, std::to_string(value), "one of " + join(names_of(choices), ", "));
}

std::string print_number(double value) {
  return fmt::format("{}", value);
}

std::string print_range(double low, double high) {
  // The smallest normal number as a lower end stands for "positive".
  const bool positive = low == std::numeric_limits<double>::min();
  if (positive && std::isinf(high)) return "> 0";
  if (positive) return fmt::format("in (0, {}]", high);
  if (std::isinf(low) && std::isinf(high)) return "";
  if (std::isinf(high)) return fmt::format(">= {}", low);
  if (std::isinf(low)) return fmt::format("<= {}", high);
  return fmt::format("in [{}, {}]", low, high);
}

std::string print_range(long long low, long long high) {
  if (high == std::numeric_limits<int>::max()) return fmt::format(">= {}", low);
  return fmt::format("in [{}, {}]", low, high);
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

void throw_unknown_option(std::string_view name, std::span<const std::string> names) {
  const int near = nearest_name(name, names);
  const std::string hint =
      near < 0 ? "" : fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(near)]);
  throw Error(ErrorCode::unknown_option, fmt::format("there is no option '{}'{}", name, hint));
}

}  // namespace detail

}  // namespace nodewise
