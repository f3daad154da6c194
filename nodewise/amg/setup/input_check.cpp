#include "nodewise/amg/setup/input_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/row_text.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/kernels/bsr.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// The rows that are divided by together: those of a point where a smoother inverts their block and
/// nothing else needs a diagonal, as classical interpolation does; that of an aggregation leaves
/// rows without one alone.
int rows_divided_by(const Options& options) {
  return !options.method->has_coarse_points && options.smoother->blocks == relax::BlockUse::always
             ? options.unknowns
             : 1;
}

/// Without an early end, which would be a jump for every value.
template <class T>
bool all_finite(const kernels::Csr<T>& part, LocalIndex begin, LocalIndex end) {
  const T* const vals = part.vals.data();
  const Offset last = part.begin(end);
  int infinite = 0;
  for (Offset k = part.begin(begin); k < last; ++k) {
    infinite |= std::abs(vals[k]) <= std::numeric_limits<T>::max() ? 0 : 1;
  }
  return infinite == 0;
}

/// Why multigrid cannot take a row.
enum class Fault : int { none, not_finite, empty, no_diagonal, singular_block };

/// `block` is how many rows a smoother solves for at once.
template <class T>
Fault fault_of(const DistMatrix<T>& A, LocalIndex i, T diagonal, int block) {
  if (!all_finite(A.on(), i, i + 1) || !all_finite(A.off(), i, i + 1)) return Fault::not_finite;
  if (A.row_length(i) == 0) return Fault::empty;
  if (diagonal != T{}) return Fault::none;
  if (block == 1) return Fault::no_diagonal;
  return relax::has_invertible_block(A.on(), i / block, block) ? Fault::none
                                                               : Fault::singular_block;
}

/// Local. Calls visit(row, fault) for the rows of [first, last) that have one.
template <class T, class Visit>
void visit_faults(const DistMatrix<T>& A, const Options& options, LocalIndex first, LocalIndex last,
                  Visit&& visit) {
  LocalIndex place = 0;
  const auto check = [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex i = begin; i < end; ++i) {
      const T diagonal = kernels::diagonal_entry(A.on(), i, place);
      const Fault fault = fault_of(A, i, diagonal, rows_divided_by(options));
      if (fault != Fault::none) visit(i, fault);
    }
  };
  kernels::RowBlocks<T>(A.on(), first, last).upwards(first, last, check);
}

/// What is wrong with a row, or with several.
std::string fault_text(Fault fault, bool several) {
  constexpr const char* others =
      " Saddle point: `preconditioner direct`, by its factors, or `solver minres`, `preconditioner "
      "none`. Adjacency matrix of a graph: `graph_laplacian`";
  switch (fault) {
    case Fault::not_finite:
      return several ? "have entries that are not finite numbers"
                     : "has an entry that is not a finite number";
    case Fault::empty:
      return several ? "are empty, so the matrix is singular"
                     : "is empty, so the matrix is singular";
    case Fault::no_diagonal:
      return std::string(several ? "have" : "has") +
             " no nonzero diagonal entry, which multigrid needs." + others;
    case Fault::singular_block:
      return std::string(several ? "have" : "has") +
             " no nonzero diagonal entry, and the diagonal block of the point, which the smoother "
             "inverts, is singular." +
             others;
    case Fault::none:
      break;
  }
  return "";
}

/// Collective, after every rank has agreed that some row has a fault. Of several faults the first
/// of their list is the one that says most; names the first row that has it, and says how many do.
template <class T>
[[noreturn]] void refuse_rows(const DistMatrix<T>& A, const Options& options) {
  const GlobalIndex n = A.rows().n_global();
  std::array<GlobalIndex, 5> firsts, counts{};
  firsts.fill(A.rows().last());
  visit_faults(A, options, 0, A.n_local(), [&](LocalIndex i, Fault found) {
    const auto f = static_cast<std::size_t>(found);
    firsts[f] = std::min(firsts[f], A.rows().to_global(i));
    ++counts[f];
  });
  mpi::sum_in_place(A.comm(), std::span<GlobalIndex>(counts));
  const auto found =
      std::find_if(counts.begin(), counts.end(), [](GlobalIndex c) { return c > 0; });
  const auto fault = static_cast<std::size_t>(found - counts.begin());
  const std::string where = row_text(mpi::min(A.comm(), firsts[fault]));
  const std::string who = *found == 1 ? where + ", "
                                      : std::to_string(*found) + " of " + std::to_string(n) +
                                            " rows (first: " + where + ") ";
  throw Error(ErrorCode::unsuitable_matrix,
              "multigrid setup: " + who + fault_text(static_cast<Fault>(fault), *found > 1));
}

}  // namespace

