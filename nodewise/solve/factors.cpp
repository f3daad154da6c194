#include "nodewise/solve/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/mpi/memory.hpp"

#ifdef NODEWISE_MUMPS
#include <dmumps_c.h>
#endif

namespace nodewise::solve {

#ifdef NODEWISE_MUMPS

namespace {

using Matrix = matrix::DistMatrix<double>;

/// MUMPS's parameters and what it says, numbered as in its manual.
constexpr int error_stream = 1, warning_stream = 2, global_stream = 3, print_level = 4,
              workspace_percent = 14, input_format = 18, null_pivots = 24, analysis = 28;
constexpr int is_distributed = 3, is_sequential = 1;
/// Nested dissection, MUMPS's choice, takes minutes to hours where a row is nearly full.
constexpr int ordering = 7, minimum_degree_with_dense_rows = 6;
constexpr int of_error = 1, detail_of_error = 2, negative_pivots = 12, megabytes_of_all = 17;
constexpr int megabytes_of_rank = 22;
constexpr int operations = 1;  // of the elimination, in floating point
constexpr int singular_pattern = -6, workspace = -9, singular = -10, memory = -13;

/// The entries of a rank's rows, counted from 1; of a symmetric matrix those up to the diagonal.
struct Entries {
  std::vector<MUMPS_INT> rows, cols;
  std::vector<double> values;
};

Entries entries_of(const Matrix& A, bool symmetric) {
  Entries entries;
  const auto add = [&](GlobalIndex row, GlobalIndex col, double value) {
    if (!std::isfinite(value)) {
      throw Error(ErrorCode::unsuitable_matrix,
                  fmt::format("`preconditioner direct`: row {} has an entry that is not finite",
                              row - A.rows().first()));
    }
    if (symmetric && col > row) return;
    entries.rows.push_back(static_cast<MUMPS_INT>(row - A.rows().first() + 1));
    entries.cols.push_back(static_cast<MUMPS_INT>(col - A.rows().first() + 1));
    entries.values.push_back(value);
  };
  const GlobalIndex first = A.rows().begin();
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (Offset e = A.on().begin(i); e < A.on().end(i); ++e) {
      const auto k = static_cast<std::size_t>(e);
      add(first + i, first + A.on().cols[k], A.on().vals[k]);
    }
    for (Offset e = A.off().begin(i); e < A.off().end(i); ++e) {
      const auto k = static_cast<std::size_t>(e);
      add(first + i, A.ghosts()[static_cast<std::size_t>(A.off().cols[k])], A.off().vals[k]);
    }
  }
  return entries;
}

/// Collective. The entries of the longest row or column.
double longest_line(const Matrix& A) {
  std::vector<double> columns, of_ghosts;
  double longest = 0;
  mpi::collectively(A.comm(), [&] {
    columns.resize(static_cast<std::size_t>(A.n_local()));
    of_ghosts.resize(static_cast<std::size_t>(A.n_ghosts()));
    for (const LocalIndex column : A.on().cols) columns[static_cast<std::size_t>(column)] += 1;
    for (const LocalIndex ghost : A.off().cols) of_ghosts[static_cast<std::size_t>(ghost)] += 1;
  });
  A.exchange().reverse_add<double>(of_ghosts, columns);
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    longest = std::max(
        {longest, static_cast<double>(A.row_length(i)), columns[static_cast<std::size_t>(i)]});
  }
  return mpi::max(A.comm(), longest);
}

/// Collective. MUMPS's numbers are ints.
void require_countable_rows(const Matrix& A) {
  constexpr GlobalIndex most = std::numeric_limits<MUMPS_INT>::max();
  if (A.rows().n_global() <= most) return;
  throw Error(ErrorCode::index_overflow,
              fmt::format("`preconditioner direct`: MUMPS takes up to {} rows, there are {}", most,
                          A.rows().n_global()));
}

