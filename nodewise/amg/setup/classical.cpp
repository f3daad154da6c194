#include "nodewise/amg/setup/classical.hpp"

#include <utility>

#include "nodewise/amg/coarsen/aggressive.hpp"
#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/restriction/local_air.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// A level that keeps more of its rows than this is not worth having.
constexpr double max_coarsening_ratio = 0.95;

template <class T>
Strength measure_strength(const DistMatrix<T>& A, const Options& options) {
  const mpi::Scope scope(A.comm(), "strength");
  return mpi::collectively(A.comm(), [&] {
    return strength_of_connection(A, options.strength_threshold, options.max_row_sum,
                                  options.strength_measure);
  });
}

/// In two stages where the level asks for that.
template <class T>
coarsen::Splitting split_level(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                               const Strength& strength, const Options& options) {
  const mpi::Scope scope(A.comm(), "splitting");
  const coarsen::Splitter<T> once = [&](const DistMatrix<T>& B, const Strength& of_B,
                                        std::span<const GlobalIndex> blocks) {
    return split(B, of_B, blocks, options);
  };
  return is_aggressive(knowledge.level, options)
             ? coarsen::aggressive(A, strength, options.aggressive_paths,
                                   std::span(knowledge.virtual_starts), once)
             : once(A, strength, knowledge.virtual_starts);
}

template <class T>
DistMatrix<T> interpolate_by(Interpolation formula, const DistMatrix<T>& A,
                             const Strength& strength, const coarsen::Splitting& splitting,
                             const comm::Layout& coarse_points, const interpolate::Rules& rules,
                             bool symmetric) {
  switch (formula) {
    case Interpolation::automatic:
      break;
    case Interpolation::extended_i:
      return interpolate::extended_i(A, strength, splitting, coarse_points, rules, symmetric);
    case Interpolation::extended:
      return interpolate::extended(A, strength, splitting, coarse_points, rules);
    case Interpolation::standard:
      return interpolate::standard(A, strength, splitting, coarse_points, rules, symmetric);
    case Interpolation::modified_classical:
      return interpolate::modified_classical(A, strength, splitting, coarse_points, rules);
    case Interpolation::classical:
      return interpolate::classical(A, strength, splitting, coarse_points, rules);
    case Interpolation::direct:
      return interpolate::direct(A, strength, splitting, coarse_points, rules);
    case Interpolation::multipass:
      return interpolate::multipass(A, strength, splitting, coarse_points, rules);
    case Interpolation::one_point:
      return interpolate::one_point(A, strength, splitting, coarse_points, rules);
  }
  throw Error(ErrorCode::internal, "an interpolation without a formula");
}

/// The levels below a symmetric one are symmetric, too, where the restriction is the transpose of
/// the prolongation.
template <class T>
bool is_known_symmetric(const ProblemInfo<T>& knowledge, const Options& options) {
  return knowledge.symmetric.value_or(false) && options.method != Method::air;
}

coarsen::Splitting splitting_of(LocalIndex n_rows, const std::vector<LocalIndex>& coarse_rows) {
  coarsen::Splitting splitting(static_cast<std::size_t>(n_rows), coarsen::fine);
  for (const LocalIndex i : coarse_rows) splitting[static_cast<std::size_t>(i)] = coarsen::coarse;
  return splitting;
}

std::vector<LocalIndex> coarse_rows(const coarsen::Splitting& splitting) {
  std::vector<LocalIndex> rows;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == coarsen::coarse) rows.push_back(static_cast<LocalIndex>(i));
  }
  return rows;
}

