#include "petsc_matrix.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::bench {

namespace {

using Csr = kernels::Csr<double>;

PetscInt length(const Csr& part, LocalIndex i) {
  return narrow<PetscInt>(part.length(i));
}

Mat allocate(const Matrix& A) {
  std::vector<PetscInt> n_on, n_off;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    n_on.push_back(length(A.on(), i));
    n_off.push_back(length(A.off(), i));
  }
  const PetscInt n = A.n_local();
  Mat copy = nullptr;
  NODEWISE_PETSC(MatCreateAIJ(A.comm().get(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, 0,
                              n_on.data(), 0, n_off.data(), &copy));
  return copy;
}

}  // namespace

void check_petsc(PetscErrorCode status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + " failed in PETSc");
}

Mat make_petsc_matrix(const Matrix& A, int unknowns) {
  Mat copy = allocate(A);
  NODEWISE_PETSC(MatSetBlockSize(copy, unknowns));
  std::vector<PetscInt> cols;
  std::vector<double> vals;
  const auto append = [&](const Csr& part, LocalIndex i, auto&& to_global) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      cols.push_back(narrow<PetscInt>(to_global(part.cols[at])));
      vals.push_back(part.vals[at]);
    }
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    cols.clear();
    vals.clear();
    append(A.on(), i, [&](LocalIndex j) { return A.cols().to_global(j); });
    append(A.off(), i, [&](LocalIndex g) { return A.ghosts()[static_cast<std::size_t>(g)]; });
    const auto row = narrow<PetscInt>(A.rows().to_global(i));
    NODEWISE_PETSC(MatSetValues(copy, 1, &row, narrow<PetscInt>(cols.size()), cols.data(),
                                vals.data(), INSERT_VALUES));
  }
  NODEWISE_PETSC(MatAssemblyBegin(copy, MAT_FINAL_ASSEMBLY));
  NODEWISE_PETSC(MatAssemblyEnd(copy, MAT_FINAL_ASSEMBLY));
  NODEWISE_PETSC(MatSetOption(copy, MAT_SPD, PETSC_TRUE));
  return copy;
}

}  // namespace nodewise::bench
