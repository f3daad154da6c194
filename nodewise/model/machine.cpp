#include "nodewise/model/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"

namespace nodewise::model {

namespace {

/// The most suitable set of a path: the protocol itself, then longer messages, then shorter ones.
const MessageParameters* find(const PathParameters& path, Protocol protocol) {
  const int wanted = static_cast<int>(protocol);
  for (int p = wanted; p < n_protocols; ++p) {
    if (path[static_cast<std::size_t>(p)]) return &*path[static_cast<std::size_t>(p)];
  }
  for (int p = wanted - 1; p >= 0; --p) {
    if (path[static_cast<std::size_t>(p)]) return &*path[static_cast<std::size_t>(p)];
  }
  return nullptr;
}

/// The localities whose parameters stand in for those of a locality, itself first.
std::array<Locality, n_localities> stand_ins(Locality locality) {
  using enum Locality;
  if (locality == same_socket) return {same_socket, same_node, other_node};
  if (locality == same_node) return {same_node, same_socket, other_node};
  return {other_node, other_node, other_node};
}

}  // namespace

const char* to_string(Locality locality) noexcept {
  switch (locality) {
    case Locality::same_socket:
      return "same_socket";
    case Locality::same_node:
      return "same_node";
    case Locality::other_node:
      return "other_node";
  }
  return "";
}

const char* to_string(Protocol protocol) noexcept {
  switch (protocol) {
    case Protocol::in_envelope:
      return "short";
    case Protocol::eager:
      return "eager";
    case Protocol::rendezvous:
      return "rendezvous";
  }
  return "";
}

Locality Machine::measured_as(Locality locality) const {
  for (const Locality candidate : stand_ins(locality)) {
    const PathParameters& known = path(candidate);
    if (std::any_of(known.begin(), known.end(), [](const auto& p) { return p.has_value(); })) {
      return candidate;
    }
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("machine {}: nothing is known of its messages", name));
}

Protocol Machine::protocol_of(Locality locality, double bytes) const {
  const SwitchSizes& sizes = switches(measured_as(locality));
  if (bytes <= static_cast<double>(sizes.short_bytes)) return Protocol::in_envelope;
  if (bytes <= static_cast<double>(sizes.eager_bytes)) return Protocol::eager;
  return Protocol::rendezvous;
}

const MessageParameters& Machine::parameters(Locality locality, double bytes) const {
  return *find(path(measured_as(locality)), protocol_of(locality, bytes));
}

}  // namespace nodewise::model
