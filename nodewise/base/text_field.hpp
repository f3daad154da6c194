// Fields of options that hold a text.
#pragma once

#include <string>
#include <utility>

#include "nodewise/base/options.hpp"

namespace nodewise {

/// A text that is taken as it is; `type` is what the help calls it ("file", "list").
template <class S>
Field<S> text_field(std::string name, std::string S::*member, std::string type,
                    std::string meaning) {
  return {{std::move(name), std::move(type), std::move(meaning), ""},
          [member](const S& s) { return s.*member; },
          [member](S& s, std::string_view text) { s.*member = std::string(text); }};
}

}  // namespace nodewise
