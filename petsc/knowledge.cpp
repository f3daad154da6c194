#include "petsc/knowledge.hpp"

#include "nodewise/base/types.hpp"

#include "petsc/errors.hpp"

namespace nodewise::petsc {

namespace {

/// Writes a vector's numbers here to column k.
void put(Vec vector, int k, amg::NearNullSpace<double>& space) {
  const PetscScalar* values = nullptr;
  PetscInt n = 0;
  check(VecGetLocalSize(vector, &n));
  const std::size_t n_rows = space.values.size() / static_cast<std::size_t>(space.n_vectors);
  if (static_cast<std::size_t>(n) != n_rows) {
    throw Error(ErrorCode::dimension_mismatch,
                "a vector of the near null space does not have the rows of the matrix");
  }
  check(VecGetArrayRead(vector, &values));
  for (std::size_t i = 0; i < n_rows; ++i) space.row(i)[static_cast<std::size_t>(k)] = values[i];
  check(VecRestoreArrayRead(vector, &values));
}

}  // namespace

amg::NearNullSpace<double> near_null_space_of(Mat A) {
  MatNullSpace given = nullptr;
  check(MatGetNearNullSpace(A, &given));
  if (given == nullptr) return {};
  PetscBool has_constant = PETSC_FALSE;
  PetscInt n_vectors = 0, n_rows = 0;
  const Vec* vectors = nullptr;
  check(MatNullSpaceGetVecs(given, &has_constant, &n_vectors, &vectors));
  check(MatGetLocalSize(A, &n_rows, nullptr));
  const int first = has_constant == PETSC_TRUE ? 1 : 0;
  amg::NearNullSpace<double> space;
  space.n_vectors = narrow<int>(n_vectors) + first;
  if (space.n_vectors == 0) return space;
  space.values.assign(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(space.n_vectors),
                      1);
  for (int k = first; k < space.n_vectors; ++k) put(vectors[k - first], k, space);
  return space;
}

}  // namespace nodewise::petsc
