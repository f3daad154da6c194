#include "nodewise/base/hardware.hpp"

#include "nodewise/base/error.hpp"

#ifdef NODEWISE_HWLOC
#include <hwloc.h>
#endif

namespace nodewise {

#ifdef NODEWISE_HWLOC

namespace {

/// A set of processors of hwloc.
class ProcessorSet {
 public:
  ProcessorSet() : bits_(hwloc_bitmap_alloc()) {
    if (bits_ == nullptr) throw Error(ErrorCode::out_of_memory, "no memory for a set of cores");
  }
  ~ProcessorSet() { hwloc_bitmap_free(bits_); }
  ProcessorSet(const ProcessorSet&) = delete;
  ProcessorSet& operator=(const ProcessorSet&) = delete;
  hwloc_bitmap_t get() const { return bits_; }

 private:
  hwloc_bitmap_t bits_;
};

std::vector<int> members_of(hwloc_const_bitmap_t set) {
  std::vector<int> members;
  for (int k = hwloc_bitmap_first(set); k >= 0; k = hwloc_bitmap_next(set, k)) members.push_back(k);
  return members;
}

}  // namespace

struct Hardware::Topology {
  /// Reads memories and cores only: caches and devices would cost time.
  Topology() {
    bool is_read = hwloc_topology_init(&handle) == 0;
    if (is_read) {
      hwloc_topology_set_all_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_NONE);
      hwloc_topology_set_type_filter(handle, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
      is_read = hwloc_topology_load(handle) == 0;
    }
    if (is_read) return;
    if (handle != nullptr) hwloc_topology_destroy(handle);
    throw Error(ErrorCode::unsupported, "hwloc cannot read the cores of this machine");
  }
  ~Topology() { hwloc_topology_destroy(handle); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  hwloc_topology_t handle = nullptr;
};

bool Hardware::is_visible() {
  return true;
}

Hardware::Hardware() : topology_(std::make_unique<Topology>()) {
  const hwloc_topology_t handle = topology_->handle;
  // Some virtual machines tell of processors and of no cores.
  const bool has_cores = hwloc_get_nbobjs_by_type(handle, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = hwloc_get_next_obj_by_type(handle, type, nullptr); core != nullptr;
       core = hwloc_get_next_obj_by_type(handle, type, core)) {
    cores_.push_back({static_cast<int>(core->logical_index), hwloc_bitmap_first(core->nodeset),
                      members_of(core->cpuset)});
  }
}

std::vector<int> Hardware::processors_of_this_thread() const {
  const ProcessorSet set;
  if (hwloc_get_cpubind(topology_->handle, set.get(), HWLOC_CPUBIND_THREAD) != 0) return {};
  return members_of(set.get());
}

bool Hardware::bind_this_thread(std::span<const int> processors) const {
  const ProcessorSet set;
  for (const int k : processors) hwloc_bitmap_set(set.get(), static_cast<unsigned>(k));
  return hwloc_set_cpubind(topology_->handle, set.get(), HWLOC_CPUBIND_THREAD) == 0;
}

#else

struct Hardware::Topology {};

bool Hardware::is_visible() {
  return false;
}

Hardware::Hardware() {
  throw Error(ErrorCode::unsupported, "this build was made without hwloc and cannot see cores");
}

std::vector<int> Hardware::processors_of_this_thread() const {
  return {};
}

bool Hardware::bind_this_thread(std::span<const int> /*processors*/) const {
  return false;
}

#endif

Hardware::~Hardware() = default;

}  // namespace nodewise
