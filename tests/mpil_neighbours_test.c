/* Neighbourhood exchanges of nodewise_mpil.h, beside MPI's. */
#include <stdlib.h>
#include <string.h>

#include "mpil_support.h"

enum { most_items = 64 * 8, n_methods = 2 };

/* What this process makes known to MPI before a request is run. */
static int n_off_node;
static long n_bytes_off_node;
static int ranks_per_node;

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (ranks_per_node > 0 && to / ranks_per_node != rank / ranks_per_node) {
    int bytes;
    MPI_Type_size(type, &bytes);
    ++n_off_node;
    n_bytes_off_node += (long)count * bytes;
  }
  return PMPI_Send_init(buffer, count, type, to, tag, comm, request);
}

/* A graph with an exchange on it. Process `to` hears from `from` where length_of() is not negative;
 * a length of 0 is an empty message. Displacements leave gaps, and are not in order. */
typedef struct {
  int n_sources, n_destinations;
  int sources[most_ranks], destinations[most_ranks];
  int sendcounts[most_ranks], sdispls[most_ranks], recvcounts[most_ranks], rdispls[most_ranks];
} Exchange;

static int length_of(int from, int to) {
  const unsigned h = 2654435761u * (unsigned)(from * 37 + to * 11 + 3) >> 20;
  return h % 3 == 0 ? -1 : (int)(h % 6);
}

static Exchange make_exchange(void) {
  Exchange made;
  memset(&made, 0, sizeof made);
  for (int r = size - 1; r >= 0; --r) {
    if (length_of(rank, r) >= 0) {
      made.destinations[made.n_destinations] = r;
      made.sendcounts[made.n_destinations] = length_of(rank, r);
      made.sdispls[made.n_destinations++] = 7 * r + 1;
    }
    if (length_of(r, rank) >= 0) {
      made.sources[made.n_sources] = r;
      made.recvcounts[made.n_sources] = length_of(r, rank);
      made.rdispls[made.n_sources++] = 7 * (size - r);
    }
  }
  return made;
}

static void fill(long long* values, int round) {
  for (int k = 0; k < most_items; ++k) values[k] = 100000LL * rank + 1000 * round + k;
}

static void locate(MPIL_Comm* comm, int ppn, int leaders) {
  if (ppn > 0) EXPECT(MPIL_Comm_update_locality(comm, ppn) == MPI_SUCCESS);
  if (leaders > 0) EXPECT(MPIL_Comm_leader_init(comm, leaders) == MPI_SUCCESS);
}

static void set_methods(int method) {
  EXPECT(MPIL_Set_alltoallv_neighbor_alogorithm((enum NeighborAlltoallvMethod)method) ==
         MPI_SUCCESS);
  EXPECT(MPIL_Set_alltoallv_neighbor_init_alogorithm((enum NeighborAlltoallvInitMethod)method) ==
         MPI_SUCCESS);
}

/* Runs a request several times, with other values each time. */
static void check_request(MPIL_Request* request, long long* values, long long* got,
                          const Exchange* e, MPI_Comm graph) {
  for (int round = 0; round < 3; ++round) {
    long long expected[most_items];
    fill(values, round);
    memset(got, -1, most_items * sizeof *got);
    memset(expected, -1, sizeof expected);
    MPI_Neighbor_alltoallv(values, e->sendcounts, e->sdispls, MPI_LONG_LONG, expected,
                           e->recvcounts, e->rdispls, MPI_LONG_LONG, graph);
    MPI_Status status;
    EXPECT(MPIL_Start(request) == MPI_SUCCESS);
    EXPECT(MPIL_Start(request) == MPI_ERR_REQUEST);
    EXPECT(MPIL_Wait(request, round == 0 ? MPI_STATUS_IGNORE : &status) == MPI_SUCCESS);
    EXPECT(MPIL_Wait(request, &status) == MPI_SUCCESS && status.MPI_SOURCE == MPI_ANY_SOURCE);
    EXPECT(memcmp(got, expected, sizeof expected) == 0);
  }
}

