#include "nodewise/amg/setup/levels.hpp"

#include <memory>
#include <utility>

#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/amg/redistribute/graph_groups.hpp"
#include "nodewise/amg/redistribute/level_arrival.hpp"
#include "nodewise/amg/redistribute/level_copies.hpp"
#include "nodewise/amg/redistribute/move_level.hpp"
#include "nodewise/amg/setup/coarse_matrix.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/setup/level_matrix.hpp"
#include "nodewise/amg/setup/level_relaxation.hpp"
#include "nodewise/amg/setup/next_level.hpp"
#include "nodewise/amg/setup/shared_levels.hpp"
#include "nodewise/amg/setup/sparser_level.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

template <class T>
GridTransfer<T> make_transfer(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                              const Options& options, const GridTransfer<T>* earlier) {
  return options.method->functions<T>().transfer(A, knowledge, options, earlier);
}

/// On how many ranks a level is to be, if it depends on no matrix.
int ranks_by_size(std::span<const GlobalIndex> starts, int depth, const Options& options) {
  return ranks_of(options.redistribution, size_of_level(starts, depth));
}

/// Collective. On how many ranks the level is to be whose matrix is A, where that depends on costs.
template <class T>
std::shared_ptr<const RedistributionDecision> decide_ranks(const Level<T>& above,
                                                           const MatrixPointer<T>& A,
                                                           const MatrixPointer<T>& P, int depth,
                                                           const Options& options,
                                                           FinerLevels& finer) {
  const mpi::Scope scope(A->comm(), "redistribution");
  const ProblemInfo<T>& info = above.knowledge;
  std::unique_ptr<NextLevel> level;
  if (info.virtual_topology && !info.virtual_starts.empty()) {
    auto starts = P ? virtual_coarse_starts(info.virtual_starts, above.transfer.coarse_rows)
                    : info.virtual_starts;
    level = next_virtual_level(A, P, options, depth, std::move(starts), info);
  } else {
    level = next_level(A, P, options, depth);
  }
  return std::make_shared<const RedistributionDecision>(
      options.redistribution->decide(*level, finer));
}

/// Collective. For a level whose matrix is A on the ranks that its rows come from; null where it is
/// not made yet, and need not be.
template <class T>
Grouping grouping_for(int ranks, const DistMatrix<T>* A, const Options& options) {
  Grouping grouping = {ranks, &*options.redistribution_groups};
  if (A != nullptr && grouping.groups->needs_couplings) {
    const mpi::Scope scope(A->comm(), "redistribution");
    grouping.couplings = rank_couplings(*A);
  }
  return grouping;
}

/// Collective. How the rows of the next level move; throws on every rank what failed on any.
template <class T>
std::optional<comm::RowMove> move_of(const comm::Layout& rows, const Grouping& grouping,
                                     const comm::Route& route, const std::optional<Error>& failure,
                                     const GridTransfer<T>* earlier) {
  if (!earlier) return choose_move(rows, grouping, failure, route);
  if (earlier->move) mpi::agree(rows.comm(), failure);
  return earlier->move;
}

/// Collective. Moves the next level's part of the transfer.
template <class T>
void move_transfer(GridTransfer<T>& transfer, const Grouping& grouping,
                   const GridTransfer<T>* earlier) {
  transfer.move = move_of(transfer.P->cols(), grouping, "direct", transfer.failure, earlier);
  if (transfer.move) move_next_level(transfer, *transfer.move);
}

/// Collective. Moves the next level, whose matrix is A, once it is made; the transfer stays.
template <class T>
MatrixPointer<T> move_made_level(GridTransfer<T>& transfer, const MatrixPointer<T>& A, int ranks,
                                 const comm::Route& route, const Options& options,
                                 const GridTransfer<T>* earlier) {
  const Grouping grouping = earlier ? Grouping() : grouping_for(ranks, A.get(), options);
  transfer.move = move_of(A->rows(), grouping, route, transfer.failure, earlier);
  return transfer.move ? move_next_matrix(transfer, A, *transfer.move) : A;
}

