#include "nodewise/calibrate/host.hpp"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

namespace nodewise::calibrate {

namespace {

const std::string processors = "/sys/devices/system/cpu/cpu";

/// The first word of a file; empty where there is none.
std::string word_of(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// "32K" and the like; 0 for what is no size.
double bytes_of(const std::string& text) {
  std::istringstream stream(text);
  double size = 0;
  char unit = ' ';
  if (!(stream >> size)) return 0;
  stream >> unit;
  return size * (unit == 'M' ? 1048576 : unit == 'K' ? 1024 : 1);
}

/// Returns how many numbers "0-3,8" names; 1 for a text that is no list.
int length_of_list(const std::string& text) {
  std::istringstream stream(text);
  int length = 0;
  for (std::string item; std::getline(stream, item, ',');) {
    const std::size_t dash = item.find('-');
    try {
      const int first = std::stoi(item);
      length += dash == std::string::npos ? 1 : std::stoi(item.substr(dash + 1)) - first + 1;
    } catch (const std::exception&) {
      return 1;
    }
  }
  return std::max(length, 1);
}

std::vector<model::Cache> find_caches() {
  std::vector<model::Cache> caches;
  for (int k = 0; k < 10; ++k) {
    const std::string folder = processors + "0/cache/index" + std::to_string(k) + "/";
    const double bytes = bytes_of(word_of(folder + "size"));
    if (bytes <= 0 || word_of(folder + "type") == "Instruction") continue;
    caches.push_back({bytes, length_of_list(word_of(folder + "shared_cpu_list"))});
  }
  std::sort(caches.begin(), caches.end(),
            [](const model::Cache& a, const model::Cache& b) { return a.bytes < b.bytes; });
  return caches;
}

int count_allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

Host describe_host() {
  Host host;
  host.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  host.allowed_cores = count_allowed_cores();
  std::set<std::string> packages;
  for (int k = 0; k < host.cores; ++k) {
    packages.insert(word_of(processors + std::to_string(k) + "/topology/physical_package_id"));
  }
  host.sockets = std::max(1, static_cast<int>(packages.size()));
  host.caches = find_caches();
  return host;
}

}  // namespace nodewise::calibrate