void check_overlap(const Options& options) {
  const bool asks = std::any_of(options.overlap.begin(), options.overlap.end(),
                                [](auto overlap) { return overlap == comm::Overlap::task; });
  if (!asks || parallel::threads() == 1 || mpi::may_talk_beside_threads()) return;
  throw Error(ErrorCode::unsupported,
              "`overlap task` on several threads needs MPI_Init_thread with MPI_THREAD_FUNNELED or "
              "more, and to be called by the thread that called it");
}

template <class T>
void check_matrix(const DistMatrix<T>& A, const Options& options, const mpi::Same& same) {
  if (!(A.rows() == A.cols())) {
    throw Error(
        ErrorCode::dimension_mismatch,
        "multigrid setup: the matrix is not square (or its row and column ranges differ): " +
            std::to_string(A.rows().n_global()) + " x " + std::to_string(A.cols().n_global()));
  }
  const auto error = mpi::caught([&] {
    check_options(options, option_fields());
    check_overlap(options);
    parallel::for_rows(A.on().row_ptr, [&](LocalIndex first, LocalIndex last) {
      visit_faults(A, options, first, last, [](LocalIndex, Fault) {
        throw Error(ErrorCode::unsuitable_matrix, "");  // all ranks count such rows then
      });
    });
  });
  try {
    mpi::agree_on_same(A.comm(), error, same);
  } catch (const Error& agreed) {
    if (agreed.code() == ErrorCode::unsuitable_matrix) refuse_rows(A, options);
    throw;
  }
}

namespace {

/// Whether the finest matrix is symmetric, if that is known or anything depends on it. Replaces
/// what was left to that.
template <class T>
std::optional<bool> resolve_automatic(Options& options, const DistMatrix<T>& A,
                                      std::optional<bool> known) {
  const bool sweeps = !options.smoother->is_directed() ||
                      relax::order_of(options.smoother) == SweepOrder::automatic;
  const bool measure = options.method->has_coarse_points &&
                       classical_options(options).strength_measure == StrengthMeasure::automatic;
  const bool others =
      options.method->asks_for_symmetry || options.cycle->visit == CoarseVisit::iterate ||
      options.precision == Precision::automatic || options.smoother->needs_spectral_radius;
  if (!sweeps && !measure && !others) return known;
  const bool symmetric = known ? *known : matrix::is_symmetric(A);
  if (sweeps) {
    relax::set_order(options.smoother, resolved(SweepOrder::automatic, symmetric));
  }
  if (measure) {
    classical_options(options).strength_measure =
        symmetric ? StrengthMeasure::opposite_sign : StrengthMeasure::absolute;
  }
  return symmetric;
}

/// Local. Of what has to be the same on every rank, but for what check_aggregation() looks at; 0
/// where the options have no text.
template <class T>
std::uint64_t hash_of_arguments(const Options& options, const ProblemInfo<T>& knowledge) {
  std::uint64_t h = 0;
  if (mpi::caught([&] { h = hash_of(options, option_fields()); })) return 0;
  return hash64(knowledge.symmetric ? 1 + *knowledge.symmetric : 0, h);
}

/// Local; the same on every rank. Refuses points that no block smoother takes: those of the finest
/// matrix, or of the coarse ones, which have a row for each vector of the near null space.
template <class T>
void check_blocks(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge, const Options& options) {
  if (options.smoother->blocks != relax::BlockUse::always) return;
  const int vectors =
      options.method->takes_near_null_space ? knowledge.near_null_space.n_vectors : 0;
  const int largest = std::max(options.unknowns, vectors);
  if (largest > kernels::max_block) {
    throw Error(ErrorCode::unsupported, "multigrid setup: points of " + std::to_string(largest) +
                                            " rows, where block smoothers take up to " +
                                            std::to_string(kernels::max_block) +
                                            "; use another smoother");
  }
  comm::require_whole_points(A.rows(), options.unknowns);
}

void check_groups(bool has_virtual_ranks, const Options& options) {
  if (!options.redistribution->moves_rows) return;
  const Choice<GroupMethod>& groups = options.redistribution_groups;
  if (!(*groups->is_available)()) {
    throw Error(ErrorCode::unsupported, "multigrid setup: redistribution_groups " + groups.name() +
                                            " takes METIS, which this build of Nodewise has not "
                                            "(Debian: libmetis-dev)");
  }
  if (has_virtual_ranks && groups->needs_couplings) {
    throw Error(ErrorCode::unsupported, "multigrid setup: redistribution_groups " + groups.name() +
                                            " is not for levels of virtual ranks, whose rows keep "
                                            "their numbers");
  }
}

void check_move(bool has_virtual_ranks, const Options& options) {
  if (!options.redistribution->moves_rows || !options.redistribution_move->moves_vectors) return;
  if (makes_copies(options.redistribution)) {
    throw Error(ErrorCode::unsupported,
                "multigrid setup: redistribution_move " + options.redistribution_move.name() +
                    " gathers rows on one rank of each group, leave redundant away");
  }
  if (has_virtual_ranks) {
    throw Error(ErrorCode::unsupported,
                "multigrid setup: levels of virtual ranks are moved by redistribution_move direct");
  }
}

/// Local; the same on every rank.
void check_sparsification(bool nodes_are_missing, const Options& options) {
  if (!options.sparsification->drops_entries) return;
  const auto& drop = options.sparsification.options<SparsificationOptions>().drop;
  if (nodes_are_missing && options.sparsification->asks_costs) {
    throw Error(ErrorCode::invalid_argument,
                "multigrid setup: to choose what coarse matrices of virtual ranks lose, their "
                "nodes must be known (ProblemInfo::virtual_topology)");
  }
  if (nodes_are_missing && !drop->drops_on_one_node) {
    throw Error(ErrorCode::invalid_argument,
                "multigrid setup: to drop messages between nodes of virtual ranks, these must be "
                "known (ProblemInfo::virtual_topology)");
  }
  if (options.method->keeps_symmetry && !has_smoothed_restriction(options)) return;
  throw Error(ErrorCode::unsupported,
              "multigrid setup: sparsification is for levels whose restriction is the transposed "
              "interpolation, which those of method " +
                  options.method.name() + " with these options are not; leave it away");
}

}  // namespace

