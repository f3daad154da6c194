#include "nodewise/base/option_set.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/family.hpp"

namespace nodewise {

namespace {

struct Place {
  OptionSet* set = nullptr;
  std::size_t k = 0;
};

/// Where a configuration has a field of that name; nowhere where no method that it names has it.
Place find(OptionSet& options, std::string_view name) {
  Place place;
  visit_fields(options, [&](OptionSet& set, std::size_t k) {
    if (place.set == nullptr && set.info(k).name == name) place = {&set, k};
  });
  return place;
}

/// Adds the fields of a struct, and of every method that may be chosen in it. Those that do not
/// say what they affect affect what the choice of their method does.
void collect(const OptionSet& options, const KnownField::Owner* owner, Affects of_choice,
             std::vector<KnownField>& all);

void collect_own(const FieldInfo& choice, std::vector<KnownField>& all) {
  const FamilyBase& family = *choice.family;
  for (std::size_t m = 0; m < family.size(); ++m) {
    const std::unique_ptr<OptionSet> own = family.info(m).options();
    const KnownField::Owner owner = {family.kind(), *family.info(m).name};
    if (own) collect(*own, &owner, choice.affects, all);
  }
}

void collect(const OptionSet& options, const KnownField::Owner* owner, Affects of_choice,
             std::vector<KnownField>& all) {
  const std::shared_ptr<OptionSet> copy = options.clone();
  for (std::size_t k = 0; k < options.size(); ++k) {
    FieldInfo info = options.info(k);
    if (info.affects == Affects::unsaid) info.affects = of_choice;
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const KnownField& f) { return f.info.name == info.name; });
    if (known != all.end()) {
      if (owner != nullptr) known->owners.push_back(*owner);
      continue;
    }
    all.push_back({info, options.get(k), {}, [copy, k](std::string_view text) {
                     copy->clone()->set(k, text);
                   }});
    if (owner != nullptr) all.back().owners.push_back(*owner);
    if (info.family != nullptr && info.type == "choice") collect_own(info, all);
  }
}

[[noreturn]] void throw_unknown(std::string_view name, const std::vector<KnownField>& known) {
  std::vector<std::string> names;
  for (const KnownField& field : known) names.push_back(field.info.name);
  detail::throw_unknown_option(name, names);
}

const KnownField& known_field(const std::vector<KnownField>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const KnownField& f) { return f.info.name == name; });
  if (found == known.end()) throw_unknown(name, known);
  return *found;
}

Place require(OptionSet& options, std::string_view name) {
  const Place place = find(options, name);
  if (place.set != nullptr) return place;
  const std::vector<KnownField> known = known_fields(options);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("option {} needs {}", name, known_field(known, name).owners_text()));
}

/// Whether an option has no effect beside the method that a field chooses.
bool is_overruled(const FamilyBase& family, const std::string& chosen, std::string_view name,
                  const std::string& value) {
  if (chosen == family.automatic().name) return false;
  return family.info(family.index_of(chosen)).overrules(name, value);
}

/// The methods that would let an option have an effect, where one that is chosen does not.
std::string overruled_text(const OptionSet& options, std::string_view name,
                           const std::string& value) {
  std::string text;
  visit_fields(options, [&](const OptionSet& set, std::size_t k) {
    const FieldInfo& info = set.info(k);
    if (!text.empty() || info.family == nullptr || info.type != "choice") return;
    if (!is_overruled(*info.family, set.get(k), name, value)) return;
    text = info.family->some([&](const MethodInfo& m) { return !m.overrules(name, value); });
  });
  return text;
}

}  // namespace

void visit_fields(OptionSet& options, const std::function<void(OptionSet&, std::size_t)>& visit) {
  for (std::size_t k = 0; k < options.size(); ++k) {
    visit(options, k);
    if (OptionSet* own = options.own(k)) visit_fields(*own, visit);
  }
}

void visit_fields(const OptionSet& options,
                  const std::function<void(const OptionSet&, std::size_t)>& visit) {
  for (std::size_t k = 0; k < options.size(); ++k) {
    visit(options, k);
    if (const OptionSet* own = options.own(k)) visit_fields(*own, visit);
  }
}

void set_option(OptionSet& options, std::string_view name, std::string_view value) {
  const Place place = require(options, name);
  place.set->set(place.k, value);
}

std::string get_option(const OptionSet& options, std::string_view name) {
  const std::unique_ptr<OptionSet> copy = options.clone();
  const Place place = require(*copy, name);
  return place.set->get(place.k);
}

std::string needed_by(const OptionSet& options, std::string_view name) {
  const std::unique_ptr<OptionSet> copy = options.clone();
  const Place place = find(*copy, name);
  if (place.set == nullptr) {
    const std::vector<KnownField> known = known_fields(options);
    return known_field(known, name).owners_text();
  }
  if (!place.set->is_met(place.k)) return place.set->info(place.k).needs;
  return overruled_text(options, name, place.set->get(place.k));
}

std::string KnownField::owners_text(std::string_view prefix) const {
  std::string text;
  for (std::size_t k = 0; k < owners.size(); ++k) {
    const bool same_kind = k > 0 && owners[k].kind == owners[k - 1].kind;
    const bool last_of_kind = k + 1 == owners.size() || owners[k + 1].kind != owners[k].kind;
    if (k > 0) text += !same_kind ? ", or " : last_of_kind ? " or " : ", ";
    std::string kind = owners[k].kind;
    if (!prefix.empty()) std::replace(kind.begin(), kind.end(), '_', '-');  // as an option
    if (!same_kind) text += fmt::format("{}{} ", prefix, kind);
    text += owners[k].name;
  }
  return text;
}

bool has_option(const OptionSet& options, std::string_view name) {
  const std::unique_ptr<OptionSet> copy = options.clone();
  return find(*copy, name).set != nullptr;
}

std::vector<NamedValue> set_options_there(OptionSet& options, std::span<const NamedValue> values) {
  std::vector<NamedValue> left(values.begin(), values.end());
  const auto set_first = [&](const auto& is_wanted) {
    const auto found = std::find_if(left.begin(), left.end(), [&](const NamedValue& value) {
      const Place place = find(options, value.first);
      return place.set != nullptr && is_wanted(place.set->info(place.k));
    });
    if (found == left.end()) return false;
    set_option(options, found->first, found->second);
    left.erase(found);
    return true;
  };
  // A choice brings options, some of which are choices again.
  while (set_first([](const FieldInfo& info) { return info.family != nullptr; })) continue;
  while (set_first([](const FieldInfo&) { return true; })) continue;
  return left;
}

void set_options(OptionSet& options, std::span<const NamedValue> values) {
  for (const auto& [name, value] : set_options_there(options, values)) {
    set_option(options, name, value);  // which throws
  }
}

std::vector<KnownField> known_fields(const OptionSet& defaults) {
  std::vector<KnownField> all;
  collect(defaults, nullptr, Affects::unsaid, all);
  return all;
}

std::uint64_t hash_of(const OptionSet& options) {
  std::uint64_t h = 0;
  visit_fields(options, [&](const OptionSet& set, std::size_t k) {
    for (const char c : set.get(k)) h = hash64(static_cast<unsigned char>(c), h);
    h = hash64(0, h);
  });
  return h;
}

void check_options(const OptionSet& options) {
  const std::unique_ptr<OptionSet> copy = options.clone();
  visit_fields(options, [&](const OptionSet& set, std::size_t k) {
    const std::unique_ptr<OptionSet> other = set.clone();
    other->set(k, set.get(k));
  });
}

}  // namespace nodewise
