// What a PC of type nodewise holds.
#pragma once

#include <memory>
#include <optional>
#include <petscpc.h>
#include <span>
#include <vector>

#include "nodewise/solver/solver.hpp"

#include "petsc/matrix.hpp"
#include "petsc/options.hpp"

namespace nodewise::petsc {

/// Functions are collective on the PC's communicator but for those marked as local, and throw the
/// same Error on every rank; what a call of PETSc says on one rank alone is a Failure there.
class Preconditioner {
 public:
  /// Takes options, for the next setup. Two allreduces. The first call duplicates the
  /// communicator, and so does one that changes the options of that.
  void set_options(MPI_Comm user, const GivenOptions& given);
  /// Local. Coordinates of this rank's points, `dimensions` each, for the next setup.
  void set_coordinates(int dimensions, std::vector<double> values);

  /// Sets up for A; where its entries are at the places of the last setup's, as reuse says. After a
  /// failure there is none.
  void set_up(MPI_Comm user, Mat A, bool has_same_places);
  /// X = M B for vectors side by side: entry (i, k) is B[i * n + k]. Throws invalid_argument where
  /// the last setup failed.
  void apply(std::span<const double> B, std::span<double> X, int n) const;
  /// Local; the same on every rank. Throws unsupported where M is not its own transpose, or that
  /// is not known.
  void require_symmetric() const;

  /// Local. Gives up what a setup made.
  void reset();
  /// Local. Null before a setup.
  const Solver* solver() const { return solver_ ? &*solver_ : nullptr; }

 private:
  void prepare(MPI_Comm user);
  void require_set_up() const;
  void set_up_anew(Mat A);
  solver::Problem problem_of(Mat A) const;
  solver::Options options_for(Mat A) const;

  std::shared_ptr<const mpi::Comm> comm_;
  Settings settings_;
  solver::NamedValues given_;
  bool options_changed_ = false;  // since the last setup, or coordinates
  std::vector<double> coordinates_;
  int dimensions_ = 0;
  TakenMatrix matrix_;
  std::optional<Solver> solver_;
};

}  // namespace nodewise::petsc
