// What ranks that poll need under SMPI (3.32), in front of its functions through MPI's profiling
// interface.
//
// Its nonblocking barrier is none: it lets every rank go on as soon as rank 0 has entered, so that
// a sparse dynamic exchange ends too early and loses messages. The one here disseminates: in round
// k a rank tells the rank 2^k after it and hears from the rank 2^k before it.
//
// Its polling functions let time pass for each request that is looked at, which makes a thousand
// ranks slow to simulate. Here a rank looks no further than the first that is not complete and
// sleeps once a look; with smpi/test and smpi/iprobe set to 0 that is all. Nothing that is timed
// polls.
#include <memory>
#include <unistd.h>
#include <vector>

#include <mpi.h>

extern "C" int smpi_usleep(useconds_t microseconds);

namespace {

constexpr useconds_t look_again_us = 10;

bool message_found = false;  // by the last look for one

/// A rank that found nothing lets simulated time pass; without that it would look forever.
void wait_a_little() {
  if (!message_found) smpi_usleep(look_again_us);
}

constexpr int barrier_tag = 32000;  // plus the round; messages of two ranks stay in their order

struct Barrier {
  MPI_Comm comm;
  int round = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

  /// Whether there was another round to begin.
  bool begin_round() {
    int rank = 0;
    int size = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const int distance = 1 << round;
    if (distance >= size) return false;
    const int tag = barrier_tag + round++;
    PMPI_Irecv(nullptr, 0, MPI_BYTE, (rank - distance + size) % size, tag, comm, &requests[0]);
    PMPI_Isend(nullptr, 0, MPI_BYTE, (rank + distance) % size, tag, comm, &requests[1]);
    return true;
  }
};

// Of this rank: a simulated rank has a copy of the program's variables of its own.
std::vector<std::unique_ptr<Barrier>> barriers;

/// The place of the barrier that a handle stands for; barriers.end() for any other request.
auto find(MPI_Request handle) {
  auto at = barriers.begin();
  while (at != barriers.end() && reinterpret_cast<MPI_Request>(at->get()) != handle) ++at;
  return at;
}

}  // namespace

extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  auto barrier = std::make_unique<Barrier>(Barrier{comm});
  *request = MPI_REQUEST_NULL;
  if (!barrier->begin_round()) return MPI_SUCCESS;
  *request = reinterpret_cast<MPI_Request>(barrier.get());
  barriers.push_back(std::move(barrier));
  return MPI_SUCCESS;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const auto at = find(*request);
  if (at == barriers.end()) {
    const int result = PMPI_Test(request, done, status);
    if (!*done) wait_a_little();
    return result;
  }
  Barrier& barrier = **at;
  const int result = PMPI_Testall(2, barrier.requests, done, MPI_STATUSES_IGNORE);
  if (result != MPI_SUCCESS) return result;
  if (!*done) {
    wait_a_little();
    return result;
  }
  if (barrier.begin_round()) {
    *done = 0;
  } else {
    barriers.erase(at);
    *request = MPI_REQUEST_NULL;
  }
  return result;
}

extern "C" int MPI_Testall(int n, MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (statuses != MPI_STATUSES_IGNORE) return PMPI_Testall(n, requests, done, statuses);
  *done = 1;
  for (int i = 0; i < n; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int result = PMPI_Test(&requests[i], done, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) return result;
    if (*done) continue;
    wait_a_little();
    break;
  }
  return MPI_SUCCESS;
}

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  const int result = PMPI_Iprobe(source, tag, comm, found, status);
  message_found = *found != 0;
  return result;
}

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  for (int found = 0;;) {
    const int result = MPI_Iprobe(source, tag, comm, &found, status);
    if (result != MPI_SUCCESS || found) return result;
    wait_a_little();
  }
}

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (find(*request) == barriers.end()) return PMPI_Wait(request, status);
  for (int done = 0; !done;) {
    if (const int result = MPI_Test(request, &done, status); result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}
