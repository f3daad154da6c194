// Options on a benchmark's command line, written name=value.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::bench {

/// Local. Throws invalid_argument.
inline std::pair<std::string, std::string> name_and_value(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "'" + word + "' is not name=value");
  }
  return {word.substr(0, at), word.substr(at + 1)};
}

/// Local. Sets those of anything that has set(name, value).
template <class Options>
void set_from_words(Options& options, std::span<const std::string> words) {
  for (const std::string& word : words) {
    const auto [name, value] = name_and_value(word);
    options.set(name, value);
  }
}

}  // namespace nodewise::bench
