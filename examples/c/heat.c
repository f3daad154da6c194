/* Two time steps of the heat equation on a square, from C.
 *   mpicc heat.c -lnodewise_c -o heat && mpirun -n 2 ./heat [points in each direction]
 *
 * Every process has a range of rows and puts them as compressed rows; the second step, of another
 * length, has new values at the same places, for which the solver is rebuilt. */
#include <nodewise.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

/* Ends the program with the library's message: one process prints it, since all fail alike. */
static void check(int status, int rank) {
  if (status == NODEWISE_SUCCESS) return;
  if (rank == 0) fprintf(stderr, "%s\n", nodewise_last_error());
  MPI_Finalize();
  exit(EXIT_FAILURE);
}

/* The rows of I + dt L of this process, L being the five-point Laplacian of n x n points. */
static int put_rows(nodewise_matrix* A, int n, double dt) {
  int64_t begin, end;
  nodewise_matrix_range(A, &begin, &end);
  const size_t rows = (size_t)(end - begin);
  int64_t* row_ptr = malloc((rows + 1) * sizeof(*row_ptr));
  int64_t* cols = malloc((5 * rows + 1) * sizeof(*cols));
  double* values = malloc((5 * rows + 1) * sizeof(*values));
  int64_t e = 0;
  row_ptr[0] = 0;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x = i % n, y = i / n;
    const int64_t neighbours[4] = {y > 0 ? i - n : -1, x > 0 ? i - 1 : -1, x < n - 1 ? i + 1 : -1,
                                   y < n - 1 ? i + n : -1};
    cols[e] = i;
    values[e++] = 1 + 4 * dt;
    for (int k = 0; k < 4; ++k) {
      if (neighbours[k] < 0) continue;
      cols[e] = neighbours[k];
      values[e++] = -dt;
    }
    row_ptr[i - begin + 1] = e;
  }
  const int status = nodewise_matrix_set_rows(A, row_ptr, cols, values);
  free(row_ptr);
  free(cols);
  free(values);
  return status;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  const int64_t n_rows = (int64_t)n * n;
  const int64_t n_local = n_rows / size + (rank < n_rows % size ? 1 : 0);

  nodewise_options* options = NULL;
  check(nodewise_options_create(&options), rank);
  check(nodewise_options_set(options, "tolerance", "1e-10"), rank);

  nodewise_matrix* A = NULL;
  nodewise_solver* solver = NULL;
  check(nodewise_matrix_create(&A, MPI_COMM_WORLD, n_local), rank);
  double* u = malloc(((size_t)n_local + 1) * sizeof(*u));
  double* next = malloc(((size_t)n_local + 1) * sizeof(*next));
  for (int64_t i = 0; i < n_local; ++i) u[i] = next[i] = 1;

  for (int step = 0; step < 2; ++step) {
    int converged, iterations;
    const double dt = step == 0 ? 10 : 20;
    check(put_rows(A, n, dt), rank);
    check(step == 0 ? nodewise_solver_create(&solver, A, options)
                    : nodewise_solver_rebuild(solver, A),
          rank);
    check(nodewise_solver_solve(solver, u, next, 1, &converged), rank);
    check(nodewise_solver_iterations(solver, &iterations), rank);
    if (rank == 0) {
      printf("dt %g: %s after %d iterations\n", dt, converged ? "converged" : "NOT converged",
             iterations);
    }
    for (int64_t i = 0; i < n_local; ++i) u[i] = next[i];
  }

  /* All that is known of the last solve, for other programs. */
  const char* json;
  check(nodewise_solver_report(solver, &json), rank);
  FILE* file = rank == 0 ? fopen("heat.json", "w") : NULL;
  if (file != NULL) {
    fputs(json, file);
    fclose(file);
  }

  free(u);
  free(next);
  nodewise_solver_free(&solver);
  nodewise_matrix_free(&A);
  nodewise_options_free(&options);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
