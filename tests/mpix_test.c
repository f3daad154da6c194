/* The C interface, from C: every algorithm, on given placements, and what it refuses. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpix_support.h"

enum { most_items = 64 * 8 };

int rank, size;
static int n_failures;

void expect(int condition, const char* what, int line) {
  if (condition) return;
  ++n_failures;
  fprintf(stderr, "rank %d, line %d: not true: %s; last error: %s\n", rank, line, what,
          MPIX_Last_error());
}

static const char* const algorithms[] = {"automatic",
                                         "personalized",
                                         "nonblocking",
                                         "locality_personalized",
                                         "locality_nonblocking",
                                         "locality_dense",
                                         "rma",
                                         "locality_rma"};
enum { n_variable = 6, n_algorithms = 8 };

/* What one rank sends to another: -1 for no message, else the number of items, 0 to 6. */
static int length_of(int from, int to) {
  const unsigned h = 2654435761u * (unsigned)(from * 71 + to * 13 + 5) >> 20;
  return h % 3 == 0 ? -1 : (int)(h % 7);
}

static long long item_of(int from, int to, int k) {
  return from == to ? 0 : ((1LL << 33) + from) * 1000 + to * 10 + k; /* zeros are items, too */
}

static void test_alltoallv(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  int dest[most_ranks], counts[most_ranks], displs[most_ranks];
  long long values[most_items];
  int n = 0, items = 0;
  for (int to = size - 1; to >= 0; --to) {
    const int length = length_of(rank, to);
    if (length < 0) continue;
    dest[n] = to;
    counts[n] = length;
    displs[n++] = items;
    for (int k = 0; k < length; ++k) values[items++] = item_of(rank, to, k);
  }
  int n_got = most_ranks, n_items = most_items;
  int src[most_ranks], got_counts[most_ranks], got_displs[most_ranks];
  long long got[most_items];
  EXPECT(MPIX_Alltoallv_crs(n, items, dest, counts, displs, MPI_LONG_LONG, values, &n_got, &n_items,
                            src, got_counts, got_displs, MPI_LONG_LONG, got, xinfo,
                            xcomm) == MPI_SUCCESS);
  int i = 0, total = 0;
  for (int from = 0; from < size; ++from) {
    const int length = length_of(from, rank);
    if (length < 0) continue;
    EXPECT(i < n_got && src[i] == from && got_counts[i] == length && got_displs[i] == total);
    for (int k = 0; k < length; ++k) EXPECT(got[total + k] == item_of(from, rank, k));
    total += length;
    ++i;
  }
  EXPECT(i == n_got && total == n_items);
}

/* Messages that overlap and are out of order in memory, of every second item. */
static void test_strided_types(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair); /* items 0 and 2 of three */
  MPI_Type_commit(&pair);
  const int values[] = {rank, -1, rank + 1, rank + 2, -1, rank + 3};
  const int dest[] = {(rank + 1) % size, rank};
  const int64_t counts[] = {1, 2}, displs[] = {1, 0};
  const int n = size > 1 ? 2 : 1;
  int n_got = 2, src[2], got[8];
  int64_t n_items = 8, got_counts[2], got_displs[2];
  EXPECT(MPIX_Alltoallv_crs_c(n, 2, dest, counts, displs, pair, values, &n_got, &n_items, src,
                              got_counts, got_displs, MPI_INT, got, xinfo, xcomm) == MPI_SUCCESS);
  EXPECT(n_got == n && n_items == (size > 1 ? 6 : 2));
  for (int i = 0; i < n_got; ++i) {
    const int from = src[i], *items = got + got_displs[i];
    if (from == rank && size > 1) {
      EXPECT(got_counts[i] == 4 && items[0] == rank && items[1] == rank + 1 &&
             items[2] == rank + 2 && items[3] == rank + 3);
    } else {
      EXPECT(got_counts[i] == 2 && items[0] == from + 2 && items[1] == from + 3);
    }
  }
  MPI_Type_free(&pair);
}

