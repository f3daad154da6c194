/* What the files of the test of nodewise_mpil.h share. */
#ifndef MPIL_SUPPORT_H
#define MPIL_SUPPORT_H

#include <nodewise_mpil.h>

#include <mpi.h>

enum { most_ranks = 64 };

/* Of MPI_COMM_WORLD. */
extern int rank, size;

/* Local. Counts and reports what is not true. */
void expect(int condition, const char* what, int line);
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* Collective. Every form of the neighbourhood exchange beside MPI's. Nodes of `ppn` processes,
 * those of MPI for 0; divided into domains of `leaders`, not for 0. */
void test_neighbours(int ppn, int leaders);

/* Collective. What they refuse. */
void test_neighbour_errors(void);

#endif