/// The factors of a matrix on the ranks of its communicator.
class Factors final : public Factorization {
 public:
  Factors(const Matrix& A, const FactorOptions& options) : layout_(A.rows()), options_(options) {
    require_countable_rows(A);
    for (int rank = 0; rank < layout_.comm().size(); ++rank) {
      counts_.push_back(static_cast<int>(layout_.end(rank) - layout_.begin(rank)));
      starts_.push_back(static_cast<int>(layout_.begin(rank) - layout_.first()));
    }
    const bool symmetric = matrix::is_symmetric(A);
    const bool has_dense_lines =
        longest_line(A) > 10 * std::sqrt(static_cast<double>(layout_.n_global()));
    begin(symmetric);
    try {
      if (has_dense_lines) mumps_.icntl[ordering - 1] = minimum_degree_with_dense_rows;
      const Entries entries =
          mpi::collectively(layout_.comm(), [&] { return entries_of(A, symmetric); });
      analyse(entries);
      factorize();
    } catch (...) {
      end();
      throw;
    }
  }
  ~Factors() override { end(); }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;

  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const double> x, std::span<double> y) const override {
    apply_block(x, y, 1, {});
  }
  void apply_block(std::span<const double> X, std::span<double> Y, int width,
                   std::span<double> /*work*/) const override;
  bool is_indefinite() const override { return is_indefinite_; }
  std::size_t memory_bytes() const override {
    return std::size_t{1000000} * static_cast<std::size_t>(mumps_.info[megabytes_of_rank - 1]);
  }

 private:
  void begin(bool symmetric);
  void end() noexcept;
  int call(int job) const;
  void run(int job, const char* what) const;
  void throw_error(const char* what) const;
  void analyse(const Entries& entries);
  void require_little_work(double operations_of_rank) const;
  void factorize();

  comm::Layout layout_;
  FactorOptions options_;
  bool is_indefinite_ = false;
  std::vector<int> counts_, starts_;   // rows of each rank
  mutable DMUMPS_STRUC_C mumps_ = {};  // MUMPS changes it in every call
  // Room for vectors that there were so far: one of this rank, and on rank 0 all, column by column.
  mutable int width_ = 0;
  mutable std::vector<double> column_, gathered_;
};

/// Collective. An instance that prints nothing.
void Factors::begin(bool symmetric) {
  mumps_.comm_fortran = static_cast<MUMPS_INT>(MPI_Comm_c2f(layout_.comm().get()));
  mumps_.par = 1;
  mumps_.sym = symmetric ? 2 : 0;
  run(-1, "to begin");
  for (const int stream : {error_stream, warning_stream, global_stream}) {
    mumps_.icntl[stream - 1] = -1;
  }
  mumps_.icntl[print_level - 1] = 0;
  mumps_.icntl[input_format - 1] = is_distributed;
  mumps_.icntl[analysis - 1] = is_sequential;  // so that the order is the same in every run
  mumps_.icntl[null_pivots - 1] = 0;
}

/// Collective, unless MPI has ended, which took the instance's communicator.
void Factors::end() noexcept {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) return;
  mumps_.job = -2;
  dmumps_c(&mumps_);
}

/// Collective. Returns the error, below 0 if there is one: MUMPS says on all ranks what failed on
/// one.
int Factors::call(int job) const {
  const mpi::Communicating communicating(layout_.comm());
  mumps_.job = job;
  dmumps_c(&mumps_);
  return mumps_.infog[of_error - 1];
}

void Factors::run(int job, const char* what) const {
  if (call(job) < 0) throw_error(what);
}

void Factors::throw_error(const char* what) const {
  const int error = mumps_.infog[of_error - 1], detail = mumps_.infog[detail_of_error - 1];
  const std::string start = "`preconditioner direct`: ";
  if (error == singular_pattern || error == singular) {
    throw Error(ErrorCode::unsuitable_matrix,
                start + "the matrix is singular, so that it has no factors");
  }
  if (error == workspace || error == memory) {
    throw Error(ErrorCode::out_of_memory,
                start + "the factors do not fit in the memory; take more ranks or nodes");
  }
  throw Error(ErrorCode::internal,
              fmt::format("{}MUMPS failed {}, with error {} ({})", start, what, error, detail));
}

/// The same on every rank.
void Factors::require_little_work(double operations_of_rank) const {
  if (options_.factor_limit == 0 || operations_of_rank <= options_.factor_limit) return;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("`preconditioner direct`: the factors take {:.1e} operations a rank, more "
                  "than the `factor_limit` of {:.1e}; take more ranks, or a larger limit",
                  operations_of_rank, options_.factor_limit));
}

