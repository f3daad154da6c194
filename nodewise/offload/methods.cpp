// The list of devices.
#include "nodewise/base/text_field.hpp"
#include "nodewise/device/queue.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/offload/conjugate_gradients.hpp"
#include "nodewise/offload/device_method.hpp"

namespace nodewise::offload {

namespace {

const DeviceMethod& no_device() {
  static const DeviceMethod method = {
      {"none", "the host, by its own methods", ""}, nullptr, nullptr, [] { return std::string(); }};
  return method;
}

const DeviceMethod& host_device() {
  static const DeviceMethod method = {
      {"host", "the host, by what a card would run: to look at a card's solve without one", "",
       own_options(device_fields)},
      make_device_solver<device::Host>,
      set_up_on_device<device::Host>,
      [] { return std::string(); }};
  return method;
}

void take_card(const mpi::Comm& comm, const DeviceOptions& options) {
  mpi::collectively(comm, [&] {
    device::use_cuda_device(
        card_of_rank(comm, read_device_map(options.map), device::cuda_devices().count));
  });
}

std::unique_ptr<DeviceSolver> make_on_card(const DeviceCall& call) {
  take_card(call.A->comm(), call.options);
#ifdef NODEWISE_CUDA
  return make_device_solver<device::Cuda>(call);
#else
  return nullptr;  // no rank gets here
#endif
}

std::unique_ptr<DeviceSolver> set_up_on_card(const SetupCall& call) {
  take_card(call.A->comm(), call.device);
#ifdef NODEWISE_CUDA
  return set_up_on_device<device::Cuda>(call);
#else
  return nullptr;  // no rank gets here
#endif
}

const DeviceMethod& cuda_device() {
  static const DeviceMethod method = {
      {"cuda", "a graphics card of this node, by CUDA", "", own_options(device_fields)},
      make_on_card,
      set_up_on_card,
      [] { return device::cuda_devices().why_none; }};
  return method;
}

}  // namespace

std::span<const Field<DeviceOptions>> device_fields() {
  static const std::vector<Field<DeviceOptions>> fields = {
      field("device_setup", &DeviceOptions::setup, "Where levels are set up (docs/methods/gpu.md)",
            {{"host", "on the host, whatever the method"},
             {"device", "there: aggregation, or classical by pmis and extended_i"}}),
      field("device_transport", &DeviceOptions::transport,
            "How data on devices get to other ranks, whatever the route"),
      text_field(
          "device_map", &DeviceOptions::map, "list",
          "The card of each rank of a node, such as 0,0,1,1; without it ranks go round the cards"),
      field("trust_mpi", &DeviceOptions::trust_mpi,
            "Take it that MPI knows the memory of cards, whatever it says when asked"),
  };
  return fields;
}

Family<DeviceMethod>& DeviceMethod::family() {
  static Family<DeviceMethod> methods("device", {&no_device(), &host_device(), &cuda_device()});
  return methods;
}

}  // namespace nodewise::offload
