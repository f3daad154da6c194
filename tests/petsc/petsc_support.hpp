// PETSc in tests: matrices and solvers, and what its error handler is told.
#pragma once

#include <functional>
#include <memory>
#include <petscksp.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::test {

using DoubleMatrix = matrix::DistMatrix<double>;
using DoubleMatrixPointer = std::shared_ptr<const DoubleMatrix>;

/// Expects that a call of PETSc succeeds.
void expect_ok(PetscErrorCode code);

/// Collective. A model problem.
DoubleMatrixPointer model_problem(const io::GalleryOptions& problem);

/// An object of PETSc that is destroyed with this.
template <class T, PetscErrorCode (*destroy)(T*)>
struct Owned {
  Owned() = default;
  explicit Owned(T made) : object(made) {}
  ~Owned() { destroy(&object); }
  Owned(Owned&& other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;
  operator T() const { return object; }  // NOLINT(google-explicit-constructor)

  T object = nullptr;
};
using PetscMatrix = Owned<Mat, MatDestroy>;
using PetscVector = Owned<Vec, VecDestroy>;
using PetscSolver = Owned<KSP, KSPDestroy>;
using PetscPc = Owned<PC, PCDestroy>;

/// Collective. The matrix in PETSc, made through MatSetValues() as programs do.
PetscMatrix petsc_matrix(const DoubleMatrix& A, int unknowns = 1);
/// Collective. Puts values into it, at the same places.
void put_values(Mat copy, const DoubleMatrix& A);
/// Collective. The numbers as a vector of A's rows.
PetscVector petsc_vector(Mat A, std::span<const double> values);
std::vector<double> numbers(Vec v);
/// Local. Standard normal numbers by row, the same whatever the ranks.
std::vector<double> random_vector(const comm::Layout& rows, int seed = 1);

/// Collective. A PC of type nodewise for A, with options such as "-pc_nodewise_smoother jacobi",
/// which are of this PC alone: its prefix is told by prefix_of_last_pc().
PetscPc nodewise_pc(Mat A, const std::string& options = "");
/// Conjugate gradients that stop as the library's do, with a PC of type nodewise.
PetscSolver nodewise_cg(Mat A, const std::string& options = "");
/// M x.
std::vector<double> applied(PC pc, Mat A, std::span<const double> x);

/// Runs `work` and returns the text that PETSc's error handler was told first; empty where there
/// was no error.
std::string error_text(const std::function<PetscErrorCode()>& work);
/// Collective. The same, and expects the same text on every rank.
std::string same_error_text(const std::function<PetscErrorCode()>& work);

}  // namespace nodewise::test