static void test_graph(int ppn, int leaders) {
  Exchange e = make_exchange();
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, e.n_sources, e.sources, e.recvcounts,
                                 e.n_destinations, e.destinations, e.sendcounts, MPI_INFO_NULL, 0,
                                 &graph);
  MPIL_Comm *comm = NULL, *plain = NULL;
  MPIL_Topo *topo = NULL, *copied = NULL;
  MPIL_Info* info = NULL;
  EXPECT(MPIL_Info_init(&info) == MPI_SUCCESS);
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, e.n_sources, e.sources, MPI_UNWEIGHTED,
                                         e.n_destinations, e.destinations, MPI_UNWEIGHTED, info, 1,
                                         &comm) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_init(&plain, MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(MPIL_Topo_init(e.n_sources, e.sources, e.recvcounts, e.n_destinations, e.destinations,
                        e.sendcounts, info, &topo) == MPI_SUCCESS);
  EXPECT(MPIL_Topo_from_neighbor_comm(comm, &copied) == MPI_SUCCESS);
  locate(comm, ppn, leaders);
  locate(plain, ppn, leaders);
  static long long values[most_items], got[most_items], expected[most_items];
  long names[most_items];
  for (int k = 0; k < most_items; ++k) names[k] = 1000L * rank + k; /* no two the same */
  for (int method = 0; method < n_methods; ++method) {
    set_methods(method);
    fill(values, 9);
    for (int form = 0; form < 3; ++form) {
      memset(got, -1, sizeof got);
      memset(expected, -1, sizeof expected);
      MPI_Neighbor_alltoallv(values, e.sendcounts, e.sdispls, MPI_LONG_LONG, expected, e.recvcounts,
                             e.rdispls, MPI_LONG_LONG, graph);
      EXPECT((form == 0
                  ? MPIL_Neighbor_alltoallv(values, e.sendcounts, e.sdispls, MPI_LONG_LONG, got,
                                            e.recvcounts, e.rdispls, MPI_LONG_LONG, comm)
                  : MPIL_Neighbor_alltoallv_topo(values, e.sendcounts, e.sdispls, MPI_LONG_LONG,
                                                 got, e.recvcounts, e.rdispls, MPI_LONG_LONG,
                                                 form == 1 ? topo : copied, plain)) == MPI_SUCCESS);
      EXPECT(memcmp(got, expected, sizeof expected) == 0);
    }
    MPIL_Request* requests[4];
    EXPECT(MPIL_Neighbor_alltoallv_init(values, e.sendcounts, e.sdispls, MPI_LONG_LONG, got,
                                        e.recvcounts, e.rdispls, MPI_LONG_LONG, comm, info,
                                        &requests[0]) == MPI_SUCCESS);
    EXPECT(MPIL_Neighbor_alltoallv_init_topo(values, e.sendcounts, e.sdispls, MPI_LONG_LONG, got,
                                             e.recvcounts, e.rdispls, MPI_LONG_LONG, topo, plain,
                                             NULL, &requests[1]) == MPI_SUCCESS);
    EXPECT(MPIL_Neighbor_alltoallv_init_ext(values, e.sendcounts, e.sdispls, names, MPI_LONG_LONG,
                                            got, e.recvcounts, e.rdispls, NULL, MPI_LONG_LONG, comm,
                                            info, &requests[2]) == MPI_SUCCESS);
    EXPECT(MPIL_Neighbor_alltoallv_init_ext_topo(
               values, e.sendcounts, e.sdispls, names, MPI_LONG_LONG, got, e.recvcounts, e.rdispls,
               NULL, MPI_LONG_LONG, copied, plain, info, &requests[3]) == MPI_SUCCESS);
    for (int i = 0; i < 4; ++i) {
      EXPECT(MPIL_Request_reorder(requests[i], 1) == MPI_SUCCESS);
      check_request(requests[i], values, got, &e, graph);
      if (i == 3) MPIL_Start(requests[i]); /* freed while it is under way */
      EXPECT(MPIL_Request_free(&requests[i]) == MPI_SUCCESS && requests[i] == NULL);
    }
  }
  EXPECT(MPIL_Topo_free(&topo) == MPI_SUCCESS && topo == NULL);
  EXPECT(MPIL_Topo_free(&copied) == MPI_SUCCESS);
  EXPECT(MPIL_Info_free(&info) == MPI_SUCCESS && info == NULL);
  EXPECT(MPIL_Comm_free(&plain) == MPI_SUCCESS && plain == NULL);
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS);
  MPI_Comm_free(&graph);
}

/* Every second int of the next process, which takes them as pairs; and both it and this process are
 * named twice. The communicator is gone before the request is used. */
