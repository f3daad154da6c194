#include "nodewise/solver/apply_preset.hpp"

#include <algorithm>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solver/presets.hpp"
#include "nodewise/solver/unused_options.hpp"

namespace nodewise::solver {

namespace {

void apply_method(const Preset& preset, Options& options, PresetRecord& record) {
  if (!preset.method) return;
  const std::string& name = *preset.method;
  const bool suits = options.amg.cycle->is_fixed ||
                     !solve::KrylovMethod::family().find(name).needs_fixed_preconditioner;
  if (!suits && !options.has("solver")) return;  // chosen by the cycle then
  if (options.has("solver")) {
    record.kept.emplace_back("solver", name);
    return;
  }
  options.method.solver.choose(name);
  record.set.emplace_back("solver", name);
  record.set_solver = true;
}

/// Puts in what a preset sets besides the options of multigrid and the Krylov method.
void apply_to_system(const Preset& preset, Options& options, PresetRecord& record) {
  NamedValues set;
  for (const NamedValue& value : preset.of_system) {
    (options.has(value.first) ? record.kept : set).push_back(value);
  }
  OptionView<Options> tree(option_fields(), options);
  const NamedValues left = set_options_there(tree, set);  // of a method that was given otherwise
  for (const NamedValue& value : set) {
    const bool has_place = std::find(left.begin(), left.end(), value) == left.end();
    (has_place ? record.set : record.kept).push_back(value);
  }
}

bool depends_on_symmetry(const Preset& preset) {
  return std::any_of(preset.sets.begin(), preset.sets.end(), [](const PresetOption& option) {
    return option.where == SetWhere::with_near_null_space_if_symmetric;
  });
}

/// Collective. The preset, and what is to be known for it; looks at the matrix where it must.
const Preset& find_preset(const matrix::DistMatrix<double>& A, const PresetContext& context,
                          const Options& options, GivenKnowledge& known, int& unknowns,
                          PresetRecord& record) {
  const Choice<Preset>& asked = options.method.preset;
  const bool amg = options.method.preconditioner->is_multigrid;
  const bool square = A.rows() == A.cols();  // another is for multigrid to refuse
  const bool is_open = asked.is_automatic();
  const bool takes_unknowns = !is_open && asked->takes_unknowns && !options.has("unknowns");
  const bool takes_symmetry = !is_open && !context.symmetric && depends_on_symmetry(*asked);
  if (amg && square && (is_open || takes_unknowns || takes_symmetry)) {
    const mpi::Scope scope(A.comm(), "examination", 0);
    const advise::ProblemFacts facts = advise::problem_facts(A, context.symmetric);
    if (is_open || takes_unknowns) unknowns = points_of(facts);
    known.symmetric = is_nearly_symmetric(facts);
    if (is_open) {
      const std::vector<PresetChoice> choices = choose_presets(facts, known);
      record.reason = choices.front().reason;
      record.rule = asked.name();
      record.ways_out.assign(choices.begin() + 1, choices.end());
      return *choices.front().preset;
    }
  }
  return is_open ? Preset::family().find("default") : *asked;
}

/// Those of multigrid.
NamedValues given_of_multigrid(const Options& options) {
  amg::Options defaults;
  NamedValues given;
  for (const KnownField& f : known_fields(view(defaults, amg::option_fields()))) {
    for (const NamedValue& value : options.given) {
      if (value.first == f.info.name) given.push_back(value);
    }
  }
  return given;
}

}  // namespace

PresetRecord apply_preset(const matrix::DistMatrix<double>& A, const PresetContext& context,
                          Options& options) {
  GivenKnowledge known = {
      .near_null_space = context.knows_near_null_space,
      .unknowns = options.amg.unknowns,
      .on_device = context.on_device || offload::solves(options.method.device),
      .may_leave_multigrid = context.may_leave_multigrid && leaves_methods_open(options)};
  int unknowns = 1;
  PresetRecord record;
  const Preset& preset = find_preset(A, context, options, known, unknowns, record);
  record.name = preset.name;
  AppliedPreset applied =
      apply_preset(preset, known, unknowns, given_of_multigrid(options), options.amg);
  // Some recurrences multiply what a preconditioner is short of linear by, in single precision
  // 1e-7.
  const Choice<solve::KrylovMethod>& solver = options.method.solver;
  const bool useful =
      context.solves && (solver.is_automatic() || !solver->needs_linear_preconditioner);
  if (!useful && !options.has("precision")) {
    options.amg.precision = amg::Precision::same;
    std::erase_if(applied.set, [](const auto& option) { return option.first == "precision"; });
  }
  record.set = std::move(applied.set);
  record.kept = std::move(applied.kept);
  apply_to_system(preset, options, record);
  apply_method(preset, options, record);
  return record;
}

}  // namespace nodewise::solver