/// Whether one rank of each node is to have the next level, if one rank has it.
template <class T>
bool wants_copies(const GridTransfer<T>& transfer, const Options& options) {
  return makes_copies(options.redistribution) ||
         (transfer.redistribution && transfer.redistribution->redundant);
}

/// Collective. Gives one rank of each node the next level, whose matrix is A on the rank that it
/// was moved to. Ranks of one process have theirs already.
template <class T>
void copy_next_level(Level<T>& level, const DistMatrix<T>& A, const Options& options,
                     const GridTransfer<T>* earlier) {
  GridTransfer<T>& transfer = level.transfer;
  if (!(earlier ? earlier->copies != nullptr : wants_copies(transfer, options))) return;
  transfer.copies = make_copies(transfer, earlier ? earlier->copies.get() : nullptr);
  if (!transfer.copies) return;
  transfer.n_copies = A.comm().topology().n_nodes();
  fill_copies(transfer, A);
}

/// Local. How many virtual ranks have the next level as a whole, whose rows begin at `starts`.
template <class T>
int virtual_copies(const Level<T>& level, std::span<const GlobalIndex> starts,
                   const Options& options) {
  const std::optional<int> owner = only_holder(starts);
  if (!owner || !wants_copies(level.transfer, options)) return 1;
  const std::vector<int> ranks = ranks_of_level(level.knowledge.virtual_starts, level.depth);
  const auto holders = holders_of_copies(*level.knowledge.virtual_topology, ranks, *owner);
  return static_cast<int>(ranks_with_copies(holders).size());
}

/// Gives a level its transfer, and returns the matrix of the next; nothing where the level is to be
/// the last. What takes another route in the setup than in the solve is needed here only. A is the
/// level's matrix for the setup, which may have more entries than that for the solve.
template <class T>
MatrixPointer<T> coarsen_level(Level<T>& level, const MatrixPointer<T>& A,
                               const routing::LevelRoutes& routes, const Options& options,
                               const GridTransfer<T>* earlier, FinerLevels& finer) {
  // What has the same route shares the plan.
  const bool one_route = routes.setup == routes.solve;
  const bool one_matrix = A->shares_entries_with(*level.A);
  const auto for_setup = [&](const MatrixPointer<T>& M) {
    return routed(M, routes.setup, routes.setup_transport);
  };
  const auto for_solve = [&](const MatrixPointer<T>& M) {
    return routed(M, routes.solve, routes.solve_transport);
  };
  MatrixPointer<T> setup_A = for_setup(one_route && one_matrix ? level.A : A);
  if (!one_matrix) {
    setup_A = in_blocks(setup_A, rows_of_a_point(level.knowledge, options), options);
  } else if (setup_A->blocks() == nullptr && level.A->blocks() != nullptr) {
    setup_A = std::make_shared<const DistMatrix<T>>(setup_A->with_blocks(level.A->shared_blocks()));
  }
  level.transfer = make_transfer(*setup_A, level.knowledge, options, earlier);
  auto& P = level.transfer.P;
  auto& R = level.transfer.R;
  if (P == nullptr) return nullptr;
  const auto multiply = [&] {
    const MatrixPointer<T> setup_P = for_setup(P);
    const MatrixPointer<T> setup_R = R ? for_setup(R) : nullptr;
    P = for_solve(one_route ? setup_P : P);
    if (R) R = for_solve(one_route ? setup_R : R);
    return coarse_matrix(*setup_A, setup_R.get(), *setup_P, level.transfer, options);
  };
  const LevelSize size = size_of_level(P->cols().starts(), level.depth + 1);
  int ranks = ranks_of(options.redistribution, size);
  const bool asks_costs = options.redistribution->decide != nullptr && !earlier;
  const bool asks_couplings =
      options.redistribution_groups->needs_couplings && !earlier && ranks < size.active_ranks;
  const bool moves_later = options.redistribution_move->moves_vectors;
  MatrixPointer<T> next;
  if (asks_costs || asks_couplings || moves_later) {
    const MatrixPointer<T> straight_P = P, straight_R = R;
    next = multiply();
    if (asks_costs) {
      level.transfer.redistribution =
          decide_ranks(level, next, straight_P, size.level, options, finer);
      ranks = level.transfer.redistribution->ranks;
    }
    if (moves_later) {
      return move_made_level(level.transfer, next, ranks, routes.solve, options, earlier);
    }
    if (ranks >= size.active_ranks) return next;
    // The product is made anew, so that rebuild() adds in the same order.
    P = straight_P;
    R = straight_R;
  }
  move_transfer(level.transfer, grouping_for(ranks, next.get(), options), earlier);
  next = multiply();
  copy_next_level(level, *next, options, earlier);
  return next;
}

