// Measuring what messages, memory and products cost on the ranks of a communicator: what
// `nodewise calibrate` does.
#pragma once

#include <memory>
#include <optional>

#include "nodewise/calibrate/fit.hpp"
#include "nodewise/calibrate/options.hpp"
#include "nodewise/calibrate/record.hpp"
#include "nodewise/calibrate/stopwatch.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::calibrate {

/// The measurements, and the fits made of them.
struct Calibration {
  Record record;  ///< times are the same on every rank
  Fits fits;      ///< on rank 0
  /// On rank 0, for several nodes or over what `base` says: otherwise nothing is known of messages
  /// between nodes.
  std::optional<model::Machine> machine;
};

/// Collective. Measures for about options.seconds on the ranks of `comm`, which `environment`
/// describes. `base` is null, or on rank 0 says what cannot be measured here. `observe` is told of
/// every part that begins.
Calibration calibrate(const std::shared_ptr<const mpi::Comm>& comm,
                      const run::Environment& environment, const CalibrateOptions& options,
                      const model::Machine* base = nullptr, const PartObserver& observe = {});

}  // namespace nodewise::calibrate
