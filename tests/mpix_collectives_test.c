/* The node-aware collectives of the C interface. */
#include <string.h>

#include "mpix_support.h"

enum {
  length = 2500,
  most_items = 64 * 8
}; /* more than fits a piece of the node-aware allreduce */

static void largest_magnitude(void* in, void* inout, int* n, MPI_Datatype* type) {
  const long long *from = in, *end = from + *n;
  long long* to = inout;
  (void)type;
  for (; from != end; ++from, ++to) {
    const long long a = *from < 0 ? -*from : *from, b = *to < 0 ? -*to : *to;
    *to = a > b ? a : b;
  }
}

static void take_the_first(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*n * sizeof(int));
}

static void test_allreduce(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  static long long values[length], sums[length];
  for (int count = 0; count <= length; count = count == 0 ? 1 : count * 50) {
    for (int k = 0; k < count; ++k) sums[k] = values[k] = (long long)(rank + 1) * (k + 3);
    const long long ranks = (long long)size * (size + 1) / 2;
    EXPECT(MPIX_Allreduce(MPI_IN_PLACE, sums, count, MPI_LONG_LONG, MPI_SUM, xinfo, xcomm) ==
           MPI_SUCCESS);
    int wrong = 0;
    for (int k = 0; k < count; ++k) wrong += sums[k] != ranks * (k + 3);
    EXPECT(wrong == 0);
    memset(sums, 0, sizeof sums);
    EXPECT(MPIX_Allreduce_c(values, sums, count, MPI_LONG_LONG, MPI_SUM, xinfo, xcomm) ==
           MPI_SUCCESS);
    for (int k = 0; k < count; ++k) wrong += sums[k] != ranks * (k + 3);
    EXPECT(wrong == 0 && (count == 0 || values[count - 1] == (long long)(rank + 1) * (count + 2)));
  }
}

static void test_operations(MPIX_Comm* xcomm, const MPIX_Info* xinfo, int wants_commutative) {
  MPI_Op magnitude, first;
  MPI_Op_create(largest_magnitude, 1, &magnitude);
  MPI_Op_create(take_the_first, 0, &first);
  const long long mine[] = {-rank, rank};
  long long got[2] = {-1, -1};
  EXPECT(MPIX_Allreduce(mine, got, 2, MPI_LONG_LONG, magnitude, xinfo, xcomm) == MPI_SUCCESS);
  EXPECT(got[0] == size - 1 && got[1] == size - 1);
  int lowest = -1;
  const int status = MPIX_Allreduce(&rank, &lowest, 1, MPI_INT, first, xinfo, xcomm);
  if (wants_commutative) {
    EXPECT(status == MPI_ERR_OP && lowest == -1);
    EXPECT(strstr(MPIX_Last_error(), "needs a commutative operation") != NULL);
  } else {
    EXPECT(status == MPI_SUCCESS && lowest == 0);
  }
  MPI_Op_free(&magnitude);
  MPI_Op_free(&first);
}

static void test_allgather(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  const int mine[] = {rank, -1, 7 * rank};
  MPI_Datatype ends; /* the first and the last of three */
  MPI_Type_vector(2, 1, 2, MPI_INT, &ends);
  MPI_Type_commit(&ends);
  int got[2 * most_ranks];
  memset(got, -1, sizeof got);
  EXPECT(MPIX_Allgather(mine, 1, ends, got, 2, MPI_INT, xinfo, xcomm) == MPI_SUCCESS);
  for (int r = 0; r < size; ++r) EXPECT(got[2 * r] == r && got[2 * r + 1] == 7 * r);
  memset(got, -1, sizeof got);
  got[2 * rank] = rank;
  got[2 * rank + 1] = 9 * rank;
  EXPECT(MPIX_Allgather_c(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, got, 2, MPI_INT, xinfo, xcomm) ==
         MPI_SUCCESS);
  for (int r = 0; r < size; ++r) EXPECT(got[2 * r] == r && got[2 * r + 1] == 9 * r);
  MPI_Type_free(&ends);
}