/// Collective.
template <class T>
LevelChoice<T> choose_again(const MatrixPointer<T>& A, const LevelInfo& earlier) {
  const routing::LevelRoutes& routes = earlier.routes;
  return {{routes, earlier.route_choice, earlier.setup_route_choice,
           routed(A, routes.solve, routes.solve_transport), A},
          earlier.transport_choice};
}

/// Collective. The routes of a level, and its matrices over them: for the solve what is left of the
/// Galerkin matrix A, for the setup of the next level that, or A.
template <class T>
LevelChoice<T> choose_routes_of(const MatrixPointer<T>& A,
                                const std::optional<sparsify::Sparsified<T>>& sparse,
                                const Options& options, int depth, const LevelInfo* earlier) {
  const auto choose = [&](const MatrixPointer<T>& of) {
    return earlier ? choose_again(of, *earlier) : choose_for(of, options, depth);
  };
  if (!sparse) return choose(A);
  LevelChoice<T> choice = choose(sparse->A);
  if (options.sparsification->goes_on_with_rest) return choice;
  const LevelChoice<T> for_setup = choose(A);
  choice.routes.routes.setup = for_setup.routes.routes.setup;
  choice.routes.routes.setup_transport = for_setup.routes.routes.setup_transport;
  choice.routes.setup = for_setup.routes.setup;
  choice.routes.for_setup = for_setup.routes.for_setup;
  return choice;
}

/// Collective. The next level's part of what is known.
template <class T>
ProblemInfo<T> knowledge_below(Level<T>& level, const Options& options) {
  ProblemInfo<T> knowledge;
  knowledge.virtual_topology = level.knowledge.virtual_topology;
  knowledge.virtual_starts =
      virtual_coarse_starts(level.knowledge.virtual_starts, level.transfer.coarse_rows);
  if (knowledge.virtual_topology && !knowledge.virtual_starts.empty()) {
    const auto& decision = level.transfer.redistribution;
    const int ranks = decision ? decision->ranks
                               : ranks_by_size(knowledge.virtual_starts, level.depth + 1, options);
    knowledge.virtual_starts =
        moved_starts(std::move(knowledge.virtual_starts), *knowledge.virtual_topology,
                     {ranks, &*options.redistribution_groups});
    level.transfer.n_copies = virtual_copies(level, knowledge.virtual_starts, options);
  }
  knowledge.near_null_space = std::move(level.transfer.coarse_near_null_space);
  knowledge.left_near_null_space = std::move(level.transfer.coarse_left_near_null_space);
  knowledge.unknowns = level.transfer.coarse_unknowns;
  knowledge.level = level.depth + 1;
  knowledge.unknown_of_row = std::move(level.transfer.coarse_unknown_of_row);
  return knowledge;
}

