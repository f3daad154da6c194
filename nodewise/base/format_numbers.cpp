#include "nodewise/base/format_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace nodewise {

std::string grouped(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    if (k > sign && (digits.size() - k) % 3 == 0) text += ',';
    text += digits[k];
  }
  return text;
}

std::string human_bytes(double bytes) {
  constexpr std::array<const char*, 6> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  if (bytes >= 1e4) return fmt::format("{:.0e} {}", bytes, units[unit]);
  const int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, units[unit]);
}

std::string human_seconds(double seconds) {
  const int decimals = seconds >= 99.95 ? 0 : seconds >= 9.995 ? 1 : seconds >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f} s", seconds, decimals);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  constexpr std::array<const char*, 5> units = {"s", "ms", "us", "ns", "ps"};
  std::size_t unit = 0;
  while (seconds < 0.9995 && seconds > 0 && unit + 1 < units.size()) {
    seconds *= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", seconds, units[unit]);
}

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural) {
  const std::string many = plural.empty() ? fmt::format("{}s", singular) : std::string(plural);
  return fmt::format("{} {}", grouped(count), count == 1 ? std::string(singular) : many);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.emplace_back(word);
    } else {
      if (!line.empty()) line += ' ';
      line += word;
    }
  }
  return lines;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace nodewise