template <class T>
std::optional<bool> examine(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                            Options& options) {
  const mpi::Scope scope(A.comm(), "examination", 0);
  check_matrix(A, options,
               {hash_of_arguments(options, knowledge), "multigrid setup: options and knowledge"});
  complete(options);
  check_sweep_order(options);
  check_coarse_rows(options);
  check_blocks(A, knowledge, options);
  const bool has_nodes = knowledge.virtual_topology != nullptr &&
                         knowledge.virtual_topology->n_ranks() + 1 ==
                             static_cast<int>(knowledge.virtual_starts.size());
  if (!knowledge.virtual_starts.empty() && !has_nodes && options.redistribution->moves_rows) {
    throw Error(ErrorCode::invalid_argument,
                "multigrid setup: to put levels of virtual ranks on fewer, their nodes must be "
                "known (ProblemInfo::virtual_topology)");
  }
  check_groups(!knowledge.virtual_starts.empty(), options);
  check_move(!knowledge.virtual_starts.empty(), options);
  check_sparsification(!knowledge.virtual_starts.empty() && !has_nodes, options);
  if (const auto check = options.method->functions<T>().check) check(A, knowledge, options);
  return resolve_automatic(options, A, knowledge.symmetric);
}

template <class T>
void check_starts(const DistMatrix<T>& A, std::span<const GlobalIndex> starts) {
  if (starts.empty()) return;
  if (A.comm().size() > 1 || starts.front() != 0 || starts.back() != A.rows().n_global() ||
      !std::is_sorted(starts.begin(), starts.end())) {
    throw Error(ErrorCode::invalid_argument,
                "multigrid setup: virtual ranks must have all rows of a matrix on one rank");
  }
}

#define NODEWISE_INSTANTIATE(T)                                                       \
  template void check_matrix(const DistMatrix<T>&, const Options&, const mpi::Same&); \
  template void check_starts(const DistMatrix<T>&, std::span<const GlobalIndex>);     \
  template std::optional<bool> examine(const DistMatrix<T>&, const ProblemInfo<T>&, Options&)
NODEWISE_INSTANTIATE(float);
NODEWISE_INSTANTIATE(double);
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
