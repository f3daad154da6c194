// What a rank has of a device while it works there.
#pragma once

#include <optional>
#include <utility>

#include "nodewise/device/queue.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::offload {

/// Local pieces of a collective computation. Once one of them has failed, the others are left out,
/// while messages go on with what there is, so that no rank waits in vain. The failure comes into
/// the next agreement of the ranks.
class LocalWork {
 public:
  template <class Work>
  void operator()(Work&& work) {
    if (!failure_) failure_ = mpi::caught(std::forward<Work>(work));
  }
  /// What failed, which is forgotten here: the caller brings it into an agreement.
  std::optional<Error> take() { return std::exchange(failure_, std::nullopt); }

 private:
  std::optional<Error> failure_;
};

/// A rank's device: the order of its work there, and what of it failed.
template <class Space>
struct Card {
  device::Queue<Space> queue;
  LocalWork local;
};

}  // namespace nodewise::offload