static void test_types(int ppn, int leaders) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  const int sources[] = {last, rank, last, rank}, destinations[] = {next, rank, next, rank};
  const int counts[] = {4, 2, 2, 0}, displs[] = {0, 1, 2, 0};
  const int pair_counts[] = {2, 1, 1, 0}, pair_displs[] = {3, 0, 1, 0};
  MPI_Datatype spaced, pair;
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &spaced);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&spaced);
  MPI_Type_commit(&pair);
  MPIL_Comm* comm = NULL;
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, sources, MPI_UNWEIGHTED, 4,
                                         destinations, MPI_UNWEIGHTED, NULL, 0,
                                         &comm) == MPI_SUCCESS);
  locate(comm, ppn, leaders);
  int values[10], got[10];
  MPIL_Request* request = NULL;
  EXPECT(MPIL_Neighbor_alltoallv_init(values, counts, displs, spaced, got, pair_counts, pair_displs,
                                      pair, comm, NULL, &request) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS);
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < 10; ++k) values[k] = 1000 * round + 100 * rank + k;
    memset(got, -1, sizeof got);
    MPIL_Start(request);
    MPIL_Wait(request, MPI_STATUS_IGNORE);
    const int of_last = 1000 * round + 100 * last, own = 1000 * round + 100 * rank;
    const int expected[] = {own + 2, own + 4, of_last + 4, of_last + 6, -1,
                            -1,      of_last, of_last + 2, of_last + 4, of_last + 6};
    if (size > 1) {
      EXPECT(memcmp(got, expected, sizeof got) == 0);
    } else { /* all four are one neighbour, in the order they are named */
      EXPECT(got[6] == own && got[0] == own + 2 && got[2] == own + 4);
    }
  }
  EXPECT(MPIL_Request_free(&request) == MPI_SUCCESS);
  MPI_Type_free(&spaced);
  MPI_Type_free(&pair);
}

/* The first process sends the same items to all others: with nodes of two each crosses to a node
 * once, whether they are the same items of sendbuf or copies with the same names. */
static void test_items_cross_once(int has_copies) {
  enum { n_items = 5 };
  const int n_out = rank == 0 ? size - 1 : 0, n_in = rank == 0 ? 0 : 1;
  const int source[] = {0}, recvcount[] = {n_items}, rdispl[] = {0};
  int destinations[most_ranks], counts[most_ranks], displs[most_ranks];
  long names[most_ranks * n_items];
  double values[most_ranks * n_items], got[n_items];
  for (int i = 0; i < n_out; ++i) {
    destinations[i] = i + 1;
    counts[i] = n_items;
    displs[i] = has_copies ? i * n_items : 0;
    for (int k = 0; k < n_items; ++k) {
      values[i * n_items + k] = 0.5 * k;
      names[i * n_items + k] = 40 + k;
    }
  }
  MPIL_Comm* comm = NULL;
  MPIL_Request* request = NULL;
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_in, source, MPI_UNWEIGHTED, n_out,
                                         destinations, MPI_UNWEIGHTED, NULL, 0,
                                         &comm) == MPI_SUCCESS);
  for (int method = 0; method < n_methods; ++method) {
    set_methods(method);
    EXPECT(MPIL_Comm_update_locality(comm, 2) == MPI_SUCCESS);
    EXPECT((has_copies ? MPIL_Neighbor_alltoallv_init_ext(values, counts, displs, names, MPI_DOUBLE,
                                                          got, recvcount, rdispl, NULL, MPI_DOUBLE,
                                                          comm, NULL, &request)
                       : MPIL_Neighbor_alltoallv_init(values, counts, displs, MPI_DOUBLE, got,
                                                      recvcount, rdispl, MPI_DOUBLE, comm, NULL,
                                                      &request)) == MPI_SUCCESS);
    ranks_per_node = 2;
    n_off_node = 0;
    n_bytes_off_node = 0;
    MPIL_Start(request);
    MPIL_Wait(request, MPI_STATUS_IGNORE);
    ranks_per_node = 0;
    for (int k = 0; k < n_items && rank > 0; ++k) EXPECT(got[k] == 0.5 * k);
    int messages = 0;
    long bytes = 0;
    MPI_Allreduce(&n_off_node, &messages, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&n_bytes_off_node, &bytes, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const int others = (size + 1) / 2 - 1, straight = size > 2 ? size - 2 : 0;
    const long item = n_items * (long)sizeof(double);
    EXPECT(bytes == item * (method == NEIGHBOR_ALLTOALLV_INIT_LOCALITY ? others : straight));
    EXPECT(messages >= others);
    EXPECT(MPIL_Request_free(&request) == MPI_SUCCESS);
  }
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS);
}

void test_neighbours(int ppn, int leaders) {
  test_graph(ppn, leaders);
  for (int method = 0; method < n_methods; ++method) {
    set_methods(method);
    test_types(ppn, leaders);
  }
  test_items_cross_once(0);
  test_items_cross_once(1);
}

