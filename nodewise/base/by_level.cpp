#include "nodewise/base/by_level.hpp"

namespace nodewise::detail {

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    words.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) words.push_back(text);  // a comma at the end: a word is missing
  }
  return words;
}

}  // namespace nodewise::detail