static void test_allgatherv(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  int counts[most_ranks], displs[most_ranks], mine[3], got[most_items];
  int64_t long_counts[most_ranks], long_displs[most_ranks];
  for (int r = 0; r < size; ++r) { /* r % 4 items, the last process first, gaps between */
    long_counts[r] = counts[r] = r % 4;
    long_displs[r] = displs[r] = 5 * (size - 1 - r);
  }
  for (int k = 0; k < counts[rank]; ++k) mine[k] = 10 * rank + k;
  for (int is_long = 0; is_long < 2; ++is_long) {
    memset(got, -1, sizeof got);
    EXPECT((is_long ? MPIX_Allgatherv_c(mine, counts[rank], MPI_INT, got, long_counts, long_displs,
                                        MPI_INT, xinfo, xcomm)
                    : MPIX_Allgatherv(mine, counts[rank], MPI_INT, got, counts, displs, MPI_INT,
                                      xinfo, xcomm)) == MPI_SUCCESS);
    for (int r = 0; r < size; ++r) {
      for (int k = 0; k < 5; ++k) {
        EXPECT(got[displs[r] + k] == (k < counts[r] ? 10 * r + k : -1));
      }
    }
  }
}

/* From `from` to `to`, 0 to 4 items. */
static int n_items(int from, int to) {
  return (3 * from + 5 * to) % 5;
}

static void test_alltoallv(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  int n_sent[most_ranks], sent_at[most_ranks], n_got[most_ranks], got_at[most_ranks];
  int64_t counts[4][most_ranks];
  double values[most_items], got[most_items];
  for (int r = 0; r < size; ++r) {
    counts[0][r] = n_sent[r] = n_items(rank, r);
    counts[1][r] = sent_at[r] = 5 * r;
    counts[2][r] = n_got[r] = n_items(r, rank);
    counts[3][r] = got_at[r] = 6 * (size - 1 - r);
    for (int k = 0; k < n_sent[r]; ++k) values[sent_at[r] + k] = 1000.0 * rank + 10 * r + k;
  }
  for (int is_long = 0; is_long < 2; ++is_long) {
    for (int k = 0; k < most_items; ++k) got[k] = -1;
    EXPECT((is_long ? MPIX_Alltoallv_c(values, counts[0], counts[1], MPI_DOUBLE, got, counts[2],
                                       counts[3], MPI_DOUBLE, xinfo, xcomm)
                    : MPIX_Alltoallv(values, n_sent, sent_at, MPI_DOUBLE, got, n_got, got_at,
                                     MPI_DOUBLE, xinfo, xcomm)) == MPI_SUCCESS);
    for (int r = 0; r < size; ++r) {
      for (int k = 0; k < 6; ++k) {
        EXPECT(got[got_at[r] + k] == (k < n_got[r] ? 1000.0 * r + 10 * rank + k : -1));
      }
    }
  }
}

static void test_alltoallv_in_place(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  int ones[most_ranks], places[most_ranks], items[most_ranks];
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = r;
    items[r] = 100 * rank + r;
  }
  EXPECT(MPIX_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, items, ones, places, MPI_INT,
                        xinfo, xcomm) == MPI_SUCCESS);
  for (int r = 0; r < size; ++r) EXPECT(items[r] == 100 * r + rank);
}

/* Wrong on the last rank only: the same class on all, nothing written, and the next call works. */
static void test_errors(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  const int bad = rank == size - 1;
  int items[most_ranks] = {rank}, got[most_ranks] = {-5}, ones[most_ranks], places[most_ranks];
  for (int r = 0; r < size; ++r) {
    ones[r] = 1;
    places[r] = r;
  }
  EXPECT(MPIX_Allreduce(items, got, bad ? -1 : 1, MPI_INT, MPI_SUM, xinfo, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "a count of -1") != NULL);
  EXPECT(MPIX_Allreduce(items, bad ? NULL : got, 1, MPI_INT, MPI_SUM, xinfo, xcomm) == MPI_ERR_ARG);
  EXPECT(MPIX_Allreduce(items, got, 1, MPI_INT, bad ? MPI_OP_NULL : MPI_SUM, xinfo, xcomm) ==
         MPI_ERR_ARG);
  EXPECT(MPIX_Allgather(items, 1, MPI_INT, got, 1, bad ? MPI_DATATYPE_NULL : MPI_INT, xinfo,
                        xcomm) == MPI_ERR_ARG);
  EXPECT(MPIX_Allgather(items, bad ? 2 : 1, MPI_INT, got, 1, MPI_INT, xinfo, xcomm) == MPI_ERR_ARG);
  EXPECT(MPIX_Allgatherv(items, 1, MPI_INT, got, bad ? NULL : ones, places, MPI_INT, xinfo,
                         xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "one count and one start for each rank") != NULL);
  EXPECT(MPIX_Alltoallv(items, ones, bad ? NULL : places, MPI_INT, got, ones, places, MPI_INT,
                        xinfo, xcomm) == MPI_ERR_ARG);
  int counts[most_ranks];
  memcpy(counts, ones, sizeof counts);
  counts[0] += bad; /* sends process 0 more than it expects */
  EXPECT(MPIX_Alltoallv(items, counts, places, MPI_INT, got, ones, places, MPI_INT, xinfo, xcomm) ==
         MPI_ERR_ARG);
  EXPECT(got[0] == -5);
  EXPECT(MPIX_Allreduce(items, got, 1, MPI_INT, MPI_MAX, xinfo, NULL) == MPI_ERR_COMM);
  EXPECT(MPIX_Allreduce(items, got, 1, MPI_INT, MPI_MAX, xinfo, xcomm) == MPI_SUCCESS);
  EXPECT(got[0] == size - 1);
}

