// The list of devices.
#include <algorithm>

#include "nodewise/device/queue.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/conjugate_gradients.hpp"
#include "nodewise/offload/device_method.hpp"

namespace nodewise::offload {

namespace {

const DeviceMethod& no_device() {
  static const DeviceMethod method = {
      {"none", "the host, by its own methods", ""}, nullptr, [] { return std::string(); }};
  return method;
}

const DeviceMethod& host_device() {
  static const DeviceMethod method = {
      {"host", "the host, by what a card would run: to look at a card's solve without one", ""},
      make_device_solver<device::Host>,
      [] { return std::string(); }};
  return method;
}

std::unique_ptr<DeviceSolver> make_on_card(const DeviceCall& call) {
  const mpi::Comm& comm = call.A->comm();
  mpi::collectively(comm, [&] {
    const auto place = static_cast<int>(comm.topology().place_on_node(comm.rank()));
    device::use_cuda_device(place % std::max(1, device::cuda_devices().count));
  });
#ifdef NODEWISE_CUDA
  return make_device_solver<device::Cuda>(call);
#else
  return nullptr;  // no rank gets here
#endif
}

const DeviceMethod& cuda_device() {
  static const DeviceMethod method = {{"cuda", "a graphics card of this node, by CUDA", ""},
                                      make_on_card,
                                      [] { return device::cuda_devices().why_none; }};
  return method;
}

}  // namespace

Family<DeviceMethod>& DeviceMethod::family() {
  static Family<DeviceMethod> methods("device", {&no_device(), &host_device(), &cuda_device()});
  return methods;
}

}  // namespace nodewise::offload
