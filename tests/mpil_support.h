/* What the files of the test of nodewise_mpil.h share. */
#ifndef MPIL_SUPPORT_H
#define MPIL_SUPPORT_H

#include <nodewise_mpil.h>

#include "mpix_support.h"

/* Collective. Every form of the neighbourhood exchange beside MPI's. Nodes of `ppn` processes,
 * those of MPI for 0; divided into domains of `leaders`, not for 0. */
void test_neighbours(int ppn, int leaders);

/* Collective. What they refuse. */
void test_neighbour_errors(void);

#endif
