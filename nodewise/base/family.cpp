#include "nodewise/base/family.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace nodewise {

bool MethodInfo::overrules(std::string_view option, std::string_view value) const {
  const auto is_option = [&](const auto& entry) { return entry.first == option; };
  if (std::any_of(fixes.begin(), fixes.end(), is_option)) return true;
  const auto ignored = std::find_if(ignores.begin(), ignores.end(), is_option);
  if (ignored == ignores.end()) return false;
  const std::vector<std::string>& heeded = ignored->second;
  return std::find(heeded.begin(), heeded.end(), value) == heeded.end();
}

std::string FamilyBase::some(const std::function<bool(const MethodInfo&)>& wanted) const {
  std::vector<std::string> chosen;
  for (const MethodInfo* member : members_) {
    if (wanted(*member)) chosen.push_back(*member->name);
  }
  if (chosen.empty()) return "another " + kind_;
  const std::string last = chosen.back();
  chosen.pop_back();
  if (chosen.empty()) return kind_ + " " + last;
  return fmt::format("{} {} or {}", kind_, fmt::join(chosen, ", "), last);
}

std::vector<std::string> FamilyBase::names() const {
  std::vector<std::string> names;
  for (const MethodInfo* member : members_) names.push_back(*member->name);
  return names;
}

std::vector<Word> FamilyBase::words() const {
  std::vector<Word> words;
  if (!automatic_.name.empty()) words.push_back(automatic_);
  for (const MethodInfo* member : members_) words.push_back({*member->name, *member->summary});
  return words;
}

std::size_t FamilyBase::index_of(std::string_view name) const {
  const std::vector<std::string> all = names();
  const auto found = std::find(all.begin(), all.end(), name);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  const int near = nearest_name(name, all);
  const std::string hint =
      near < 0 ? fmt::format("; there are {}", fmt::join(all, ", "))
               : fmt::format("; did you mean '{}'?", all[static_cast<std::size_t>(near)]);
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no {} '{}'{}", kind_, name, hint));
}

void FamilyBase::append(const MethodInfo& member) {
  const std::string& name = member.name;
  const auto is_of_a_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_a_name)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} '{}': a name has lower-case letters, digits and underscores", kind_, name));
  }
  const auto has_name = [&](const MethodInfo* other) { return *other->name == name; };
  if (name == automatic_.name || std::any_of(members_.begin(), members_.end(), has_name)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} '{}': the name is taken", kind_, name));
  }
  members_.push_back(&member);
}

namespace detail {

void copy_common_options(const OptionSet& from, OptionSet& to) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    for (std::size_t j = 0; j < from.size(); ++j) {
      if (from.info(j).name == to.info(k).name && from.info(j).range() == to.info(k).range()) {
        to.set(k, from.get(j));
        const OptionSet* own = from.own(j);
        if (own != nullptr && to.own(k) != nullptr) copy_common_options(*own, *to.own(k));
      }
    }
  }
}

}  // namespace detail

}  // namespace nodewise
