#include "petsc/matrix.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/agree.hpp"

#include "petsc/errors.hpp"

namespace nodewise::petsc {

namespace {

/// Formats that are converted to AIJ: of block matrices the library makes blocks of its own.
constexpr std::array<const char*, 6> convertible = {MATSEQBAIJ,  MATMPIBAIJ, MATSEQSBAIJ,
                                                    MATMPISBAIJ, MATNEST,    MATIS};

/// A matrix that is AIJ: the caller's, or a converted one for as long as this is.
class AijMatrix {
 public:
  AijMatrix(Mat A, const mpi::Comm& comm) {
    bool converts = false;
    mpi::collectively(comm, [&] { converts = !is_aij_here(A); });
    if (converts) check(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &made_));
    A_ = converts ? made_ : A;
  }
  ~AijMatrix() { MatDestroy(&made_); }
  AijMatrix(const AijMatrix&) = delete;
  AijMatrix& operator=(const AijMatrix&) = delete;
  Mat get() const { return A_; }

 private:
  static bool is_one_of(Mat A, const char* type) {
    PetscBool is = PETSC_FALSE;
    check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), type, &is));
    return is == PETSC_TRUE;
  }
  /// Local. Throws unsupported where it can be made neither.
  static bool is_aij_here(Mat A) {
    if (is_one_of(A, MATSEQAIJ) || is_one_of(A, MATMPIAIJ)) return true;
    if (std::any_of(convertible.begin(), convertible.end(),
                    [&](const char* type) { return is_one_of(A, type); })) {
      return false;
    }
    MatType type = nullptr;
    check(MatGetType(A, &type));
    throw Error(ErrorCode::unsupported,
                fmt::format("a matrix of type {} does not show its entries in sparse rows; give "
                            "one that does, such as aij, beside it (KSPSetOperators)",
                            type == nullptr ? "that is not set" : type));
  }

  Mat A_ = nullptr, made_ = nullptr;
};

/// The arrays of a sequential AIJ matrix, for as long as this is.
class SeqAij {
 public:
  explicit SeqAij(Mat A) : A_(A) {
    PetscBool done = PETSC_FALSE;
    check(MatGetRowIJ(A_, 0, PETSC_FALSE, PETSC_FALSE, &n_rows_, &row_ptr_, &cols_, &done));
    if (done != PETSC_TRUE) {
      throw Error(ErrorCode::unsupported, "PETSc does not show the rows of the matrix");
    }
    if (const auto code = MatSeqAIJGetArrayRead(A_, &vals_); code != 0) {
      restore_rows();
      throw Failure(code);
    }
  }
  ~SeqAij() {
    MatSeqAIJRestoreArrayRead(A_, &vals_);
    restore_rows();
  }
  SeqAij(const SeqAij&) = delete;
  SeqAij& operator=(const SeqAij&) = delete;

  Offset nnz() const { return row_ptr_ == nullptr ? 0 : Offset{row_ptr_[n_rows_]}; }
  Array<double> values() const { return Array<double>(vals_, vals_ + nnz()); }

  /// Local. A copy; columns are narrowed.
  kernels::Csr<double> copy(LocalIndex n_cols) const {
    kernels::Csr<double> rows;
    rows.n_rows = narrow<LocalIndex>(n_rows_);
    rows.n_cols = n_cols;
    if (n_rows_ > 0) rows.row_ptr = Array<Offset>(row_ptr_, row_ptr_ + n_rows_ + 1);
    Array<LocalIndex> cols(static_cast<std::size_t>(nnz()));
    std::transform(cols_, cols_ + nnz(), cols.begin(),
                   [](PetscInt j) { return static_cast<LocalIndex>(j); });
    rows.cols = std::move(cols);
    rows.vals = values();
    return rows;
  }

 private:
  void restore_rows() {
    PetscBool done = PETSC_FALSE;
    MatRestoreRowIJ(A_, 0, PETSC_FALSE, PETSC_FALSE, &n_rows_copy_, &row_ptr_, &cols_, &done);
  }

  Mat A_;
  PetscInt n_rows_ = 0, n_rows_copy_ = 0;
  const PetscInt *row_ptr_ = nullptr, *cols_ = nullptr;
  const PetscScalar* vals_ = nullptr;
};

/// The parts of an AIJ matrix on this rank; no part of other ranks' columns on one rank.
struct Parts {
  Mat on = nullptr, off = nullptr;
  const PetscInt* ghosts = nullptr;
};

Parts parts_of(Mat A) {
  PetscBool is_seq = PETSC_FALSE;
  check(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATSEQAIJ, &is_seq));
  Parts parts;
  if (is_seq == PETSC_TRUE) {
    parts.on = A;
  } else {
    check(MatMPIAIJGetSeqAIJ(A, &parts.on, &parts.off, &parts.ghosts));
  }
  return parts;
}

std::vector<GlobalIndex> ghosts_of(const Parts& parts) {
  if (parts.off == nullptr) return {};
  PetscInt n = 0;
  check(MatGetSize(parts.off, nullptr, &n));
  return {parts.ghosts, parts.ghosts + n};
}