static void test_alltoall(MPIX_Comm* xcomm, const MPIX_Info* xinfo) {
  int dest[most_ranks];
  double values[2 * most_ranks];
  int n = 0;
  for (int to = 0; to < size; ++to) {
    if (length_of(rank, to) < 0) continue;
    dest[n] = to;
    values[2 * n] = (double)item_of(rank, to, 0);
    values[2 * n++ + 1] = 0.0;
  }
  int n_got = most_ranks, src[most_ranks];
  double got[2 * most_ranks];
  EXPECT(MPIX_Alltoall_crs(n, dest, 2, MPI_DOUBLE, values, &n_got, src, 2, MPI_DOUBLE, got, xinfo,
                           xcomm) == MPI_SUCCESS);
  int i = 0;
  for (int from = 0; from < size; ++from) {
    if (length_of(from, rank) < 0) continue;
    EXPECT(i < n_got && src[i] == from);
    EXPECT(got[2 * i] == (double)item_of(from, rank, 0) && got[2 * i + 1] == 0.0);
    ++i;
  }
  EXPECT(i == n_got);
}

/* What will come is known, and the window stays: the same arrives, call for call. */
static void test_hints(MPIX_Comm* xcomm, MPIX_Info* xinfo, const char* algorithm) {
  EXPECT(MPIX_Info_set(xinfo, "sparse_exchange", algorithm) == MPI_SUCCESS);
  EXPECT(MPIX_Info_set(xinfo, "keep_window", "true") == MPI_SUCCESS);
  EXPECT(MPIX_Info_set(xinfo, "recv_nnz_is_exact", "true") == MPI_SUCCESS);
  const int dest[] = {(rank + 1) % size};
  for (int call = 0; call < 3; ++call) {
    const int values[] = {rank + call};
    int n_got = 1, src[1], got[1];
    EXPECT(MPIX_Alltoall_crs(1, dest, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, xinfo,
                             xcomm) == MPI_SUCCESS);
    EXPECT(n_got == 1 && src[0] == (rank + size - 1) % size && got[0] == src[0] + call);
  }
  EXPECT(MPIX_Info_set(xinfo, "keep_window", "maybe") == MPI_ERR_INFO_VALUE);
  int n_got = rank == 0 ? 2 : 1, src[2], got[2];
  if (strcmp(algorithm, "personalized") == 0) {
    EXPECT(MPIX_Alltoall_crs(1, dest, 1, MPI_INT, &rank, &n_got, src, 1, MPI_INT, got, xinfo,
                             xcomm) == MPI_ERR_ARG);
    EXPECT(strstr(MPIX_Last_error(), "another number of messages") != NULL);
  }
  EXPECT(MPIX_Info_set(xinfo, "keep_window", "false") == MPI_SUCCESS);
  EXPECT(MPIX_Info_set(xinfo, "recv_nnz_is_exact", "false") == MPI_SUCCESS);
}

/* Wrong on the last rank only: the same class and text on all, and the next call works. */
static void test_collective_errors(MPIX_Comm* xcomm) {
  const int bad = rank == size - 1;
  const int dest[] = {bad ? size : 0, 0}, twice[] = {0, 0};
  const int values[] = {7, 8};
  int n_got = most_ranks, src[most_ranks], got[most_ranks];
  EXPECT(MPIX_Alltoall_crs(1, dest, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, NULL,
                           xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "of a communicator of") != NULL);
  EXPECT(MPIX_Alltoall_crs(bad ? 2 : 1, twice, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got,
                           NULL, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "named twice") != NULL);
  EXPECT(MPIX_Alltoall_crs(bad ? -1 : 0, NULL, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got,
                           NULL, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "send_nnz is -1") != NULL);
  EXPECT(MPIX_Alltoall_crs(1, twice, 1, MPI_INT, values, &n_got, src, 1, bad ? MPI_DOUBLE : MPI_INT,
                           got, NULL, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "expected") != NULL);
  EXPECT(MPIX_Alltoall_crs(1, twice, 1, bad ? MPI_DATATYPE_NULL : MPI_INT, values, &n_got, src, 1,
                           MPI_INT, got, NULL, xcomm) == MPI_ERR_ARG);
  EXPECT(MPIX_Alltoall_crs(1, twice, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, NULL,
                           NULL) == MPI_ERR_COMM);
  n_got = INT_MAX; /* sure to be enough */
  EXPECT(MPIX_Alltoall_crs(1, twice, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, NULL,
                           xcomm) == MPI_SUCCESS);
  EXPECT(n_got == (rank == 0 ? size : 0));
}

