#include "nodewise/base/option_text.hpp"

#include <algorithm>

namespace nodewise {

namespace {

bool is_name(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !word.empty() && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string rewrite_options(
    std::string_view text,
    const std::function<std::string(std::string_view name, std::string_view value)>& write) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == text.npos ? text.npos : text.find('`', open + 1);
    if (close == text.npos) return result.append(text);
    const std::string_view quoted = text.substr(open + 1, close - open - 1);
    const std::size_t space = quoted.find(' ');
    const std::string_view name = quoted.substr(0, space);
    const std::string_view value = space == text.npos ? "" : quoted.substr(space + 1);
    const bool is_option = is_name(name) && !quoted.ends_with(' ');
    const std::string written = is_option ? write(name, value) : std::string();
    // What is left alone may end where an option begins: its second quote is looked at again.
    const std::size_t taken = written.empty() ? close : close + 1;
    result.append(text.substr(0, open));
    result.append(written.empty() ? text.substr(open, close - open) : std::string_view(written));
    text.remove_prefix(taken);
  }
}

std::string rewrite_option_names(std::string_view text,
                                 const std::function<std::string(std::string_view name)>& write) {
  constexpr std::string_view word = "option ";
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::string result;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word)) {
    const std::string_view rest = text.substr(at + word.size());
    const std::string_view name = rest.substr(0, rest.find_first_not_of(letters));
    const std::string written = write(name);
    result.append(text.substr(0, at));
    result.append(written.empty() ? text.substr(at, word.size() + name.size())
                                  : std::string_view(written));
    text = rest.substr(name.size());
  }
  return result.append(text);
}

}  // namespace nodewise
