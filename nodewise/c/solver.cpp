// The C interface of the solver: nodewise.h.
#include "nodewise/solver/solver.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/version.hpp"
#include "nodewise/c/nodewise.h"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/report/solve_json.hpp"

using namespace nodewise;

struct nodewise_options {
  solver::Options options;
  std::optional<Error> failure;  // the first of set(), for those who are not told on all ranks
};

struct nodewise_matrix {
  explicit nodewise_matrix(const comm::Layout& layout) : rows(layout), entries(layout, layout) {}

  /// Collective. The matrix of what was put, of which nothing stays.
  std::shared_ptr<const Solver::Matrix> take() {
    mpi::agree(rows.comm(), std::exchange(failure, std::nullopt));
    auto made = std::exchange(whole, nullptr);
    return made ? made : std::make_shared<const Solver::Matrix>(entries.finish());
  }

  comm::Layout rows;
  matrix::Assembler<double> entries;
  std::shared_ptr<const Solver::Matrix> whole;  // where all rows were put at once
  solver::Problem problem;
  std::optional<Error> failure;  // the first of add()
};

struct nodewise_solver {
  Solver solver;
  std::string json;
};

namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

int status_of_current_exception() noexcept {
  try {
    const Error error = mpi::current_error();
    last_error() = error.what();
    return static_cast<int>(error.code());
  } catch (...) {  // no memory for the text
    return NODEWISE_OUT_OF_MEMORY;
  }
}

/// Runs the body of a function.
template <class Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return NODEWISE_SUCCESS;
  } catch (...) {
    return status_of_current_exception();
  }
}

/// Local. Throws where a pointer is missing.
void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("{} is NULL", what));
}

/// Runs the body, and keeps the first of its failures for the collective function that agrees.
template <class Body>
int remembering(std::optional<Error>& failure, Body&& body) noexcept {
  return guarded([&] {
    const std::optional<Error> error = mpi::caught(body);
    if (!error) return;
    if (!failure) failure = error;
    throw *error;
  });
}

int create_matrix(nodewise_matrix** matrix, MPI_Comm user, std::int64_t n_local) noexcept {
  return guarded([&] {
    require(matrix, "nodewise_matrix_create: the place for the result");
    if (user == MPI_COMM_NULL) {
      throw Error(ErrorCode::invalid_argument, "the communicator is MPI_COMM_NULL");
    }
    const auto comm = mpi::Comm::create(user);
    *matrix =
        std::make_unique<nodewise_matrix>(comm::Layout::from_local_size(comm, n_local)).release();
  });
}

/// What is copied for each of this rank's rows or points.
std::vector<double> copied(const double* values, std::size_t count, const char* what) {
  if (count > 0) require(values, what);
  return {values, values + count};
}

template <class T>
void free_handle(T** handle) {
  if (handle == nullptr) return;
  delete *handle;
  *handle = nullptr;
}

