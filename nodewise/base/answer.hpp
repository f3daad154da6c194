// What a method says of itself where it may be unable to: an answer, or why there is none.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "nodewise/base/error.hpp"

namespace nodewise {

/// Why a method cannot answer.
struct Unanswered {
  std::string reason;
};

template <class T>
using Answer = std::variant<T, Unanswered>;

/// Throws unsupported, with `subject` and the reason, where there is no answer.
template <class T>
const T& require(const Answer<T>& answer, const std::string& subject) {
  if (const T* found = std::get_if<T>(&answer)) return *found;
  throw Error(ErrorCode::unsupported, subject + ": " + std::get<Unanswered>(answer).reason);
}

}  // namespace nodewise
