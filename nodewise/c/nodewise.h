/* Nodewise for C: systems of equations A x = b with sparse A, solved on all processes of a
 * communicator, each of which has a range of rows. Link with -lnodewise_c and MPI. Fortran programs
 * call the same functions by iso_c_binding (examples/fortran).
 *
 * Rows and columns count from 0. Functions return NODEWISE_SUCCESS or an error; its text is in
 * nodewise_last_error(). None ends the program or lets an exception out. Where a collective
 * function finds something wrong on one process it fails with the same error and text on all. A
 * solve that does not converge is no error. Handles are used between MPI_Init and MPI_Finalize, and
 * where one is NULL the function fails on that process alone. */
#ifndef NODEWISE_H
#define NODEWISE_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "nodewise/base/version.h"

#if defined(__GNUC__)
#define NODEWISE_API __attribute__((visibility("default")))
#else
#define NODEWISE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum nodewise_status {
  NODEWISE_SUCCESS = 0,
  NODEWISE_INVALID_ARGUMENT = 1, /* an argument or option value outside its range */
  NODEWISE_UNKNOWN_OPTION = 2,   /* the text names the nearest */
  NODEWISE_FILE_NOT_FOUND = 3,
  NODEWISE_FILE_IO = 4,
  NODEWISE_FILE_FORMAT = 5,
  NODEWISE_DIMENSION_MISMATCH = 6, /* shapes that do not fit each other */
  NODEWISE_UNSUITABLE_MATRIX = 7,  /* not square, zero diagonal entries, empty rows, NaN */
  NODEWISE_OUT_OF_MEMORY = 8,
  NODEWISE_INDEX_OVERFLOW = 9,
  NODEWISE_UNSUPPORTED = 10,
  NODEWISE_MPI = 11,     /* a call of MPI failed */
  NODEWISE_INTERNAL = 12 /* a defect of the library */
};

typedef struct nodewise_options nodewise_options;
typedef struct nodewise_matrix nodewise_matrix;
typedef struct nodewise_solver nodewise_solver;

/* Local. What went wrong in the last call of this thread that failed; "" if none did. Valid until
 * the next one does. Options are named by their fields, in backquotes. */
NODEWISE_API const char* nodewise_last_error(void);
/* Local. "0.1.0". */
NODEWISE_API const char* nodewise_version(void);

/* Local. Options with their defaults: those of `nodewise solve`, which are chosen by the matrix. */
NODEWISE_API int nodewise_options_create(nodewise_options** options);
/* Local. Sets an option by its name, as on the command line but with underscores, such as
 * ("strength_threshold", "0.5") or ("smoother", "chebyshev"); docs/options.md lists them. The same
 * on all processes. NODEWISE_UNKNOWN_OPTION or NODEWISE_INVALID_ARGUMENT where there is no such
 * option or value; nodewise_solver_create() then fails, too, on all processes. */
NODEWISE_API int nodewise_options_set(nodewise_options* options, const char* name,
                                      const char* value);
/* Local. Sets *options to NULL; NULL itself is left alone. So do the other two. */
NODEWISE_API void nodewise_options_free(nodewise_options** options);

/* Collective on `comm`, of which a duplicate is kept. A square matrix, of whose rows this process
 * has n_local, from none on; those of the next process follow. It has no entries yet. */
NODEWISE_API int nodewise_matrix_create(nodewise_matrix** matrix, MPI_Comm comm, int64_t n_local);
/* The same for Fortran, where a communicator is a number (of `use mpi_f08`: comm%MPI_VAL). */
NODEWISE_API int nodewise_matrix_create_f(nodewise_matrix** matrix, MPI_Fint comm, int64_t n_local);
/* Local. The rows of this process are *begin to *end - 1. */
NODEWISE_API int nodewise_matrix_range(const nodewise_matrix* matrix, int64_t* begin, int64_t* end);
/* Local. Puts an entry of any process's rows; several in one place add up. What is outside of the
 * matrix is an error of this call, and of the collective one that takes the matrix. */
NODEWISE_API int nodewise_matrix_add(nodewise_matrix* matrix, int64_t row, int64_t col,
                                     double value);
/* Collective. Puts all rows at once, in place of what was put before: those of this process, as
 * compressed rows. Row k has the columns cols[row_ptr[k]] to cols[row_ptr[k + 1] - 1], in any
 * order, repeated ones are added up. Faster than adding each. The arrays are not kept. */
NODEWISE_API int nodewise_matrix_set_rows(nodewise_matrix* matrix, const int64_t* row_ptr,
                                          const int64_t* cols, const double* values);
/* Local. Coordinates of this process's points, `dimensions` (2 or 3) a point, for linear
 * elasticity with as many successive rows a point: values[p * dimensions + d]. They are copied. */
NODEWISE_API int nodewise_matrix_set_coordinates(nodewise_matrix* matrix, int dimensions,
                                                 const double* values);
/* Local. Vectors that the matrix nearly maps to zero: values[i * n_vectors + k] is that of vector k
 * at this process's row i. They are copied. */
NODEWISE_API int nodewise_matrix_set_near_null_space(nodewise_matrix* matrix, int n_vectors,
                                                     const double* values);
/* Collective. The field of each of this process's rows, whole numbers from 0, for
 * preconditioner=fields, which eliminates field 0 first. They are copied.
 * NODEWISE_INVALID_ARGUMENT on all processes where no row is of a field below the highest. */
NODEWISE_API int nodewise_matrix_set_row_fields(nodewise_matrix* matrix, const int32_t* fields);
NODEWISE_API void nodewise_matrix_free(nodewise_matrix** matrix);

/* Collective. Takes the entries and sets up a solver; the matrix is then empty, to be filled with
 * other values for nodewise_solver_rebuild(), or freed. `options` may be NULL. */
NODEWISE_API int nodewise_solver_create(nodewise_solver** solver, nodewise_matrix* matrix,
                                        const nodewise_options* options);
/* Collective. Takes entries at the same places and with other values, and sets up again for less
 * than a new solver costs. After an error the solver is as it was. */
NODEWISE_API int nodewise_solver_rebuild(nodewise_solver* solver, nodewise_matrix* matrix);
/* Collective. Solves for n_rhs right-hand sides at once, side by side: b[i * n_rhs + k] is that of
 * right-hand side k at this process's row i (in Fortran b(k, i)), and so is x, which has the
 * initial guess and receives the solution. *converged, which may be NULL, is 1 where all did and
 * else 0; the report then says why and what to try. */
NODEWISE_API int nodewise_solver_solve(nodewise_solver* solver, const double* b, double* x,
                                       int n_rhs, int* converged);
/* Local. Iterations of the last solve; of several right-hand sides of that which fared worst. */
NODEWISE_API int nodewise_solver_iterations(const nodewise_solver* solver, int* iterations);
/* Local. All that is known of the setup and of the last solve, as JSON (docs/report.md), ended by a
 * zero. Valid until the next call with this solver. NODEWISE_INVALID_ARGUMENT before the first
 * solve. */
NODEWISE_API int nodewise_solver_report(nodewise_solver* solver, const char** json);
NODEWISE_API void nodewise_solver_free(nodewise_solver** solver);

#ifdef __cplusplus
}
#endif

#endif /* NODEWISE_H */