/// The transfer of a level whose couplings are those of A.
template <class T>
GridTransfer<T> transfer_by(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                            const Options& options, const GridTransfer<T>* earlier) {
  const Strength strength = measure_strength(A, options);
  const coarsen::Splitting splitting =
      earlier ? mpi::collectively(A.comm(),
                                  [&] { return splitting_of(A.n_local(), earlier->coarse_rows); })
              : split_level(A, knowledge, strength, options);
  const comm::Layout coarse_points = coarsen::coarse_layout(A.rows(), splitting);
  const auto n = static_cast<double>(A.rows().n_global());
  const GlobalIndex n_coarse = coarse_points.n_global();
  if (n_coarse == 0 || static_cast<double>(n_coarse) > max_coarsening_ratio * n) return {};
  GridTransfer<T> transfer;
  if (options.method == Method::air) {
    const mpi::Scope scope(A.comm(), "restriction_setup");
    transfer.R = std::make_shared<const DistMatrix<T>>(
        restriction::local_air(A, splitting, coarse_points,
                               {options.restriction_distance, options.restriction_threshold,
                                options.restriction_truncation}));
  }
  const mpi::Scope scope(A.comm(), "interpolation");
  transfer.P = std::make_shared<const DistMatrix<T>>(
      interpolate_by(formula_of(knowledge.level, options), A, strength, splitting, coarse_points,
                     {options.max_interpolation_entries, options.interpolation_truncation,
                      options.isolated_couplings},
                     is_known_symmetric(knowledge, options)));
  transfer.failure = mpi::caught([&] { transfer.coarse_rows = coarse_rows(splitting); });
  return transfer;
}

Unknowns unknowns_of(const std::vector<LocalIndex>& rows, const Unknowns& unknowns) {
  Unknowns chosen;
  chosen.reserve(rows.size());
  for (const LocalIndex i : rows) chosen.push_back(unknowns[static_cast<std::size_t>(i)]);
  return chosen;
}

}  // namespace

bool is_aggressive(int level, const Options& options) {
  return level < options.aggressive_levels;
}

Interpolation formula_of(int level, const Options& options) {
  if (is_aggressive(level, options)) return Interpolation::multipass;
  if (options.interpolation != Interpolation::automatic) return options.interpolation;
  return options.method == Method::air ? Interpolation::one_point : Interpolation::extended_i;
}

template <class T>
coarsen::Splitting split(const DistMatrix<T>& A, const Strength& strength,
                         std::span<const GlobalIndex> blocks, const Options& options) {
  const auto of_blocks = [&](int passes) {
    return mpi::collectively(A.comm(),
                             [&] { return coarsen::ruge_stueben(A, strength, passes, blocks); });
  };
  switch (options.coarsening) {
    case Coarsening::hmis:
      return coarsen::hmis(A, strength, options.seed, blocks);
    case Coarsening::pmis:
      return coarsen::pmis(A, strength, options.seed);
    case Coarsening::cljp:
      return coarsen::cljp(A, strength, options.seed);
    case Coarsening::falgout:
      return coarsen::falgout(A, strength, options.seed, blocks);
    case Coarsening::ruge_stueben:
      return of_blocks(2);
    case Coarsening::ruge_stueben_first_pass:
      return of_blocks(1);
  }
  throw Error(ErrorCode::internal, "a coarsening without a splitting");
}

template <class T>
GridTransfer<T> classical_transfer(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                   const Options& options, const GridTransfer<T>* earlier) {
  if (options.unknowns == 1) return transfer_by(A, knowledge, options, earlier);
  const Unknowns unknowns = mpi::collectively(A.comm(), [&] {
    return knowledge.level > 0 ? knowledge.unknown_of_row
                               : interleaved_unknowns(A.rows(), options.unknowns);
  });
  GridTransfer<T> transfer =
      transfer_by(same_unknown_part(A, unknowns), knowledge, options, earlier);
  if (!transfer.failure) {
    transfer.failure = mpi::caught(
        [&] { transfer.coarse_unknown_of_row = unknowns_of(transfer.coarse_rows, unknowns); });
  }
  return transfer;
}

template coarsen::Splitting split(const DistMatrix<float>&, const Strength&,
                                  std::span<const GlobalIndex>, const Options&);
template coarsen::Splitting split(const DistMatrix<double>&, const Strength&,
                                  std::span<const GlobalIndex>, const Options&);
template GridTransfer<float> classical_transfer(const DistMatrix<float>&, const ProblemInfo<float>&,
                                                const Options&, const GridTransfer<float>*);
template GridTransfer<double> classical_transfer(const DistMatrix<double>&,
                                                 const ProblemInfo<double>&, const Options&,
                                                 const GridTransfer<double>*);

}  // namespace nodewise::amg