static MPIX_Info* info_of_three(const char* const algorithms[3]) {
  static const char* const keys[] = {"allreduce", "allgather", "alltoallv"};
  MPIX_Info* xinfo = NULL;
  EXPECT(MPIX_Info_init(&xinfo) == MPI_SUCCESS);
  for (int k = 0; k < 3; ++k) EXPECT(MPIX_Info_set(xinfo, keys[k], algorithms[k]) == MPI_SUCCESS);
  return xinfo;
}

static MPIX_Info* info_of(const char* algorithm) {
  const char* const algorithms[] = {algorithm, algorithm, algorithm};
  return info_of_three(algorithms);
}

/* The first process names another algorithm than the others. */
static void test_algorithms_that_differ(MPIX_Comm* xcomm) {
  if (size == 1) return;
  MPIX_Info* xinfo = info_of(rank == 0 ? "mpi" : "node_aware");
  int counts[most_ranks] = {0}, item = rank, got[most_ranks] = {-5};
  EXPECT(MPIX_Allreduce(&item, got, 1, MPI_INT, MPI_SUM, xinfo, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "different algorithms") != NULL);
  EXPECT(MPIX_Allgather(&item, 1, MPI_INT, got, 1, MPI_INT, xinfo, xcomm) == MPI_ERR_ARG);
  EXPECT(MPIX_Alltoallv(&item, counts, counts, MPI_INT, got, counts, counts, MPI_INT, xinfo,
                        xcomm) == MPI_ERR_ARG);
  EXPECT(got[0] == -5);
  MPIX_Info_free(&xinfo);
}

static void test_algorithm(MPIX_Comm* xcomm, const MPIX_Info* xinfo, int wants_commutative) {
  test_allreduce(xcomm, xinfo);
  test_operations(xcomm, xinfo, wants_commutative);
  test_allgather(xcomm, xinfo);
  test_allgatherv(xcomm, xinfo);
  test_alltoallv(xcomm, xinfo);
  test_alltoallv_in_place(xcomm, xinfo);
  test_errors(xcomm, xinfo);
}

void test_collectives(MPIX_Comm* xcomm) {
  static const char* const algorithms[][3] = {{"automatic", "automatic", "automatic"},
                                              {"mpi", "mpi", "mpi"},
                                              {"node_aware", "node_aware", "node_aware"},
                                              {"node_leaders", "ring", "pairwise"},
                                              {"recursive_doubling", "bruck", "spread_out"}};
  test_algorithm(xcomm, NULL, 0);
  for (int a = 0; a < 5; ++a) {
    MPIX_Info* xinfo = info_of_three(algorithms[a]);
    test_algorithm(xcomm, xinfo, a >= 2);
    EXPECT(MPIX_Info_set(xinfo, "alltoallv", "fast") == MPI_ERR_INFO_VALUE);
    EXPECT(MPIX_Info_set(xinfo, "alltoallv", "ring") == MPI_ERR_INFO_VALUE);
    MPIX_Info_free(&xinfo);
  }
  test_algorithms_that_differ(xcomm);
}
