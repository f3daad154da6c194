#include "nodewise/solver/options.hpp"

#include <algorithm>

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

/// Throws unknown_option, with the nearest name, where there is none of that name.
const KnownField& known_option(std::string_view name) {
  static const std::vector<KnownField> all = [] {
    Options defaults;
    return known_fields(view(defaults, option_fields()));
  }();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const KnownField& f) { return f.info.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const KnownField& field : all) names.push_back(field.info.name);
  detail::throw_unknown_option(name, names);
}

bool has_name(const NamedValues& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

std::span<const Field<MethodOptions>> method_fields() {
  static const std::vector<Field<MethodOptions>> fields = {
      field("preset", &MethodOptions::preset,
            "options for a kind of problem (docs/methods/presets.md); given ones win over them")
          .affecting(Affects::levels)
          .common(),
      field("solver", &MethodOptions::solver, "Krylov method").common('s'),
      field("partition", &MethodOptions::partition,
            "Which rank has which rows, or which virtual rank; solutions come back in the order of "
            "the file")
          .affecting(Affects::rows),
      field("placement", &MethodOptions::placement,
            "Which rank has which of the partition's parts; ranks stay where they are, but virtual "
            "ones are dealt to nodes of `ranks_per_node` by it")
          .affecting(Affects::rows),
      field(
          "balance", &MethodOptions::balance,
          "What ranks get equal shares of, in the order of the rows or in a partition; automatic: "
          "rows without a partition, nonzeros in one",
          {"automatic", "rows", "nonzeros"})
          .affecting(Affects::rows),
      field("reorder", &MethodOptions::reorder,
            "In which order rows are numbered; solutions come back in the order of the file")
          .affecting(Affects::rows),
      field("permute_rows", &MethodOptions::permute_rows,
            "In which order the preconditioner sees the rows; the system solved, its residual and "
            "its tolerance stay those given")
          .affecting(Affects::iterations),
      field("scale", &MethodOptions::scale,
            "How the matrix is scaled that the preconditioner sees, where equations or unknowns "
            "have very different sizes; likewise")
          .affecting(Affects::iterations | Affects::eigenpairs),
      field("preconditioner", &MethodOptions::preconditioner,
            "What turns a residual into a correction")
          .affecting(Affects::iterations | Affects::eigenpairs)
          .common(),
      field("device", &MethodOptions::device, "Where the system is solved (docs/methods/gpu.md)"),
  };
  return fields;
}

void Options::set(std::string_view name, std::string_view value) {
  known_option(name).check(value);
  std::erase_if(given, [&](const auto& entry) { return entry.first == name; });
  given.emplace_back(name, value);
  OptionView<Options> tree(option_fields(), *this);
  const bool chooses = known_option(name).info.family != nullptr;
  const std::span<const NamedValue> all = given;
  set_options_there(tree, chooses ? all : all.last(1));  // a choice brings options
}

std::string Options::get(std::string_view name) const {
  Options copy = *this;
  return get_option(view(copy, option_fields()), name);
}

bool Options::has(std::string_view name) const {
  return has_name(given, name);
}

NamedValues Options::given_or_changed() const {
  Options copy = *this;
  NamedValues all = given;
  visit_fields(view(copy, option_fields()), [&](const OptionSet& set, std::size_t k) {
    const std::string& name = set.info(k).name;
    const std::string value = set.get(k);
    if (!has(name) && value != known_option(name).standard) all.emplace_back(name, value);
  });
  return all;
}

std::span<const Field<Options>> option_fields() {
  static const std::vector<Field<Options>> fields = make_fields();
  return fields;
}

}  // namespace nodewise::solver
