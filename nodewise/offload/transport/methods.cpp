// The list of ways that data on devices get to other ranks.
#include <fmt/format.h>

#include "nodewise/mpi/device_memory.hpp"
#include "nodewise/offload/transport/device_transport.hpp"

namespace nodewise::offload {

const DeviceTransportMethod& direct_method();
const DeviceTransportMethod& one_core_method();
const DeviceTransportMethod& many_cores_method();
const DeviceTransportMethod& shared_memory_method();

Family<DeviceTransportMethod>& DeviceTransportMethod::family() {
  static Family<DeviceTransportMethod> methods(
      "device transport",
      {&one_core_method(), &direct_method(), &many_cores_method(), &shared_memory_method()},
      {"automatic",
       "of each level the way that takes least time by the machine file's costs; without "
       "one, or on one node, one_core"});
  return methods;
}

template <>
void require_available<device::Host>(const mpi::Comm& /*comm*/, const DeviceTransport& /*how*/,
                                     const comm::Transport& /*transport*/, bool /*trusts_mpi*/) {}

#ifdef NODEWISE_CUDA

template <>
void require_available<device::Cuda>(const mpi::Comm& comm, const DeviceTransport& how,
                                     const comm::Transport& transport, bool trusts_mpi) {
  if (!how->passes_device_memory) return;
  mpi::collectively(comm, [&] {
    const std::string why_not = trusts_mpi ? std::string() : mpi::why_no_cuda_memory();
    if (!why_not.empty()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("`device_transport {}`: {}; take `device_transport one_core`, or "
                              "`trust_mpi` where you know better",
                              how.name(), why_not));
    }
    if (transport->copies_data) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("`device_transport {}` cannot go by `transport {}`, which copies on "
                              "the host: take `transport point_to_point`",
                              how.name(), transport.name()));
    }
  });
}

#endif

}  // namespace nodewise::offload
