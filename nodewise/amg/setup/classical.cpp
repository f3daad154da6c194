#include "nodewise/amg/setup/classical.hpp"

#include <utility>

#include "nodewise/amg/coarsen/aggressive.hpp"
#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// A level that keeps more of its rows than this is not worth having.
constexpr double max_coarsening_ratio = 0.95;

/// Local. What fails here is left in `failure`.
template <class T>
Strength measure_strength(const DistMatrix<T>& A, const ClassicalOptions& options,
                          std::optional<Error>& failure) {
  const mpi::Scope scope(A.comm(), "strength");
  Strength strength;
  failure = mpi::caught([&] {
    strength = strength_of_connection(A, options.strength_threshold, options.max_row_sum,
                                      options.strength_measure);
  });
  return strength;
}

/// Collective. In two stages where the level asks for that. `failure` is of the strength.
template <class T>
coarsen::Splitting split_level(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                               const Strength& strength, const std::optional<Error>& failure,
                               const ClassicalOptions& options, int seed) {
  const mpi::Scope scope(A.comm(), "splitting");
  const coarsen::Splitter<T> once = [&](const DistMatrix<T>& B, const Strength& of_B,
                                        std::span<const GlobalIndex> blocks) {
    return split(options.coarsening, B, of_B, blocks, seed,
                 &of_B == &strength ? failure : std::nullopt);
  };
  return options.is_aggressive(knowledge.level)
             ? coarsen::aggressive(A, strength, options.aggressive_paths,
                                   std::span(knowledge.virtual_starts), once)
             : once(A, strength, knowledge.virtual_starts);
}

/// Collective. By the formula of the level.
template <class T>
DistMatrix<T> interpolate_level(const DistMatrix<T>& A, const Strength& strength,
                                const coarsen::Splitting& splitting,
                                const comm::Layout& coarse_points, const ProblemInfo<T>& knowledge,
                                const Options& options) {
  const ClassicalOptions& classical = classical_options(options);
  const interpolate::Rules rules = {classical.max_interpolation_entries,
                                    classical.interpolation_truncation,
                                    classical.isolated_couplings};
  const Choice<InterpolationMethod> formula = interpolation_of_level(options, knowledge.level);
  // The levels below a symmetric one are symmetric, too, where the method keeps that.
  const bool symmetric = knowledge.symmetric.value_or(false) && options.method->keeps_symmetry;
  return formula->function<T>()({formula, A, strength, splitting, coarse_points, rules, symmetric});
}

/// The transfer of a level whose couplings are those of A.
template <class T>
GridTransfer<T> transfer_by(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                            const Options& options, const GridTransfer<T>* earlier,
                            const MakeRestriction<T>& make_restriction) {
  const ClassicalOptions& classical = classical_options(options);
  std::optional<Error> failure;
  const Strength strength = measure_strength(A, classical, failure);
  const coarsen::Splitting splitting =
      earlier ? mpi::collectively(A.comm(),
                                  [&] {
                                    if (failure) throw Error(*failure);
                                    return coarsen::splitting_of(A.n_local(), earlier->coarse_rows);
                                  })
              : split_level(A, knowledge, strength, failure, classical, options.seed);
  const comm::Layout coarse_points = coarsen::coarse_layout(A.rows(), splitting);
  const auto n = static_cast<double>(A.rows().n_global());
  const GlobalIndex n_coarse = coarse_points.n_global();
  if (n_coarse == 0 || static_cast<double>(n_coarse) > max_coarsening_ratio * n) return {};
  GridTransfer<T> transfer;
  if (make_restriction) {
    const mpi::Scope scope(A.comm(), "restriction_setup");
    transfer.R =
        std::make_shared<const DistMatrix<T>>(make_restriction(A, splitting, coarse_points));
  }
  const mpi::Scope scope(A.comm(), "interpolation");
  transfer.P = std::make_shared<const DistMatrix<T>>(
      interpolate_level(A, strength, splitting, coarse_points, knowledge, options));
  transfer.failure =
      mpi::caught([&] { transfer.coarse_rows = coarsen::places_of_coarse(splitting); });
  return transfer;
}

Unknowns unknowns_of(const std::vector<LocalIndex>& rows, const Unknowns& unknowns) {
  Unknowns chosen;
  chosen.reserve(rows.size());
  for (const LocalIndex i : rows) chosen.push_back(unknowns[static_cast<std::size_t>(i)]);
  return chosen;
}

}  // namespace

template <class T>
GridTransfer<T> transfer_by_points(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                   const Options& options, const GridTransfer<T>* earlier,
                                   const MakeRestriction<T>& make_restriction) {
  if (options.unknowns == 1) return transfer_by(A, knowledge, options, earlier, make_restriction);
  const Unknowns unknowns = mpi::collectively(A.comm(), [&] {
    return knowledge.level > 0 ? knowledge.unknown_of_row
                               : interleaved_unknowns(A.rows(), options.unknowns);
  });
  GridTransfer<T> transfer =
      transfer_by(same_unknown_part(A, unknowns), knowledge, options, earlier, make_restriction);
  if (!transfer.failure) {
    transfer.failure = mpi::caught(
        [&] { transfer.coarse_unknown_of_row = unknowns_of(transfer.coarse_rows, unknowns); });
  }
  return transfer;
}

template <class T>
GridTransfer<T> classical_transfer(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                   const Options& options, const GridTransfer<T>* earlier) {
  return transfer_by_points(A, knowledge, options, earlier, {});
}

#define NODEWISE_INSTANTIATE(T)                                                            \
  template GridTransfer<T> transfer_by_points(const DistMatrix<T>&, const ProblemInfo<T>&, \
                                              const Options&, const GridTransfer<T>*,      \
                                              const MakeRestriction<T>&);                  \
  template GridTransfer<T> classical_transfer(const DistMatrix<T>&, const ProblemInfo<T>&, \
                                              const Options&, const GridTransfer<T>*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

const LevelMethod& classical_method() {
  constexpr auto asymmetry = [](const Options&) { return std::string(); };
  static const LevelMethod method = {
      {"classical", "some of the points of a level are those of the next", "Ruge, Stueben 1987",
       own_options(classical_fields)},
      true,
      false,
      true,
      false,
      +asymmetry,
      SetupSteps::splitting,
      LevelFunctions<double>{classical_transfer<double>},
      LevelFunctions<float>{classical_transfer<float>},
      "extended_i",
      true};
  return method;
}

}  // namespace nodewise::amg
