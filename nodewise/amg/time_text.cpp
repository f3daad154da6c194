#include "nodewise/amg/time_text.hpp"

#include <fmt/format.h>

namespace nodewise::amg {

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace nodewise::amg
