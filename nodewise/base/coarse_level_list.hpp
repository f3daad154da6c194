// Options that are a number for each coarse level.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/base/by_level.hpp"

namespace nodewise {

/// The number for a level from 1 on; the last of the list is for all deeper levels.
template <class N>
N of_coarse_level(const std::vector<N>& list, int level) {
  return list[std::min(static_cast<std::size_t>(level - 1), list.size() - 1)];
}

/// A list of numbers for levels 1, 2, ..., separated by commas: parse(name, word) reads one,
/// print(number) writes it.
template <class S, class N, class Parse, class Print>
Field<S> coarse_level_field(const std::string& name, std::vector<N> S::*member,
                            const std::string& meaning, const std::string& limits, Parse parse,
                            Print print) {
  return {{name, "list", meaning, limits + ", separated by commas"},
          [member, print](const S& s) {
            std::vector<std::string> words;
            for (const N number : s.*member) words.push_back(print(number));
            return detail::join(words, ",");
          },
          [name, member, parse](S& s, std::string_view text) {
            std::vector<N> numbers;
            for (const std::string_view word : detail::split_list(text)) {
              numbers.push_back(parse(name, word));
            }
            if (numbers.empty()) {
              throw Error(ErrorCode::invalid_argument, "option " + name + ": no number is given");
            }
            s.*member = std::move(numbers);
          }};
}

}  // namespace nodewise
