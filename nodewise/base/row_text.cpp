#include "nodewise/base/row_text.hpp"

#include <regex>

namespace nodewise {

std::string rows_from_one(const std::string& text) {
  static const std::regex row("row ([0-9]{1,18}), counted from 0,?");
  std::string changed;
  auto from = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found) {
    changed.append(from, text.begin() + found->position());
    changed += "row " + std::to_string(std::stoll((*found)[1].str()) + 1);
    from = text.begin() + found->position() + found->length();
  }
  return changed.append(from, text.end());
}

}  // namespace nodewise