/// Collective. Puts the rows in order, and looks whether the factors will fit.
void Factors::analyse(const Entries& entries) {
  // MUMPS keeps the pointers until it has factorized, and changes nothing.
  mumps_.n = static_cast<MUMPS_INT>(layout_.n_global());
  mumps_.nnz_loc = static_cast<MUMPS_INT8>(entries.values.size());
  mumps_.irn_loc = const_cast<MUMPS_INT*>(entries.rows.data());
  mumps_.jcn_loc = const_cast<MUMPS_INT*>(entries.cols.data());
  mumps_.a_loc = const_cast<double*>(entries.values.data());
  run(1, "to look at the pattern");
  require_little_work(mumps_.rinfog[operations - 1] / layout_.comm().size());
  const double bytes = 1e6 * mumps_.infog[megabytes_of_all - 1];
  mpi::check_memory(layout_.comm(), bytes, "the factors of the matrix");
}

/// Collective. Pivoting may need more room than was foreseen.
void Factors::factorize() {
  constexpr int most_percent = 400;
  MUMPS_INT& percent = mumps_.icntl[workspace_percent - 1];
  for (percent = 25; call(2) < 0; percent *= 2) {
    const bool may_help = mumps_.infog[of_error - 1] == workspace && percent < most_percent;
    if (!may_help) throw_error("to factorize");
  }
  is_indefinite_ = mumps_.sym != 0 && mumps_.infog[negative_pivots - 1] > 0;
  mumps_.irn_loc = mumps_.jcn_loc = nullptr;
  mumps_.a_loc = nullptr;
}

void Factors::apply_block(std::span<const double> X, std::span<double> Y, int width,
                          std::span<double> /*work*/) const {
  const mpi::Comm& comm = layout_.comm();
  const auto n = static_cast<std::size_t>(layout_.n_global());
  const auto n_local = static_cast<std::size_t>(layout_.n_local());
  const auto w = static_cast<std::size_t>(width);
  if (width > width_) {
    mpi::collectively(comm, [&] {
      column_.resize(n_local);
      if (comm.rank() == 0) gathered_.resize(n * w);
    });
    width_ = width;
  }
  const mpi::Communicating communicating(comm);
  for (std::size_t c = 0; c < w; ++c) {
    for (std::size_t i = 0; i < n_local; ++i) column_[i] = X[i * w + c];
    mpi::check(MPI_Gatherv(column_.data(), static_cast<int>(n_local), MPI_DOUBLE,
                           comm.rank() == 0 ? gathered_.data() + c * n : nullptr, counts_.data(),
                           starts_.data(), MPI_DOUBLE, 0, comm.get()),
               "MPI_Gatherv");
  }
  mumps_.nrhs = width;
  mumps_.lrhs = static_cast<MUMPS_INT>(n);
  mumps_.rhs = gathered_.data();
  run(3, "to solve");
  for (std::size_t c = 0; c < w; ++c) {
    mpi::check(MPI_Scatterv(comm.rank() == 0 ? gathered_.data() + c * n : nullptr, counts_.data(),
                            starts_.data(), MPI_DOUBLE, column_.data(), static_cast<int>(n_local),
                            MPI_DOUBLE, 0, comm.get()),
               "MPI_Scatterv");
    for (std::size_t i = 0; i < n_local; ++i) Y[i * w + c] = column_[i];
  }
}

}  // namespace

bool has_mumps() {
  return true;
}

std::unique_ptr<Factorization> factorize(const Matrix& A, const FactorOptions& options) {
  return std::make_unique<Factors>(A, options);
}

#else

bool has_mumps() {
  return false;
}

std::unique_ptr<Factorization> factorize(const matrix::DistMatrix<double>&, const FactorOptions&) {
  throw Error(ErrorCode::unsupported,
              "`preconditioner direct` needs MUMPS, which this build is without (CMake's "
              "NODEWISE_MUMPS; Debian: libmumps-dev)");
}

#endif

}  // namespace nodewise::solve
