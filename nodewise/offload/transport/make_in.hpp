// Makes what a way consists of, for the spaces that this build has. For sources of offload alone,
// which are compiled with and without CUDA.
#pragma once

#include <memory>
#include <type_traits>

#include "nodewise/offload/transport/device_transport.hpp"

namespace nodewise::offload {

#ifdef NODEWISE_CUDA
inline constexpr bool has_cuda = true;
#else
inline constexpr bool has_cuda = false;
#endif

/// A function that makes a C<Space>; null for a space that is not built.
template <class Base, template <class> class C, class Space, class Call>
auto make_in() -> std::unique_ptr<Base> (*)(const Call& call) {
  if constexpr (has_cuda || std::is_same_v<Space, device::Host>) {
    return
        [](const Call& call) -> std::unique_ptr<Base> { return std::make_unique<C<Space>>(call); };
  } else {
    return nullptr;
  }
}

template <template <class> class C>
MakeCarriers make_carriers() {
  using device::Cuda;
  using device::Host;
  return {make_in<Carrier<Host>, C, Host, CarrierCall<Host>>(),
          make_in<Carrier<Cuda>, C, Cuda, CarrierCall<Cuda>>()};
}

template <template <class> class C>
MakeAdders make_adders() {
  using device::Cuda;
  using device::Host;
  return {make_in<Adder<Host>, C, Host, AdderCall<Host>>(),
          make_in<Adder<Cuda>, C, Cuda, AdderCall<Cuda>>()};
}

/// What models know of a way by its name.
inline const model::GpuTransport& modelled(const char* name) {
  return model::GpuTransport::family().find(name);
}

}  // namespace nodewise::offload
