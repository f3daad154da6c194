#include "nodewise/solver/tune_candidates.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/presets.hpp"
#include "nodewise/solver/unused_options.hpp"

namespace nodewise::solver {

namespace {

/// What a preset sets, as options.
NamedValues options_of(const Preset& preset, const GivenKnowledge& known, int unknowns) {
  amg::Options ignored;
  NamedValues options = apply_preset(preset, known, unknowns, {}, ignored).set;
  if (preset.method) options.emplace_back("solver", *preset.method);
  options.insert(options.end(), preset.of_system.begin(), preset.of_system.end());
  return options;
}

/// What is tried beside the presets, most promising first.
std::vector<NamedValues> variations() {
  return {{{"aggressive_levels", "1"}, {"aggressive_paths", "2"}},
          {{"strength_threshold", "0.5"}},
          {{"smoother", "chebyshev"}},
          {{"method", "aggregation"}, {"smoother", "chebyshev"}},
          {{"aggressive_levels", "1"}},
          {{"smoother", "chebyshev"}, {"strength_threshold", "0.5"}},
          {{"coarsening", "pmis"}},
          {{"method", "aggregation"}},
          {{"strength_measure", "absolute"}},
          {{"interpolation_truncation", "0.2"}},
          {{"aggressive_levels", "1"}, {"smoother", "chebyshev"}},
          {{"precision", "single"}},
          {{"sweep_order", "symmetric"}},
          {{"strength_threshold", "0.1"}},
          {{"interpolation", "standard"}},
          {{"cycle", "w"}},
          {{"smoother", "ilu0"}, {"solver", "gmres"}},
          {{"smoother", "l1_jacobi"}, {"coarsening", "pmis"}},
          {{"preconditioner", "jacobi"}}};
}

/// What is tried where multigrid cannot be set up.
std::vector<NamedValues> without_multigrid(bool symmetric) {
  std::vector<NamedValues> all = {{{"preconditioner", "none"}, {"solver", "gmres"}},
                                  {{"preconditioner", "ilu"}, {"solver", "gmres"}}};
  if (symmetric) all.push_back({{"preconditioner", "none"}, {"solver", "minres"}});
  return all;
}

/// The options with these; nothing where one of them was given otherwise.
std::optional<Options> options_with(const Options& given, const NamedValues& more) {
  Options options = given;
  for (const auto& [name, value] : more) {
    if (given.has(name)) return std::nullopt;
    options.set(name, value);
  }
  // Every option that was given, and each of these, must be one of a chosen method.
  const auto has_place = [&](const NamedValue& value) {
    return has_option(view(options, option_fields()), value.first);
  };
  if (!std::all_of(options.given.begin(), options.given.end(), has_place)) return std::nullopt;
  return options;
}

/// Puts in what a device that solves needs; what it cannot run is not tried.
bool suit_device(Options& options) {
  if (!offload::solves(options.method.device)) return true;
  try {
    choose_for_setup_on_device(options);
    choose_for_device(options);
    const Choice<solve::KrylovMethod>& solver = options.method.solver;
    check_method(solver.is_automatic() ? *Choice<solve::KrylovMethod>("cg") : *solver, options);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Whether one of these has no effect beside the others.
bool has_unused(const Options& options, const NamedValues& more) {
  const std::vector<UnusedOption> unused = unused_multigrid_options(options);
  return std::any_of(unused.begin(), unused.end(), [&](const UnusedOption& option) {
    return std::any_of(more.begin(), more.end(),
                       [&](const auto& entry) { return entry.first == option.name; });
  });
}

/// Those that are worth a trial, each once.
class Candidates {
 public:
  Candidates(const Options& given, const Problem& problem, int most)
      : given_(given), problem_(problem), most_(most) {}

  void add(const NamedValues& more) {
    if (std::ssize(found_) >= most_) return;
    std::optional<Options> options = options_with(given_, more);
    if (!options) return;
    const amg::LevelMethod& method = *options->amg.method;
    const auto is_given = [&](const NamedValue& fix) { return given_.has(fix.first); };
    if (std::any_of(method.fixes.begin(), method.fixes.end(), is_given)) return;
    if (problem_.is_for_aggregation() && !method.takes_near_null_space) return;
    if (has_unused(*options, more)) return;
    if (!suit_device(*options) && !more.empty()) return;  // the defaults will say why not
    if (!hashes_.insert(hash_of(*options, option_fields())).second) return;
    found_.push_back({more, std::move(*options)});
  }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  const Options& given_;
  const Problem& problem_;
  std::ptrdiff_t most_;
  std::vector<Candidate> found_;
  std::set<std::uint64_t> hashes_;
};

}  // namespace

std::vector<Candidate> tune_candidates(const Options& given, const Problem& problem,
                                       const advise::ProblemFacts& facts, int max_candidates) {
  const GivenKnowledge known = {problem.knows_near_null_space(), given.amg.unknowns,
                                is_nearly_symmetric(facts), offload::solves(given.method.device),
                                leaves_methods_open(given)};
  const int unknowns = given.has("unknowns") ? 1 : points_of(facts);
  Candidates candidates(given, problem, max_candidates);
  // Where multigrid is to be tried first, the ways out of it are not worth a trial.
  const std::vector<PresetChoice> choices = choose_presets(facts, known);
  const bool for_multigrid = choices.front().preset->of_system.empty();
  for (const PresetChoice& choice : choices) {
    if (for_multigrid && !choice.preset->of_system.empty()) continue;
    candidates.add(options_of(*choice.preset, known, unknowns));
  }
  if (known.may_leave_multigrid && facts.zero_diagonals > 0) {
    for (const NamedValues& options : without_multigrid(facts.symmetric)) candidates.add(options);
    return candidates.take();
  }
  candidates.add({});
  const NamedValues points = {{"unknowns", std::to_string(unknowns)}};
  for (const NamedValues& options : variations()) {
    if (unknowns > 1) {  // found, and likely to help with each of them
      NamedValues with_points = points;
      with_points.insert(with_points.end(), options.begin(), options.end());
      candidates.add(with_points);
    } else {
      candidates.add(options);
    }
  }
  for (const Preset& preset : Preset::family()) candidates.add(options_of(preset, known, unknowns));
  return candidates.take();
}

}  // namespace nodewise::solver