/* Too little room: an error there only, which says how much is needed. */
static void test_room(MPIX_Comm* xcomm) {
  const int dest[] = {0};
  const int values[] = {rank, rank};
  const int counts[] = {2}, displs[] = {0};
  int n_got = 0, src[most_ranks], got[2 * most_ranks] = {-5};
  int status =
      MPIX_Alltoall_crs(1, dest, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, NULL, xcomm);
  EXPECT(status == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  EXPECT(n_got == (rank == 0 ? size : 0) && got[0] == -5);
  int n_items = 1, got_counts[most_ranks], got_displs[most_ranks];
  n_got = most_ranks;
  status = MPIX_Alltoallv_crs(1, 2, dest, counts, displs, MPI_INT, values, &n_got, &n_items, src,
                              got_counts, got_displs, MPI_INT, got, NULL, xcomm);
  EXPECT(status == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  EXPECT(n_items == (rank == 0 ? 2 * size : 0) && got[0] == -5);
  n_got = n_items = 0; /* both too little, and both said */
  status = MPIX_Alltoallv_crs(1, 2, dest, counts, displs, MPI_INT, values, &n_got, &n_items, src,
                              got_counts, got_displs, MPI_INT, got, NULL, xcomm);
  EXPECT(status == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
  EXPECT(n_got == (rank == 0 ? size : 0) && n_items == (rank == 0 ? 2 * size : 0));
  n_got = rank == size - 1 ? -1 : most_ranks; /* no room is ever negative: refused on all */
  n_items = most_items;
  EXPECT(MPIX_Alltoall_crs(1, dest, 1, MPI_INT, values, &n_got, src, 1, MPI_INT, got, NULL,
                           xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "recv_nnz is -1") != NULL);
  EXPECT(MPIX_Alltoallv_crs(1, 2, dest, counts, displs, MPI_INT, values, &n_got, &n_items, src,
                            got_counts, got_displs, MPI_INT, got, NULL, xcomm) == MPI_ERR_ARG);
  n_got = most_ranks;
  n_items = rank == size - 1 ? -7 : most_items;
  EXPECT(MPIX_Alltoallv_crs(1, 2, dest, counts, displs, MPI_INT, values, &n_got, &n_items, src,
                            got_counts, got_displs, MPI_INT, got, NULL, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "recv_size is -7") != NULL && got[0] == -5);
}

static void test_rma_refuses_variable_sizes(MPIX_Comm* xcomm, const MPIX_Info* rma) {
  int n_got = 0, n_items = 0;
  EXPECT(MPIX_Alltoallv_crs(0, 0, NULL, NULL, NULL, MPI_INT, NULL, &n_got, &n_items, NULL, NULL,
                            NULL, MPI_INT, NULL, rma, xcomm) == MPI_ERR_ARG);
  EXPECT(strstr(MPIX_Last_error(), "one size only") != NULL);
}

static void test_handles(void) {
  MPIX_Info* xinfo = NULL;
  EXPECT(MPIX_Info_init(&xinfo) == MPI_SUCCESS);
  EXPECT(MPIX_Info_set(xinfo, "sparse_exchnge", "rma") == MPI_ERR_INFO_KEY);
  EXPECT(strstr(MPIX_Last_error(), "did you mean 'sparse_exchange'") != NULL);
  EXPECT(MPIX_Info_set(xinfo, "sparse_exchange", "fast") == MPI_ERR_INFO_VALUE);
  EXPECT(MPIX_Info_set(NULL, "sparse_exchange", "rma") == MPI_ERR_INFO);
  EXPECT(MPIX_Info_free(&xinfo) == MPI_SUCCESS && xinfo == NULL);
  EXPECT(MPIX_Info_free(&xinfo) == MPI_SUCCESS);
  MPIX_Comm* xcomm = NULL;
  EXPECT(MPIX_Comm_init(&xcomm, MPI_COMM_NULL) == MPI_ERR_COMM && xcomm == NULL);
  EXPECT(MPIX_Comm_init_nodes(&xcomm, MPI_COMM_WORLD, NULL) == MPI_ERR_ARG);
  EXPECT(MPIX_Comm_init(NULL, MPI_COMM_WORLD) == MPI_ERR_ARG);
  EXPECT(MPIX_Comm_free(&xcomm) == MPI_SUCCESS);
  if (size == 1) return;
  int nodes[most_ranks] = {0};
  nodes[0] = rank == 0 ? -1 : 0;
  EXPECT(MPIX_Comm_init_nodes(&xcomm, MPI_COMM_WORLD, nodes) == MPI_ERR_ARG && xcomm == NULL);
  nodes[0] = rank == 0; /* differs by rank */
  EXPECT(MPIX_Comm_init_nodes(&xcomm, MPI_COMM_WORLD, nodes) == MPI_ERR_ARG && xcomm == NULL);
}

static void test_intercommunicator(void) {
  if (size == 1) return;
  const int low = rank < size / 2;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 3, &inter);
  MPIX_Comm* xcomm = NULL;
  EXPECT(MPIX_Comm_init(&xcomm, inter) == MPI_ERR_COMM && xcomm == NULL);
  EXPECT(strstr(MPIX_Last_error(), "intercommunicator") != NULL);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void test_algorithms(const int* nodes) {
  MPIX_Comm* xcomm = NULL;
  EXPECT((nodes ? MPIX_Comm_init_nodes(&xcomm, MPI_COMM_WORLD, nodes)
                : MPIX_Comm_init(&xcomm, MPI_COMM_WORLD)) == MPI_SUCCESS);
  test_alltoallv(xcomm, NULL);
  test_collective_errors(xcomm);
  test_room(xcomm);
  test_collectives(xcomm);
  for (int a = 0; a < n_algorithms; ++a) {
    MPIX_Info* xinfo = NULL;
    EXPECT(MPIX_Info_init(&xinfo) == MPI_SUCCESS);
    EXPECT(MPIX_Info_set(xinfo, "sparse_exchange", algorithms[a]) == MPI_SUCCESS);
    test_alltoall(xcomm, xinfo);
    test_hints(xcomm, xinfo, algorithms[a]);
    if (a < n_variable) {
      test_alltoallv(xcomm, xinfo);
      test_strided_types(xcomm, xinfo);
    } else {
      test_rma_refuses_variable_sizes(xcomm, xinfo);
    }
    MPIX_Info_free(&xinfo);
  }
  MPIX_Comm_free(&xcomm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int interleaved[most_ranks], uneven[most_ranks];
  for (int r = 0; r < size; ++r) {
    interleaved[r] = r % 2;
    uneven[r] = r == 0 ? 9 : r / 3; /* a node with one rank, a gap in the numbers */
  }
  test_handles();
  test_intercommunicator();
  test_algorithms(NULL);
  test_algorithms(interleaved);
  test_algorithms(uneven);
  int all = 0;
  MPI_Allreduce(&n_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", size, all);
  MPI_Finalize();
  return all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
