#include "nodewise/solver/apply_preset.hpp"

#include <optional>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solver/presets.hpp"

namespace nodewise::solver {

namespace {

void apply_method(const Preset& preset, Options& options, PresetRecord& record) {
  if (!preset.method) return;
  const bool suits =
      options.amg.cycle != amg::CycleKind::k || !solve::needs_fixed_preconditioner(*preset.method);
  if (!suits && !options.has("solver")) return;  // chosen by the cycle then
  const std::string name = solve::to_string(*preset.method);
  if (options.has("solver")) {
    record.kept.emplace_back("solver", name);
    return;
  }
  options.method.solver = static_cast<SolverChoice>(static_cast<int>(*preset.method) + 1);
  record.set.emplace_back("solver", name);
  record.set_solver = true;
}

std::vector<std::string> names_of(const NamedValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

}  // namespace

PresetRecord apply_preset(const matrix::DistMatrix<double>& A, const PresetContext& context,
                          Options& options) {
  const std::optional<ChoiceRule> rule = find_choice_rule(options.method.preset);
  const bool amg = options.method.preconditioner == PreconditionerChoice::amg;
  const GivenKnowledge known = {context.knows_near_null_space, options.amg.unknowns};
  const Preset* preset = rule ? nullptr : &find_preset(options.method.preset);
  int unknowns = 1;
  PresetRecord record;
  const bool square = A.rows() == A.cols();  // another is for multigrid to refuse
  if (amg && square && (rule || (preset->takes_unknowns && !options.has("unknowns")))) {
    const mpi::Scope scope(A.comm(), "examination", 0);
    const advise::ProblemFacts facts = advise::problem_facts(A, context.symmetric);
    unknowns = facts.unknowns;
    if (rule) {
      const PresetChoice choice = choose_preset(facts, known, *rule);
      preset = choice.preset;
      record.reason = choice.reason;
      record.rule = to_string(*rule);
    }
  }
  if (preset == nullptr) preset = &find_preset("default");
  record.name = preset->name;
  record.version = preset->version;
  AppliedPreset applied =
      apply_preset(*preset, known, unknowns, names_of(options.given), options.amg);
  // The recurrences of pipelined CG multiply what a preconditioner is short of linear by, in
  // single precision 1e-7.
  const bool useful = context.solves && options.method.solver != SolverChoice::pipelined_cg;
  if (!useful && !options.has("precision")) {
    options.amg.precision = amg::Precision::same;
    std::erase_if(applied.set, [](const auto& option) { return option.first == "precision"; });
  }
  record.set = std::move(applied.set);
  record.kept = std::move(applied.kept);
  apply_method(*preset, options, record);
  return record;
}

}  // namespace nodewise::solver
