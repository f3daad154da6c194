#include "petsc/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"

#include "petsc/errors.hpp"

namespace nodewise::petsc {

namespace {

using solver::MethodOptions;

std::span<const Field<Settings>> own_fields() {
  static const std::vector<Field<Settings>> fields = {field(
      "reuse", &Settings::reuse, "What is kept where a matrix gets new values in its old places",
      {{"interpolation", "points or aggregates, interpolations and restrictions"},
       {"splitting", "points or aggregates"},
       {"none", "nothing: it is set up anew"}})};
  return fields;
}

/// Whether an option is one of a family of methods, or chooses among them.
bool is_of(const KnownField& field, const FamilyBase& family) {
  return field.info.family == &family ||
         std::any_of(field.owners.begin(), field.owners.end(),
                     [&](const KnownField::Owner& owner) { return owner.kind == family.kind(); });
}

std::vector<KnownField> known_of_methods() {
  MethodOptions defaults;
  return known_fields(view(defaults, solver::method_fields()));
}

std::vector<KnownField> known_of_krylov() {
  solve::Options defaults;
  return known_fields(view(defaults, solve::option_fields()));
}

bool is_for_petsc(const KnownField& field) {
  return is_of(field, solve::KrylovMethod::family()) ||
         is_of(field, offload::DeviceMethod::family());
}

std::vector<KnownField> make_all_options() {
  std::vector<KnownField> all = known_of_methods();
  std::erase_if(all, is_for_petsc);
  const auto append = [&](std::vector<KnownField> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  amg::Options multigrid;
  append(known_fields(view(multigrid, amg::option_fields())));
  mpi::CommSettings comm;
  append(known_fields(view(comm, mpi::setting_fields())));
  Settings own;
  append(known_fields(view(own, own_fields())));
  return all;
}

const KnownField* find(std::span<const KnownField> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const KnownField& f) { return f.info.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

/// Options of the library that PETSc has, too.
constexpr std::array<std::pair<const char*, const char*>, 6> names_in_petsc = {
    {{"solver", "ksp_type"},
     {"tolerance", "ksp_rtol"},
     {"absolute_tolerance", "ksp_atol"},
     {"max_iterations", "ksp_max_it"},
     {"norm", "ksp_norm_type"},
     {"restart", "ksp_gmres_restart"}}};

/// Throws what is wrong with a name.
[[noreturn]] void refuse(const GivenOptions::Stranger& stranger) {
  const std::string of_petsc = option_of_petsc(stranger.name);
  if (!of_petsc.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("-{}: iterations, and the place of vectors, are PETSc's to choose: see "
                            "-{}",
                            stranger.typed, of_petsc));
  }
  std::vector<std::string> names;
  for (const KnownField& f : all_options()) names.push_back(f.info.name);
  const int near = nearest_name(stranger.name, names);
  throw Error(ErrorCode::unknown_option,
              fmt::format("there is no option -{}{}", stranger.typed,
                          near < 0 ? ""
                                   : fmt::format("; did you mean `{}`?",
                                                 names[static_cast<std::size_t>(near)])));
}

/// What a flag without a value is.
std::string value_of(const KnownField& option, const char* text) {
  return *text == '\0' && option.info.type == "flag" ? "true" : text;
}

std::string help_of(const KnownField& option) {
  std::string text = as_typed(option.info.meaning, "");
  const std::string range = option.info.range();
  if (!range.empty()) text += fmt::format("; {}", range);
  const std::string owners = option.owners_text();
  if (!owners.empty()) text += fmt::format("; of {}", owners);
  return text;
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.size() > beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), text.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) ==
                  std::tolower(static_cast<unsigned char>(b));
         });
}

/// Of names that nobody has asked for, those that only this PC could mean.
void append_stranger(std::string_view name, std::string_view prefix,
                     std::vector<GivenOptions::Stranger>& strangers) {
  for (const char* const ours : {option_prefix, short_option_prefix}) {
    const std::string beginning = std::string(prefix) + ours;
    if (!begins_with(name, beginning)) continue;
    strangers.push_back({std::string(name), std::string(name.substr(beginning.size()))});
    return;
  }
}

PetscErrorCode find_strangers(PetscOptions options, const char* prefix,
                              std::vector<GivenOptions::Stranger>& strangers) {
  PetscInt n = 0;
  char **names = nullptr, **values = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(options, &n, &names, &values));
  for (PetscInt i = 0; i < n; ++i) append_stranger(names[i], prefix, strangers);
  PetscCall(PetscOptionsLeftRestore(options, &n, &names, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode look_up_one(PetscOptionItems* PetscOptionsObject, const KnownField& option,
                           solver::NamedValues& values) {
  std::array<char, 4096> text = {};
  PetscBool is_set = PETSC_FALSE, is_set_in_short = PETSC_FALSE;
  const std::string name = std::string("-") + option_prefix + option.info.name;
  const std::string in_short = std::string("-") + short_option_prefix + option.info.name;
  const std::string help = help_of(option);
  std::array<char, 4096> text_in_short = {};
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(PetscOptionsObject->options, PetscOptionsObject->prefix,
                                  in_short.c_str(), text_in_short.data(), text_in_short.size(),
                                  &is_set_in_short));
  PetscCall(PetscOptionsString(name.c_str(), help.c_str(), "PCNODEWISE", option.standard.c_str(),
                               text.data(), text.size(), &is_set));
  if (is_set || is_set_in_short) {
    values.emplace_back(option.info.name,
                        value_of(option, is_set ? text.data() : text_in_short.data()));
  }
  PetscFunctionReturn(0);
}

}  // namespace

std::span<const KnownField> all_options() {
  static const std::vector<KnownField> all = make_all_options();
  return all;
}

bool is_option(std::string_view name) {
  return find(all_options(), name) != nullptr;
}

std::string option_of_petsc(std::string_view name) {
  static const std::vector<KnownField> krylov = known_of_krylov();
  static const std::vector<KnownField> methods = known_of_methods();
  for (const auto& [ours, of_petsc] : names_in_petsc) {
    if (name == ours) return of_petsc;
  }
  if (find(krylov, name) != nullptr) return "ksp_type";
  const KnownField* const method = find(methods, name);
  if (method == nullptr || !is_for_petsc(*method)) return "";
  return is_of(*method, offload::DeviceMethod::family()) ? "vec_type" : "ksp_type";
}

Settings settings_of(const GivenOptions& given) {
  if (!given.strangers.empty()) refuse(given.strangers.front());
  Settings settings;
  for (const auto& [name, value] : given.values) {
    OptionView<mpi::CommSettings> comm(mpi::setting_fields(), settings.comm);
    OptionView<Settings> own(own_fields(), settings);
    if (has_option(comm, name)) {
      set_option(comm, name, value);
    } else if (has_option(own, name)) {
      set_option(own, name, value);
    } else {
      settings.solver.set(name, value);
    }
  }
  return settings;
}

PetscErrorCode look_up(PetscOptionItems* PetscOptionsObject, GivenOptions& given) {
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Nodewise algebraic multigrid");
  for (const KnownField& option : all_options()) {
    PetscCall(look_up_one(PetscOptionsObject, option, given.values));
  }
  PetscOptionsHeadEnd();
  const char* const prefix = PetscOptionsObject->prefix;
  PetscCall(find_strangers(PetscOptionsObject->options, prefix == nullptr ? "" : prefix,
                           given.strangers));
  PetscFunctionReturn(0);
}

}  // namespace nodewise::petsc
