// Numbers and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t value);
/// "12 B", "3.4 KiB", "120 MiB": three digits and a binary unit.
std::string human_bytes(double bytes);
/// "0.012 s", "3.45 s", "125 s".
std::string human_seconds(double seconds);
/// "2.31 us", with the unit that leaves one to three digits; "-" for what is no number.
std::string duration(double seconds);
/// "3 levels", "1 level".
std::string counted(std::int64_t count, std::string_view singular, std::string_view plural = "");
/// "max_levels" as "max-levels".
std::string with_dashes(std::string name);
/// Lines of at most `width` columns, broken at spaces.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace nodewise
