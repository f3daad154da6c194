// Which way the data of each matrix leave devices: what was asked for, or by what a machine's costs
// say.
#pragma once

#include <cstddef>
#include <memory>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/offload/leaving.hpp"

namespace nodewise::offload {

/// The way for a matrix, and why where it was chosen.
struct Departure {
  Leaving leaving;
  std::string reason = {};
};

template <class Space>
class Departures {
 public:
  /// Collective. Where the way may share cards it learns which ranks do. `machine` may be null; it
  /// must outlive this. Throws the same Error on every rank.
  Departures(const DeviceOptions& options, std::shared_ptr<const mpi::Comm> comm,
             const model::Machine* machine);

  /// Collective. For an exchange of entries of so many bytes. `automatic` is the plain way unless
  /// there is a machine that tells of GPUs; then what routing::choose_gpu_transport() says, at its
  /// cost, of the ways that this MPI, the transport and the ranks of the cards can go.
  Departure of(const comm::Exchange& exchange, std::size_t item_bytes) const;

 private:
  bool can_go(const DeviceTransportMethod& way, const comm::Transport& transport) const;

  const DeviceOptions& options_;
  std::shared_ptr<const mpi::Comm> comm_;
  const model::Machine* machine_;
  Leaving leaving_;
  int fewest_sharing_ = 1;     // ranks of a card
  bool passes_memory_ = true;  // to MPI
};

}  // namespace nodewise::offload
