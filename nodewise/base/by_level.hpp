// A choice for each level of a hierarchy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/base/options.hpp"

namespace nodewise {

/// Choices for levels 0, 1, ..., the finest first; the last holds for all deeper levels. May be
/// empty, where "none given" means something.
template <class Choice>
class ByLevel {
 public:
  using value_type = Choice;

  ByLevel() = default;
  /// One for all levels, so that an option by level can be set like one that is not.
  template <class T>
  requires std::is_convertible_v<T, Choice> ByLevel(T&& everywhere)  // NOLINT
      : choices_{Choice(std::forward<T>(everywhere))} {}
  ByLevel(std::initializer_list<Choice> choices) : choices_(choices) {}
  explicit ByLevel(std::vector<Choice> choices) : choices_(std::move(choices)) {}

  bool empty() const { return choices_.empty(); }
  std::size_t size() const { return choices_.size(); }
  /// The choice for a level; the first of all choices where none was given.
  Choice on(int level) const {
    if (choices_.empty()) return Choice{};
    return choices_[std::min(static_cast<std::size_t>(level), choices_.size() - 1)];
  }
  auto begin() const { return choices_.begin(); }
  auto end() const { return choices_.end(); }
  friend bool operator==(const ByLevel&, const ByLevel&) = default;

 private:
  std::vector<Choice> choices_;
};

namespace detail {
/// Returns the texts between the commas; none of an empty text.
std::vector<std::string_view> split_list(std::string_view text);
}  // namespace detail

/// A list of words by level, separated by commas; words[k] stands for the enumerator of value k.
/// The field's type is "choices".
template <class S, class Enum>
requires std::is_enum_v<Enum> Field<S> field(const std::string& name, ByLevel<Enum> S::*member,
                                             const std::string& meaning,
                                             const std::vector<Word>& words) {
  return {{name, "choices", meaning, "", words},
          [name, member, words](const S& s) {
            std::vector<std::string> chosen;
            for (const Enum value : s.*member) {
              chosen.push_back(detail::print_choice(name, static_cast<int>(value), words));
            }
            return detail::join(chosen, ",");
          },
          [name, member, words](S& s, std::string_view text) {
            std::vector<Enum> values;
            for (const std::string_view word : detail::split_list(text)) {
              values.push_back(static_cast<Enum>(detail::parse_choice(name, word, words)));
            }
            s.*member = ByLevel<Enum>(std::move(values));
          }};
}

/// A list of methods by level, separated by commas.
template <class S, class D>
Field<S> field(const std::string& name, ByLevel<Choice<D>> S::*member, const std::string& meaning) {
  Field<S> f;
  f.name = name;
  f.type = "choices";
  f.meaning = meaning;
  f.family = &D::family();
  f.get = [member](const S& s) {
    std::vector<std::string> chosen;
    for (const Choice<D>& choice : s.*member) chosen.push_back(choice.name());
    return detail::join(chosen, ",");
  };
  f.set = [name, member](S& s, std::string_view text) {
    std::vector<Choice<D>> values;
    for (const std::string_view word : detail::split_list(text)) {
      detail::parse_choice(name, word, D::family().words());
      values.emplace_back(word);
    }
    s.*member = ByLevel<Choice<D>>(std::move(values));
  };
  return f;
}

}  // namespace nodewise
