// A solver of A x = b: what `nodewise solve` does, as one object.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/problem.hpp"
#include "nodewise/solver/record.hpp"
#include "nodewise/solver/right_hand_side.hpp"
#include "nodewise/solver/solve_all.hpp"

namespace nodewise {

/// Who looks on at a setup. Called on every rank; must throw on every rank or on none.
struct SetupObservers {
  /// When preset and method are chosen, before the work.
  std::function<void(const solver::SolveRecord&)> chosen = {};
  amg::LevelObserver level = {};
};

/// Chooses a preset by the matrix, a Krylov method by its symmetry, routes by the network and
/// transports by trials, and sets up the preconditioner; then solves any number of systems.
///
/// All functions are collective but those that are marked as local. They throw the same Error on
/// every rank, whatever rank was given something wrong. A solve that does not converge throws
/// nothing: its record has the outcome and what to try.
///
/// The communicator's ledger is cleared at the start of a setup and of a solve, whose accounts are
/// in the record.
class Solver {
 public:
  using Matrix = matrix::DistMatrix<double>;

  /// Sets up. Throws invalid_argument where an option is out of its range, options contradict each
  /// other or differ between ranks, or A is null; unsuitable_matrix where A is empty or not square,
  /// and what amg::Hierarchy and solve::DiagonalPreconditioner throw. A's entries are shared.
  Solver(const std::shared_ptr<const Matrix>& A, const solver::Options& options = {},
         const solver::Problem& problem = {}, const SetupObservers& observe = {});
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// Solves A x = b; x has the initial guess and receives the solution. Returns what is known of
  /// the setup and of this solve. The first solve after a setup looks for what may stand in the way
  /// of a fast one: a pass over each level, a product, and two allreduces; later ones judge by
  /// their end. Throws dimension_mismatch where b or x do not have this rank's rows.
  const solver::SolveRecord& solve(std::span<const double> b, std::span<double> x,
                                   const solve::Observer& observe = {});
  /// The same for n_rhs right-hand sides, side by side: entry (i, k) of this rank's row i is
  /// B[i * n_rhs + k]. By cg all at once, up to 64; by other methods one after another.
  const solver::SolveRecord& solve_all(std::span<const double> B, std::span<double> X, int n_rhs,
                                       const solver::GroupObserver& observe = {});

  /// X = M B for `n_rhs` vectors side by side, as in solve_all(): the preconditioner alone, once
  /// from zero, for an iteration of the caller's own; what a solve's messages are. Where there is
  /// no preconditioner, a copy. Throws dimension_mismatch, on the rank that calls alone, where B or
  /// X do not have this rank's rows, and unsupported where a device sets up.
  void precondition(std::span<const double> B, std::span<double> X, int n_rhs = 1) const;

  /// How the solves from now on are made and when they end, in place of what the options of the
  /// setup say; a method left to the library is chosen as in a setup. Costs an agreement. Throws
  /// invalid_argument where a value is outside its range or differs between ranks, or the method
  /// does not go with the preconditioner or the device; the solver then stays as it was.
  void set_krylov(const Choice<solve::KrylovMethod>& method, const solve::Options& options);

  /// Sets up for a matrix with the same pattern and other values, as in a time step; see
  /// amg::Hierarchy::rebuild(). Preset, method, routes and transports stay. Where the new matrix is
  /// symmetric and the first was not, or the other way round, or likewise where all of its diagonal
  /// is negative, all is set up and chosen anew. Throws dimension_mismatch where the layout is
  /// another, and what rebuild() throws; the solver is then as it was before, but where a device
  /// that sets levels up itself is out_of_memory: it can be rebuilt then, and nothing else.
  void rebuild(const std::shared_ptr<const Matrix>& A,
               amg::Reuse reuse = amg::Reuse::interpolation);

  /// Local. What is known so far; of the last solve, if there was one.
  const solver::SolveRecord& record() const;
  /// Local. The options in force, with what the preset set.
  const solver::Options& options() const { return record().options; }
  /// Local. The caller's rows, which b and x have.
  const comm::Layout& layout() const;
  /// Local. The matrix as solves multiply by it: with the route and the transport that were chosen,
  /// and with the rows where a partition puts them.
  const std::shared_ptr<const Matrix>& matrix() const;
  /// Local. Null where the preconditioner is another, or a device has set its levels up.
  const amg::Hierarchy<double>* hierarchy() const;
  /// Local. Null where there is none.
  const solve::Operator<double>* preconditioner() const;
  /// Local, the same on every rank. Why the preconditioner is not its own transpose, or not known
  /// to be; empty where it is.
  std::string broken_symmetry() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nodewise
