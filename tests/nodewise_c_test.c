/* The C interface of the solver: entries one by one and all rows at once, options, rebuilding,
 * several right-hand sides, reports, and errors that all processes are told. */
#include <math.h>
#include <nodewise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { n_local = 50 };

static int rank, size, failures;

static void expect(int condition, const char* what, int line) {
  if (condition) return;
  ++failures;
  fprintf(stderr, "process %d, line %d: not so: %s (%s)\n", rank, line, what,
          nodewise_last_error());
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

/* The rows of -u'' + shift u, put one by one or all at once. */
static void fill(nodewise_matrix* A, double shift, int at_once) {
  int64_t begin, end, row_ptr[n_local + 1] = {0}, cols[3 * n_local];
  double values[3 * n_local];
  EXPECT(nodewise_matrix_range(A, &begin, &end) == NODEWISE_SUCCESS);
  const int64_t n = (int64_t)n_local * size;
  int64_t e = 0;
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      cols[e] = j;
      values[e] = i == j ? 2 + shift : -1;
      if (!at_once) EXPECT(nodewise_matrix_add(A, i, j, values[e]) == NODEWISE_SUCCESS);
      ++e;
    }
    row_ptr[i - begin + 1] = e;
  }
  if (at_once) EXPECT(nodewise_matrix_set_rows(A, row_ptr, cols, values) == NODEWISE_SUCCESS);
}

static void test_solve(void) {
  nodewise_matrix* A = NULL;
  nodewise_options* options = NULL;
  nodewise_solver* solver = NULL;
  double b[n_local], x[n_local], y[n_local], B[2 * n_local], X[2 * n_local];
  const char* json = NULL;
  int converged = 0, iterations = 0, of_all = 0;
  for (int i = 0; i < n_local; ++i) {
    b[i] = 1 + (i + rank) % 3;
    x[i] = y[i] = X[2 * i] = X[2 * i + 1] = 0;
    B[2 * i] = b[i];
    B[2 * i + 1] = 2 * b[i];
  }
  EXPECT(nodewise_matrix_create(&A, MPI_COMM_WORLD, n_local) == NODEWISE_SUCCESS);
  EXPECT(nodewise_options_create(&options) == NODEWISE_SUCCESS);
  EXPECT(nodewise_options_set(options, "tolerance", "1e-10") == NODEWISE_SUCCESS);
  EXPECT(nodewise_options_set(options, "solver", "cg") == NODEWISE_SUCCESS);
  fill(A, 0.1, 0);
  EXPECT(nodewise_solver_create(&solver, A, options) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_report(solver, &json) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_solver_solve(solver, b, x, 1, &converged) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_iterations(solver, &iterations) == NODEWISE_SUCCESS);
  EXPECT(converged == 1 && iterations > 0);
  EXPECT(nodewise_solver_report(solver, &json) == NODEWISE_SUCCESS);
  EXPECT(json != NULL && strstr(json, "\"iterations\"") != NULL);
  EXPECT(nodewise_solver_solve(solver, B, X, 2, &converged) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_iterations(solver, &of_all) == NODEWISE_SUCCESS);
  EXPECT(converged == 1 && of_all == iterations);
  for (int i = 0; i < n_local; ++i) EXPECT(fabs(X[2 * i + 1] - 2 * x[i]) < 1e-7);

  fill(A, 0.2, 1);
  EXPECT(nodewise_solver_rebuild(solver, A) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_solve(solver, b, y, 1, NULL) == NODEWISE_SUCCESS);
  EXPECT(fabs(y[0] - x[0]) > 1e-6);
  fill(A, 0.1, 1);
  EXPECT(nodewise_solver_rebuild(solver, A) == NODEWISE_SUCCESS);
  for (int i = 0; i < n_local; ++i) y[i] = 0;
  EXPECT(nodewise_solver_solve(solver, b, y, 1, NULL) == NODEWISE_SUCCESS);
  for (int i = 0; i < n_local; ++i) EXPECT(y[i] == x[i]);
  nodewise_solver_free(&solver);
  nodewise_options_free(&options);
  nodewise_matrix_free(&A);
  EXPECT(solver == NULL && options == NULL && A == NULL);
  nodewise_matrix_free(&A);
  nodewise_matrix_free(NULL);
}

