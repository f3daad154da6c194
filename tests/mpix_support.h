/* What the files of the test of the C interface share. */
#ifndef MPIX_SUPPORT_H
#define MPIX_SUPPORT_H

#include <nodewise_mpix.h>

#include <mpi.h>

enum { most_ranks = 64 };

/* Of MPI_COMM_WORLD. */
extern int rank, size;

/* Local. Counts and reports what is not true. */
void expect(int condition, const char* what, int line);
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* Collective. Every collective by every algorithm, and what they refuse. */
void test_collectives(MPIX_Comm* xcomm);

#endif
