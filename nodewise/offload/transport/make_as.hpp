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

/// A C<Space>. Never called for a space that is not built: no queue of it can be made.
template <class Base, class C, class Space, class Call>
std::unique_ptr<Base> make_as(const Call& call) {
  if constexpr (has_cuda || std::is_same_v<Space, device::Host>) {
    return std::make_unique<C>(call);
  } else {
    return nullptr;
  }
}

template <template <class> class C>
MakeCarriers make_carriers() {
  using device::Cuda;
  using device::Host;
  return {make_as<Carrier<Host>, C<Host>, Host, CarrierCall<Host>>,
          make_as<Carrier<Cuda>, C<Cuda>, Cuda, CarrierCall<Cuda>>};
}

template <template <class> class C>
MakeAdders make_adders() {
  using device::Cuda;
  using device::Host;
  return {make_as<Adder<Host>, C<Host>, Host, AdderCall<Host>>,
          make_as<Adder<Cuda>, C<Cuda>, Cuda, AdderCall<Cuda>>};
}

/// What models know of a way by its name.
inline const model::GpuTransport& modelled(const char* name) {
  return model::GpuTransport::family().find(name);
}

}  // namespace nodewise::offload