/// Collective. The matrix of a level on the communicator of the ranks that have rows of it; null on
/// the others.
template <class T>
MatrixPointer<T> to_active_ranks(Level<T>& level, const MatrixPointer<T>& A, SetUp<T>& made,
                                 const Earlier<T>* earlier) {
  const std::size_t l = made.levels.size() - 1;
  const std::vector<int>& above = made.levels[l - 1]->ranks;
  level.ranks = above;
  level.is_copy = made.levels[l - 1]->is_copy;
  if (!has_idle_ranks(A->rows())) return A;
  made.on_fewer_ranks = true;
  level.is_elsewhere = A->n_local() == 0;
  level.active = earlier ? earlier->levels[l]->active : make_active_ranks(A->rows());
  level.ranks = level.active->ranks;
  if (!above.empty()) {
    for (int& rank : level.ranks) rank = above[static_cast<std::size_t>(rank)];
  }
  const auto& copies = made.levels[l - 1]->transfer.copies;
  if (copies && copies->alone) {
    level.is_copy = true;
    level.is_elsewhere = false;
    level.active->comm = copies->alone;
    return copies->A;
  }
  if (!level.is_elsewhere) return on_active_ranks(*A, *level.active);
  made.info.emplace_back();
  made.radii.push_back(0);
  return nullptr;
}

/// Why level l is on so many ranks, where that was decided by costs.
template <class T>
std::shared_ptr<const RedistributionDecision> redistribution_of(const SetUp<T>& made,
                                                                const Earlier<T>* earlier,
                                                                std::size_t l) {
  if (earlier) return earlier->info[l].redistribution_choice;
  return made.levels[l - 1]->transfer.redistribution;
}

/// How many ranks have level l as a whole.
template <class T>
int copies_of(const SetUp<T>& made, std::size_t l) {
  const int made_here = made.levels[l - 1]->transfer.n_copies;
  return made_here > 1 ? made_here : made.info[l - 1].copies;
}

/// Local. Takes the Galerkin matrix A again, where coarsening came to an end and entries were lost.
template <class T>
void solve_whole(Level<T>& level, const MatrixPointer<T>& A, const Options& options,
                 LevelInfo& info) {
  if (!level.lost || options.sparsification->goes_on_with_rest) return;
  level.A = A;
  level.lost.reset();
  const LevelInfo whole = describe(*A, info.routes);
  info.nonzeros = whole.nonzeros;
  info.traffic = whole.traffic;
  info.max_messages = whole.max_messages;
  info.sparsity = nullptr;
}