/* Even rows are one field, odd ones the other: with no second field there is an error on all. */
static void test_fields(void) {
  nodewise_matrix* A = NULL;
  nodewise_options* options = NULL;
  nodewise_solver* solver = NULL;
  double b[n_local], x[n_local] = {0};
  int32_t fields[n_local];
  int converged = 0;
  for (int i = 0; i < n_local; ++i) b[i] = 1, fields[i] = i % 2;
  EXPECT(nodewise_options_create(&options) == NODEWISE_SUCCESS);
  EXPECT(nodewise_options_set(options, "preconditioner", "fields") == NODEWISE_SUCCESS);
  EXPECT(nodewise_matrix_create(&A, MPI_COMM_WORLD, n_local) == NODEWISE_SUCCESS);
  EXPECT(nodewise_matrix_set_row_fields(NULL, fields) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_matrix_set_row_fields(A, rank == size - 1 ? NULL : fields) ==
         NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_matrix_set_row_fields(A, fields) == NODEWISE_SUCCESS);
  fill(A, 0.1, 1);
  EXPECT(nodewise_solver_create(&solver, A, options) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_solve(solver, b, x, 1, &converged) == NODEWISE_SUCCESS);
  EXPECT(converged == 1);
  nodewise_solver_free(&solver);
  nodewise_options_free(&options);
  nodewise_matrix_free(&A);
}

static void test_errors(void) {
  nodewise_matrix* A = NULL;
  nodewise_options* options = NULL;
  nodewise_solver* solver = NULL;
  double b[n_local] = {0};
  const int last = rank == size - 1;
  EXPECT(nodewise_options_create(&options) == NODEWISE_SUCCESS);
  EXPECT(nodewise_matrix_create(&A, MPI_COMM_WORLD, n_local) == NODEWISE_SUCCESS);
  EXPECT(nodewise_matrix_create(&A, MPI_COMM_NULL, 3) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_options_set(NULL, "solver", "cg") == NODEWISE_INVALID_ARGUMENT);

  /* One process puts an entry that there is not: all are told by the collective call. */
  fill(A, 0, 0);
  if (last) EXPECT(nodewise_matrix_add(A, 0, 1000000, 1.0) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_solver_create(&solver, A, NULL) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(strstr(nodewise_last_error(), "1000000") != NULL);
  EXPECT(solver == NULL);

  /* One process names an option that there is not. */
  nodewise_matrix_free(&A);
  EXPECT(nodewise_matrix_create(&A, MPI_COMM_WORLD, n_local) == NODEWISE_SUCCESS);
  fill(A, 0, 1);
  if (last) EXPECT(nodewise_options_set(options, "max_level", "3") == NODEWISE_UNKNOWN_OPTION);
  EXPECT(nodewise_solver_create(&solver, A, options) == NODEWISE_UNKNOWN_OPTION);
  EXPECT(strstr(nodewise_last_error(), "max_levels") != NULL);

  EXPECT(nodewise_solver_create(&solver, A, NULL) == NODEWISE_SUCCESS);
  EXPECT(nodewise_solver_solve(solver, b, last ? NULL : b, 1, NULL) == NODEWISE_INVALID_ARGUMENT);
  EXPECT(nodewise_solver_solve(solver, b, b, 0, NULL) == NODEWISE_INVALID_ARGUMENT);
  nodewise_solver_free(&solver);
  nodewise_options_free(&options);
  nodewise_matrix_free(&A);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char version[40];
  snprintf(version, sizeof version, "%d.%d.%d", NODEWISE_VERSION_MAJOR, NODEWISE_VERSION_MINOR,
           NODEWISE_VERSION_PATCH);
  EXPECT(strcmp(nodewise_version(), version) == 0);
  EXPECT(NODEWISE_VERSION == NODEWISE_VERSION_NUMBER(0, 0, 0) + 1000000 * NODEWISE_VERSION_MAJOR +
                                 1000 * NODEWISE_VERSION_MINOR + NODEWISE_VERSION_PATCH);
  test_solve();
  test_fields();
  test_errors();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d failures on %d processes\n", all ? "FAILED" : "passed", all, size);
  MPI_Finalize();
  return all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
