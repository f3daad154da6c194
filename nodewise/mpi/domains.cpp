#include "nodewise/mpi/domains.hpp"

#ifdef NODEWISE_HWLOC
#include <hwloc.h>
#endif

namespace nodewise::mpi {

#ifdef NODEWISE_HWLOC

namespace {

constexpr int none = -1;

class Machine {
 public:
  /// Reads sockets, memories and cores only: caches and devices would cost time.
  Machine() {
    if (hwloc_topology_init(&topology_) != 0) return;
    hwloc_topology_set_all_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology_, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
    is_known_ = hwloc_topology_load(topology_) == 0;
  }
  ~Machine() {
    if (topology_ != nullptr) hwloc_topology_destroy(topology_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// The number of the smallest object of a type that contains the cores the calling thread may run
  /// on; of equal ones, such as the memories of two kinds of one socket, the first.
  int home_of_this_thread(hwloc_obj_type_t type) const {
    if (!is_known_) return none;
    const hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    if (cores == nullptr) return none;
    hwloc_obj_t home = nullptr;
    if (hwloc_get_cpubind(topology_, cores, HWLOC_CPUBIND_THREAD) == 0 &&
        !hwloc_bitmap_iszero(cores)) {
      for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology_, type, nullptr);
           object != nullptr; object = hwloc_get_next_obj_by_type(topology_, type, object)) {
        if (!hwloc_bitmap_isincluded(cores, object->cpuset)) continue;
        if (home == nullptr ||
            hwloc_bitmap_weight(object->cpuset) < hwloc_bitmap_weight(home->cpuset)) {
          home = object;
        }
      }
    }
    hwloc_bitmap_free(cores);
    return home == nullptr ? none : static_cast<int>(home->logical_index);
  }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool is_known_ = false;
};

}  // namespace

bool can_find_domains() {
  return true;
}

std::vector<int> find_domains(const Comm& comm, DomainLevel level) {
  const auto type = level == DomainLevel::numa ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_PACKAGE;
  std::vector<int> domains = gather_all(comm, Machine().home_of_this_thread(type));
  // Seen alike by all, since the gathered numbers are.
  for (int node = 0; node < comm.topology().n_nodes(); ++node) {
    bool known = true;
    const auto ranks = comm.topology().ranks_on(node);
    for (const int rank : ranks) known = known && domains[static_cast<std::size_t>(rank)] != none;
    if (known) continue;
    for (const int rank : ranks) domains[static_cast<std::size_t>(rank)] = 0;
  }
  return domains;
}

#else

bool can_find_domains() {
  return false;
}

std::vector<int> find_domains(const Comm& /*comm*/, DomainLevel /*level*/) {
  throw Error(ErrorCode::invalid_argument,
              "domains: this build of nodewise was made without hwloc and cannot find them");
}

#endif

}  // namespace nodewise::mpi