static_assert(NODEWISE_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(NODEWISE_UNKNOWN_OPTION == static_cast<int>(ErrorCode::unknown_option));
static_assert(NODEWISE_FILE_NOT_FOUND == static_cast<int>(ErrorCode::file_not_found));
static_assert(NODEWISE_FILE_IO == static_cast<int>(ErrorCode::file_io));
static_assert(NODEWISE_FILE_FORMAT == static_cast<int>(ErrorCode::file_format));
static_assert(NODEWISE_DIMENSION_MISMATCH == static_cast<int>(ErrorCode::dimension_mismatch));
static_assert(NODEWISE_UNSUITABLE_MATRIX == static_cast<int>(ErrorCode::unsuitable_matrix));
static_assert(NODEWISE_OUT_OF_MEMORY == static_cast<int>(ErrorCode::out_of_memory));
static_assert(NODEWISE_INDEX_OVERFLOW == static_cast<int>(ErrorCode::index_overflow));
static_assert(NODEWISE_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(NODEWISE_MPI == static_cast<int>(ErrorCode::mpi));
static_assert(NODEWISE_INTERNAL == static_cast<int>(ErrorCode::internal));

}  // namespace

extern "C" {

const char* nodewise_last_error(void) {
  return last_error().c_str();
}

const char* nodewise_version(void) {
  static const std::string text = version();
  return text.c_str();
}

int nodewise_options_create(nodewise_options** options) {
  return guarded([&] {
    require(options, "nodewise_options_create: the place for the result");
    *options = std::make_unique<nodewise_options>().release();
  });
}

int nodewise_options_set(nodewise_options* options, const char* name, const char* value) {
  if (options == nullptr)
    return guarded([&] { require(options, "nodewise_options_set: options"); });
  return remembering(options->failure, [&] {
    require(name, "nodewise_options_set: name");
    require(value, "nodewise_options_set: value");
    options->options.set(name, value);
  });
}

void nodewise_options_free(nodewise_options** options) {
  free_handle(options);
}

int nodewise_matrix_create(nodewise_matrix** matrix, MPI_Comm comm, int64_t n_local) {
  return create_matrix(matrix, comm, n_local);
}

int nodewise_matrix_create_f(nodewise_matrix** matrix, MPI_Fint comm, int64_t n_local) {
  return create_matrix(matrix, MPI_Comm_f2c(comm), n_local);
}

int nodewise_matrix_range(const nodewise_matrix* matrix, int64_t* begin, int64_t* end) {
  return guarded([&] {
    require(matrix, "nodewise_matrix_range: matrix");
    if (begin != nullptr) *begin = matrix->rows.begin();
    if (end != nullptr) *end = matrix->rows.end();
  });
}

int nodewise_matrix_add(nodewise_matrix* matrix, int64_t row, int64_t col, double value) {
  if (matrix == nullptr) return guarded([&] { require(matrix, "nodewise_matrix_add: matrix"); });
  return remembering(matrix->failure, [&] {
    if (!matrix->rows.contains(row) || !matrix->rows.contains(col)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("entry ({}, {}) is outside of the {} rows and columns (counted from "
                              "0)",
                              row, col, matrix->rows.n_global()));
    }
    matrix->entries.add(row, col, value);
  });
}

int nodewise_matrix_set_rows(nodewise_matrix* matrix, const int64_t* row_ptr, const int64_t* cols,
                             const double* values) {
  return guarded([&] {
    require(matrix, "nodewise_matrix_set_rows: matrix");
    const comm::Layout& rows = matrix->rows;
    const auto row = [&](GlobalIndex i, const auto& emit) {
      require(row_ptr, "nodewise_matrix_set_rows: row_ptr");
      const auto k = static_cast<std::size_t>(i - rows.begin());
      if (row_ptr[k + 1] > row_ptr[k]) {
        require(cols, "nodewise_matrix_set_rows: cols");
        require(values, "nodewise_matrix_set_rows: values");
      }
      for (int64_t e = row_ptr[k]; e < row_ptr[k + 1]; ++e) emit(cols[e], values[e]);
    };
    matrix->whole =
        std::make_shared<const Solver::Matrix>(matrix::matrix_from_rows<double>(rows, rows, row));
  });
}

int nodewise_matrix_set_coordinates(nodewise_matrix* matrix, int dimensions, const double* values) {
  if (matrix == nullptr) return guarded([&] { require(matrix, "set_coordinates: matrix"); });
  return remembering(matrix->failure, [&] {
    if (dimensions != 2 && dimensions != 3) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} coordinates a point, where 2 or 3 are needed", dimensions));
    }
    const auto n = static_cast<std::size_t>(matrix->rows.n_local());  // as many as rows
    matrix->problem.coordinates = copied(values, n, "the coordinates");
    matrix->problem.dimensions = dimensions;
  });
}

