#include "nodewise/solver/options.hpp"

#include <algorithm>

#include "nodewise/solver/presets.hpp"

namespace nodewise::solver {

namespace {

/// The field of a struct that is a member of Options.
template <class S>
Field<Options> field_of(const Field<S>& f, S Options::*member) {
  Field<Options> field;
  static_cast<FieldInfo&>(field) = f;
  field.get = [&f, member](const Options& o) { return f.get(o.*member); };
  field.set = [&f, member](Options& o, std::string_view text) { f.set(o.*member, text); };
  if (f.is_met) field.is_met = [&f, member](const Options& o) { return f.is_met(o.*member); };
  if (f.own) field.own = [&f, member](Options& o) { return f.own(o.*member); };
  return field;
}

std::vector<Field<Options>> make_fields() {
  std::vector<Field<Options>> fields;
  for (const auto& f : method_fields()) fields.push_back(field_of(f, &Options::method));
  for (const auto& f : solve::option_fields()) fields.push_back(field_of(f, &Options::krylov));
  for (const auto& f : amg::option_fields()) fields.push_back(field_of(f, &Options::amg));
  return fields;
}

bool has_name(const NamedValues& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

const char* to_string(PreconditionerChoice choice) noexcept {
  switch (choice) {
    case PreconditionerChoice::amg:
      return "amg";
    case PreconditionerChoice::jacobi:
      return "jacobi";
    case PreconditionerChoice::none:
      return "none";
  }
  return "";
}

std::span<const Field<MethodOptions>> method_fields() {
  const std::vector<std::string> presets = preset_names();
  const std::vector<Word> words(presets.begin(), presets.end());
  static const std::vector<Field<MethodOptions>> fields = {
      {{"preset", "choice",
        "a named set of options for a kind of problem (docs/methods/presets.md); options that are "
        "given win over it. auto looks at the matrix and says why it chose",
        "", words},
       [](const MethodOptions& s) { return s.preset; },
       [presets, words](MethodOptions& s, std::string_view text) {
         const int k = detail::parse_choice("preset", text, words);
         s.preset = presets[static_cast<std::size_t>(k)];
       }},
      field("solver", &MethodOptions::solver,
            "Krylov method; auto takes cg where the matrix is symmetric, unless all of its "
            "diagonal is negative, and gmres where it is not",
            {"auto", "cg", "flexible_cg", "pipelined_cg", "enlarged_cg", "minres", "gmres",
             "fgmres", "bicgstab", "stationary"}),
      field("preconditioner", &MethodOptions::preconditioner,
            "algebraic multigrid, division by the diagonal, or nothing", {"amg", "jacobi", "none"}),
  };
  return fields;
}

void Options::set(std::string_view name, std::string_view value) {
  set_option(*this, option_fields(), name, value);
  std::erase_if(given, [&](const auto& entry) { return entry.first == name; });
  given.emplace_back(name, value);
}

std::string Options::get(std::string_view name) const {
  Options copy = *this;
  return get_option(view(copy, option_fields()), name);
}

bool Options::has(std::string_view name) const {
  return has_name(given, name);
}

NamedValues Options::given_or_changed() const {
  static const Options defaults;
  NamedValues all = given;
  for (const Field<Options>& f : option_fields()) {
    const std::string value = f.get(*this);
    if (!has(f.name) && value != f.get(defaults)) all.emplace_back(f.name, value);
  }
  return all;
}

std::span<const Field<Options>> option_fields() {
  static const std::vector<Field<Options>> fields = make_fields();
  return fields;
}

}  // namespace nodewise::solver
