#include "nodewise/advise/findings/advice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

namespace nodewise::advise::found {

double share(GlobalIndex part, GlobalIndex whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<GlobalIndex>(whole, 1));
}

std::string in_rows(GlobalIndex part, GlobalIndex whole) {
  return fmt::format("in {} of {} rows", grouped(part), grouped(whole));
}

std::string Advice::text(const std::string& before) const {
  if (options_.empty()) {
    return before + "what usually helps is set already: let `nodewise tune` look for more";
  }
  std::string words = before + "try " + options_.front();
  for (std::size_t k = 1; k < options_.size(); ++k) {
    words += (k + 1 < options_.size() ? ", " : " or ") + options_[k];
  }
  return words;
}

}  // namespace nodewise::advise::found