int nodewise_matrix_set_row_fields(nodewise_matrix* matrix, const int32_t* fields) {
  return guarded([&] {
    require(matrix, "nodewise_matrix_set_row_fields: matrix");
    const comm::Layout& rows = matrix->rows;
    const std::vector<double> numbers = mpi::collectively(rows.comm(), [&] {
      if (rows.n_local() > 0) require(fields, "nodewise_matrix_set_row_fields: fields");
      return std::vector<double>(fields, fields + rows.n_local());
    });
    matrix->problem.fields = solver::RowFields::from_numbers(rows, numbers);
  });
}

int nodewise_matrix_set_near_null_space(nodewise_matrix* matrix, int n_vectors,
                                        const double* values) {
  if (matrix == nullptr) return guarded([&] { require(matrix, "set_near_null_space: matrix"); });
  return remembering(matrix->failure, [&] {
    if (n_vectors < 1) {
      throw Error(ErrorCode::invalid_argument, "a near null space needs a vector at least");
    }
    const auto n = static_cast<std::size_t>(matrix->rows.n_local());
    matrix->problem.near_null_space = {
        n_vectors, copied(values, n * static_cast<std::size_t>(n_vectors), "the vectors")};
  });
}

void nodewise_matrix_free(nodewise_matrix** matrix) {
  free_handle(matrix);
}

int nodewise_solver_create(nodewise_solver** solver, nodewise_matrix* matrix,
                           const nodewise_options* options) {
  return guarded([&] {
    require(solver, "nodewise_solver_create: the place for the result");
    require(matrix, "nodewise_solver_create: matrix");
    if (options != nullptr) mpi::agree(matrix->rows.comm(), options->failure);
    const solver::Options chosen = options != nullptr ? options->options : solver::Options();
    *solver = new nodewise_solver{Solver(matrix->take(), chosen, matrix->problem), ""};
  });
}

int nodewise_solver_rebuild(nodewise_solver* solver, nodewise_matrix* matrix) {
  return guarded([&] {
    require(solver, "nodewise_solver_rebuild: solver");
    require(matrix, "nodewise_solver_rebuild: matrix");
    solver->solver.rebuild(matrix->take());
  });
}

int nodewise_solver_solve(nodewise_solver* solver, const double* b, double* x, int n_rhs,
                          int* converged) {
  return guarded([&] {
    require(solver, "nodewise_solver_solve: solver");
    Solver& s = solver->solver;
    const auto n_local = static_cast<std::size_t>(s.layout().n_local());
    mpi::collectively(s.matrix()->comm(), [&] {
      if (n_local == 0) return;
      require(b, "nodewise_solver_solve: b");
      require(x, "nodewise_solver_solve: x");
    });
    const std::size_t n = n_local * static_cast<std::size_t>(n_rhs < 0 ? 0 : n_rhs);
    const solver::SolveRecord& record = s.solve_all({b, n}, {x, n}, n_rhs);
    if (converged != nullptr) *converged = record.converged() ? 1 : 0;
  });
}

int nodewise_solver_iterations(const nodewise_solver* solver, int* iterations) {
  return guarded([&] {
    require(solver, "nodewise_solver_iterations: solver");
    const solver::SolveRecord& record = solver->solver.record();
    if (iterations != nullptr) *iterations = record.reports.empty() ? 0 : record.iterations();
  });
}

int nodewise_solver_report(nodewise_solver* solver, const char** json) {
  return guarded([&] {
    require(solver, "nodewise_solver_report: solver");
    require(json, "nodewise_solver_report: the place for the result");
    if (solver->solver.record().reports.empty()) {
      throw Error(ErrorCode::invalid_argument, "there is no report before the first solve");
    }
    solver->json = report::solve_json(solver->solver.record());
    *json = solver->json.c_str();
  });
}

void nodewise_solver_free(nodewise_solver** solver) {
  free_handle(solver);
}

}  // extern "C"