/* Wrong on the last rank only: the same on all, nothing made, and the next call works. */
void test_neighbour_errors(void) {
  const int is_bad = rank == size - 1;
  const int next[] = {(rank + 1) % size}, last[] = {(rank + size - 1) % size};
  const int beyond[] = {is_bad ? size : 0};
  const int one[] = {1}, displ[] = {0}, two_on_bad[] = {is_bad ? 2 : 1};
  const int negative[] = {is_bad ? -1 : 1};
  int values[2] = {3, 4}, got[2];
  MPIL_Comm *comm = NULL, *plain = NULL;
  MPIL_Request* request = NULL;
  MPIL_Topo* topo = NULL;
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, beyond, MPI_UNWEIGHTED, 1, next,
                                         MPI_UNWEIGHTED, NULL, 0, &comm) == MPI_ERR_ARG);
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, is_bad ? -1 : 1, last, MPI_UNWEIGHTED, 1,
                                         next, MPI_UNWEIGHTED, NULL, 0, &comm) == MPI_ERR_ARG);
  EXPECT(comm == NULL);
  EXPECT(MPIL_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, last, MPI_UNWEIGHTED, 1, next,
                                         MPI_UNWEIGHTED, NULL, 0, &comm) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_init(&plain, MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(MPIL_Topo_from_neighbor_comm(plain, &topo) == MPI_ERR_TOPOLOGY && topo == NULL);
  EXPECT(MPIL_Topo_init(-1, NULL, NULL, 0, NULL, NULL, NULL, &topo) == MPI_ERR_ARG);
  EXPECT(MPIL_Topo_init(1, NULL, NULL, 0, NULL, NULL, NULL, &topo) == MPI_ERR_ARG);
  EXPECT(MPIL_Topo_init(1, beyond, NULL, 1, next, NULL, NULL, &topo) == MPI_SUCCESS);
  EXPECT(MPIL_Neighbor_alltoallv_topo(values, one, displ, MPI_INT, got, one, displ, MPI_INT, topo,
                                      plain) == MPI_ERR_ARG);
  EXPECT(MPIL_Neighbor_alltoallv(values, one, displ, MPI_INT, got, one, displ, MPI_INT, plain) ==
         MPI_ERR_TOPOLOGY);
  EXPECT(MPIL_Neighbor_alltoallv(values, one, displ, MPI_INT, got, one, displ, MPI_INT, NULL) ==
         MPI_ERR_COMM);
  EXPECT(MPIL_Neighbor_alltoallv_topo(values, one, displ, MPI_INT, got, one, displ, MPI_INT, NULL,
                                      plain) == MPI_ERR_TOPOLOGY);
  for (int method = 0; method < n_methods; ++method) {
    set_methods(method);
    EXPECT(MPIL_Neighbor_alltoallv_init(values, one, displ, MPI_INT, got, two_on_bad, displ,
                                        MPI_INT, comm, NULL, &request) == MPI_ERR_ARG);
    EXPECT(MPIL_Neighbor_alltoallv_init(values, negative, displ, MPI_INT, got, one, displ, MPI_INT,
                                        comm, NULL, &request) == MPI_ERR_ARG);
    EXPECT(MPIL_Neighbor_alltoallv_init(values, is_bad ? NULL : one, displ, MPI_INT, got, one,
                                        displ, MPI_INT, comm, NULL, &request) == MPI_ERR_ARG);
    EXPECT(MPIL_Neighbor_alltoallv_init(is_bad ? NULL : values, one, displ, MPI_INT, got, one,
                                        displ, MPI_INT, comm, NULL, &request) == MPI_ERR_ARG);
    EXPECT(request == NULL);
    got[0] = -1;
    values[0] = rank;
    EXPECT(MPIL_Neighbor_alltoallv(values, one, displ, MPI_INT, got, one, displ, MPI_INT, comm) ==
           MPI_SUCCESS);
    EXPECT(got[0] == last[0]);
  }
  EXPECT(MPIL_Start(NULL) == MPI_ERR_REQUEST);
  EXPECT(MPIL_Wait(NULL, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPIL_Request_free(&request) == MPI_SUCCESS);
  EXPECT(MPIL_Topo_free(&topo) == MPI_SUCCESS);
  EXPECT(MPIL_Comm_free(&comm) == MPI_SUCCESS && MPIL_Comm_free(&plain) == MPI_SUCCESS);
}
