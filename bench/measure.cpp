#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <malloc.h>
#include <sstream>

#include <fmt/format.h>

#include "nodewise/base/large_memory.hpp"

namespace nodewise::bench {

Spread spread(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  const double median = n % 2 == 1 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
  return {median, samples.front(), samples.back()};
}

std::vector<double> ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k) result.push_back(a[k] / b[k]);
  return result;
}

std::string to_text(const Spread& s, int digits) {
  return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", s.median, digits, s.low, digits, s.high, digits);
}

std::string seconds_text(const Spread& s) {
  const double magnitude = s.median > 0 ? std::floor(std::log10(s.median)) : 0;
  return to_text(s, std::clamp(2 - static_cast<int>(magnitude), 3, 9));
}

bool reset_peak_memory() {
  release_unused_memory();
  malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;  // 5: the peak resident size becomes the present one; see proc(5)
  return file.good();
}

namespace {

std::int64_t status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::istringstream words(line.substr(key.size()));
    std::int64_t kilobytes = 0;
    words >> kilobytes;
    return 1024 * kilobytes;
  }
  return 0;
}

}  // namespace

std::int64_t peak_memory_bytes() {
  return status_bytes("VmHWM:");
}
std::int64_t resident_memory_bytes() {
  return status_bytes("VmRSS:");
}

std::string load_averages() {
  std::ifstream file("/proc/loadavg");
  std::string one, five, fifteen;
  file >> one >> five >> fifteen;
  return one + " " + five + " " + fifteen;
}

}  // namespace nodewise::bench
