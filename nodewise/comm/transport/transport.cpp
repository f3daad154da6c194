#include "nodewise/comm/transport/transport.hpp"

namespace nodewise::comm {

void require_available(const mpi::Comm& comm, const Transport& transport) {
  if (transport.is_automatic()) {
    throw Error(
        ErrorCode::invalid_argument,
        "transport automatic is no transport: it must be chosen before an exchange is made");
  }
  const std::string reason = transport->unavailable(comm);
  if (reason.empty()) return;
  throw Error(ErrorCode::unsupported, "transport " + transport.name() + ": " + reason);
}

}  // namespace nodewise::comm