/// Collective. The levels from A down into `made`. A rank that has no rows of a level ends there.
template <class T>
void descend(MatrixPointer<T> A, ProblemInfo<T> knowledge, std::optional<bool> symmetric,
             const Options& options, const LevelObserver& observe, const Earlier<T>* earlier,
             SetUp<T>& made) {
  const bool stays_symmetric = keeps_symmetry(knowledge, options);
  SparserNext<T> sparser;  // of A
  std::optional<sparsify::Sparsified<T>>& sparse = sparser.sparse;
  while (true) {
    const std::size_t l = made.levels.size();
    const int depth = static_cast<int>(l);
    const mpi::Scope scope(A->comm(), "level_setup", depth);
    Level<T>& level = *made.levels.emplace_back(std::make_unique<Level<T>>());
    level.depth = depth;
    level.knowledge = std::move(knowledge);
    if (l > 0 && options.redistribution->moves_rows) {
      A = to_active_ranks(level, A, made, earlier);
      if (A == nullptr) return;
      if (sparse) follow_to_active_ranks(level, A, *sparse);
    }
    const GridTransfer<T>* before = earlier ? &earlier->levels[l]->transfer : nullptr;
    const LevelChoice<T> choice =
        choose_routes_of(A, sparse, options, depth, earlier ? &earlier->info[l] : nullptr);
    const routing::ChosenRoutes<T>& chosen = choice.routes;
    const routing::LevelRoutes& routes = chosen.routes;
    level.A = in_blocks(chosen.for_solve, rows_of_a_point(level.knowledge, options), options);
    const auto sparsity = sparse ? sparsity_of(*A, *sparse) : nullptr;
    if (sparse) level.lost = std::move(sparse->lost);
    A = chosen.for_setup;
    level.knowledge.symmetric = symmetric;
    if (!stays_symmetric) symmetric = false;  // the levels below
    LevelInfo info = describe(*level.A, routes);
    if (l > 0) info.copies = copies_of(made, l);
    if (level.is_copy) info.active_ranks = 0;
    info.route_choice = chosen.solve;
    info.setup_route_choice = chosen.setup;
    info.transport_choice = choice.transport;
    info.overlap_choice =
        earlier ? earlier->info[l].overlap_choice : choose_overlap_for(*level.A, options, depth);
    info.overlap = info.overlap_choice->chosen;
    A->exchange().set_overlap(info.overlap);
    info.sparsity = sparsity;
    info.sparsity_choice = sparser.choice;
    const bool goes_on = before ? before->P != nullptr : may_coarsen(info.rows, options, depth);
    if (l > 0) info.redistribution_choice = redistribution_of(made, earlier, l);
    if (l == 0 && goes_on && options.redistribution->decide != nullptr && !earlier) {
      decide_ranks<T>(level, A, nullptr, depth, options, made.finer);
    }
    if (l == 0 && goes_on && options.sparsification->asks_costs && !earlier) {
      made.finer.cycle_s = finest_level_s(level, A, options);
    }
    MatrixPointer<T> next;
    if (goes_on) next = coarsen_level(level, A, routes, options, before, made.finer);
    if (level.transfer.P) {
      info.interpolation_nonzeros = level.transfer.P->nnz_global();
      if (level.transfer.before_move) {
        const comm::Plan& plan = level.transfer.move->exchange().plan();
        info.gather_traffic =
            comm::traffic(plan, level.A->comm().topology(), level.A->comm().rank());
      }
    } else {
      level.solved_directly = may_solve_directly(info.rows, options);
      if (level.solved_directly) solve_whole(level, A, options, info);
    }
    if (!made.failure) made.failure = level.transfer.failure;
    made.radii.push_back(radius_for_smoother(level, options));
    made.info.push_back(info);
    if (observe) observe(depth, info);
    if (!level.transfer.P) return;
    knowledge = knowledge_below(level, options);
    sparser = sparser_next(level, A, next, knowledge, options,
                           earlier ? &earlier->info[l + 1] : nullptr, made.finer);
    A = std::move(next);
  }
}

}  // namespace

template <class T>
bool keeps_symmetry(const ProblemInfo<T>& knowledge, const Options& options) {
  const bool other_vectors =
      has_smoothed_restriction(options) && knowledge.left_near_null_space.n_vectors > 0;
  return options.method->keeps_symmetry && !other_vectors;
}

template <class T>
SetUp<T> set_up_levels(MatrixPointer<T> A, ProblemInfo<T> knowledge, std::optional<bool> symmetric,
                       const Options& options, const LevelObserver& observe,
                       const Earlier<T>* earlier) {
  SetUp<T> made;
  const std::shared_ptr<const mpi::Comm> comm = A->shared_comm();
  const std::optional<Error> error = mpi::error_of([&] {
    descend(std::move(A), std::move(knowledge), symmetric, options, observe, earlier, made);
  });
  if (made.on_fewer_ranks) {
    share_levels(*comm, made, error, observe);
  } else if (error) {
    throw Error(*error);  // all ranks do
  }
  return made;
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template bool keeps_symmetry(const ProblemInfo<T>&, const Options&);                   \
  template SetUp<T> set_up_levels(MatrixPointer<T>, ProblemInfo<T>, std::optional<bool>, \
                                  const Options&, const LevelObserver&, const Earlier<T>*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