bool ascends(const kernels::Csr<double>& rows) {
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    const auto begin = rows.cols.begin() + rows.begin(i), end = rows.cols.begin() + rows.end(i);
    if (std::adjacent_find(begin, end, std::greater_equal<>()) != end) return false;
  }
  return true;
}

bool ascends(const std::vector<GlobalIndex>& ghosts) {
  return std::adjacent_find(ghosts.begin(), ghosts.end(), std::greater_equal<>()) == ghosts.end();
}

/// Local. Rows in any order, with the others' columns behind those of this rank.
matrix::RowBlock<double> joined(matrix::SplitRows<double> split) {
  const LocalIndex n_owned = split.on.n_cols;
  kernels::Csr<double> rows(split.on.n_rows, n_owned + split.off.n_cols);
  const auto nnz = static_cast<std::size_t>(split.on.nnz() + split.off.nnz());
  rows.cols.reserve(nnz);
  rows.vals.reserve(nnz);
  const auto append = [&](const kernels::Csr<double>& part, LocalIndex i, LocalIndex shift) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      rows.cols.push_back(part.cols[static_cast<std::size_t>(k)] + shift);
      rows.vals.push_back(part.vals[static_cast<std::size_t>(k)]);
    }
  };
  for (LocalIndex i = 0; i < split.on.n_rows; ++i) {
    append(split.on, i, 0);
    append(split.off, i, n_owned);
    rows.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(rows.cols.size());
  }
  return {std::move(rows), n_owned, std::move(split.ghosts)};
}

/// Local. Throws unsuitable_matrix.
void check_state(Mat A) {
  PetscBool is_assembled = PETSC_FALSE;
  check(MatAssembled(A, &is_assembled));
  if (is_assembled != PETSC_TRUE) {
    throw Error(ErrorCode::unsuitable_matrix, "the matrix has not been assembled");
  }
  PetscInt rows = 0, cols = 0, rows_here = 0, cols_here = 0;
  check(MatGetSize(A, &rows, &cols));
  check(MatGetLocalSize(A, &rows_here, &cols_here));
  if (rows != cols) {
    throw Error(ErrorCode::unsuitable_matrix,
                fmt::format("the matrix has {} rows and {} columns; a system to solve needs a "
                            "square one",
                            rows, cols));
  }
  if (rows_here != cols_here) {
    throw Error(ErrorCode::unsuitable_matrix,
                fmt::format("a rank has {} rows and {} entries of vectors; a preconditioner needs "
                            "as many of both",
                            rows_here, cols_here));
  }
}

comm::Layout layout_of(Mat A, const std::shared_ptr<const mpi::Comm>& comm) {
  const PetscInt* starts = nullptr;
  check(MatGetOwnershipRanges(A, &starts));
  return comm::Layout(comm, {starts, starts + comm->size() + 1});
}

matrix::SplitRows<double> copied(const Parts& parts, LocalIndex n_local) {
  matrix::SplitRows<double> split;
  split.ghosts = ghosts_of(parts);
  split.on = SeqAij(parts.on).copy(n_local);
  const auto n_ghosts = narrow<LocalIndex>(std::ssize(split.ghosts));
  split.off =
      parts.off == nullptr ? kernels::Csr<double>(n_local, 0) : SeqAij(parts.off).copy(n_ghosts);
  return split;
}

}  // namespace

void TakenMatrix::take(Mat A, const std::shared_ptr<const mpi::Comm>& comm) {
  matrix.reset();
  mpi::collectively(*comm, [&] { check_state(A); });
  const AijMatrix aij(A, *comm);
  const comm::Layout rows = layout_of(A, comm);
  bool sorted = true;
  matrix = std::make_shared<const Matrix>(rows, rows, [&] {
    matrix::SplitRows<double> split = copied(parts_of(aij.get()), rows.n_local());
    sorted = ascends(split.on) && ascends(split.off) && ascends(split.ghosts);
    return sorted ? std::move(split) : matrix::split_rows(rows, joined(std::move(split)));
  });
  is_as_in_petsc = mpi::min(*comm, std::int32_t{sorted}) == 1;
}

void TakenMatrix::take_values(Mat A) {
  const std::shared_ptr<const mpi::Comm> comm = matrix->shared_comm();
  mpi::collectively(*comm, [&] { check_state(A); });
  Array<double> on, off;
  bool fits = false;
  {
    const AijMatrix aij(A, *comm);
    mpi::collectively(*comm, [&] {
      const Parts parts = parts_of(aij.get());
      on = SeqAij(parts.on).values();
      if (parts.off != nullptr) off = SeqAij(parts.off).values();
      fits = is_as_in_petsc && on.size() == matrix->on().vals.size() &&
             off.size() == matrix->off().vals.size();
    });
  }
  if (mpi::min(*comm, std::int32_t{fits}) == 0) return take(A, comm);
  matrix = std::make_shared<const Matrix>(matrix->with_values(std::move(on), std::move(off)));
}

int block_size(Mat A) {
  PetscInt size = 1;
  check(MatGetBlockSize(A, &size));
  return static_cast<int>(size);
}

}  // namespace nodewise::petsc
