// What ranks that poll need under SMPI (3.32), in front of its functions through MPI's profiling
// interface.
//
// Its nonblocking barrier is none: it lets every rank go on as soon as rank 0 has entered, so that
// a sparse dynamic exchange ends too early and loses messages. Its nonblocking allreduce sends a
// message from each rank to each other one. Those here disseminate: in round k a rank tells the
// rank 2^k after it what it knows, and hears from the rank 2^k before it. That counts contributions
// more than once, which a least or greatest value stands; other operations are left to SMPI.
//
// Its MPI_Test does not say that a null request is complete.
//
// Its polling functions let time pass for each request that is looked at, which makes a thousand
// ranks slow to simulate. Here a rank looks no further than the first that is not complete and
// sleeps once a look; with smpi/test and smpi/iprobe set to 0 that is all. It sleeps the longer the
// longer it has waited: it notices a message later by a sixteenth of the wait at most, or by
// 0.2 us.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <vector>

#include <mpi.h>

extern "C" int smpi_nanosleep(const timespec* duration, timespec* rest);

namespace {

constexpr double shortest_sleep_s = 2e-7;
constexpr double sleep_share = 1.0 / 16;  // of the wait so far
constexpr double longest_sleep_s = 1e-4;  // who waits longer waits for a computation

// Of this rank: a simulated rank has a copy of the program's variables of its own.
double waiting_since = -1;  // negative: it does not wait

void end_wait() {
  waiting_since = -1;
}

/// A rank that found nothing lets simulated time pass; without that it would look forever.
void wait_a_little() {
  const double now = MPI_Wtime();
  if (waiting_since < 0) waiting_since = now;
  const double sleep =
      std::clamp(sleep_share * (now - waiting_since), shortest_sleep_s, longest_sleep_s);
  const timespec duration = {0, static_cast<long>(1e9 * sleep)};
  smpi_nanosleep(&duration, nullptr);
}

constexpr int first_tag = 32000;  // plus the round; messages of two ranks stay in their order

/// A barrier (no values), or the least or greatest of values.
struct Dissemination {
  MPI_Comm comm;
  void* values = nullptr;  // of this rank so far, then the result
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  std::vector<std::byte> heard = {};
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
    const int tag = first_tag + round++;
    PMPI_Irecv(heard.data(), count, type, (rank - distance + size) % size, tag, comm, &requests[0]);
    PMPI_Isend(values, count, type, (rank + distance) % size, tag, comm, &requests[1]);
    return true;
  }

  /// Whether it is complete; begins the next round where one is.
  bool advance() {
    int done = 0;
    PMPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    if (!done) return false;
    if (count > 0) PMPI_Reduce_local(heard.data(), values, count, type, op);
    return !begin_round();
  }
};

std::vector<std::unique_ptr<Dissemination>> running;

/// The place of what a handle stands for; running.end() for any other request.
auto find(MPI_Request handle) {
  auto at = running.begin();
  while (at != running.end() && reinterpret_cast<MPI_Request>(at->get()) != handle) ++at;
  return at;
}

void start(std::unique_ptr<Dissemination> dissemination, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  if (!dissemination->begin_round()) return;
  *request = reinterpret_cast<MPI_Request>(dissemination.get());
  running.push_back(std::move(dissemination));
}

}  // namespace

extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  start(std::make_unique<Dissemination>(Dissemination{comm}), request);
  return MPI_SUCCESS;
}

extern "C" int MPI_Iallreduce(const void* mine, void* result, int count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  if ((op != MPI_MIN && op != MPI_MAX) || mine == MPI_IN_PLACE || count == 0) {
    return PMPI_Iallreduce(mine, result, count, type, op, comm, request);
  }
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  bytes *= count;
  std::copy_n(static_cast<const std::byte*>(mine), bytes, static_cast<std::byte*>(result));
  auto reduction = std::make_unique<Dissemination>(Dissemination{comm, result, count, type, op});
  reduction->heard.resize(static_cast<std::size_t>(bytes));
  start(std::move(reduction), request);
  return MPI_SUCCESS;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  int result = MPI_SUCCESS;
  if (*request == MPI_REQUEST_NULL) {
    *done = 1;
  } else if (const auto at = find(*request); at == running.end()) {
    result = PMPI_Test(request, done, status);
  } else if (*done = (*at)->advance(); *done) {
    running.erase(at);
    *request = MPI_REQUEST_NULL;
  }
  if (*done) {
    end_wait();
  } else {
    wait_a_little();
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
  if (*found) end_wait();
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
  if (find(*request) == running.end()) return PMPI_Wait(request, status);
  for (int done = 0; !done;) {
    if (const int result = MPI_Test(request, &done, status); result != MPI_SUCCESS) return result;
  }
  return MPI_SUCCESS;
}

/// Ranks of a simulation share their memory. SMPI has none and says so at each call.
extern "C" int MPI_Win_sync(MPI_Win) {
  return MPI_SUCCESS;
}
