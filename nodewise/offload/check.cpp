// What of a hierarchy has a form on a device.
#include <fmt/format.h>

#include "nodewise/amg/sparsify/sparsification_method.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/offload/device_method.hpp"

namespace nodewise::offload {

namespace {

[[noreturn]] void refuse(const DeviceMethod& device, const std::string& what,
                         const std::string& instead) {
  const std::string& name = device.name;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("`device {}` has no {}: take {}", name, what, instead));
}

std::string name_of(const MethodInfo& method) {
  return method.name;
}

/// "a, b or c": the smoothers that run on devices.
std::string smoothers() {
  std::string text;
  for (const amg::relax::SmootherMethod& method : amg::relax::SmootherMethod::family()) {
    if (!method.runs_on_devices) continue;
    const std::string& name = method.name;
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

void require_device(const mpi::Comm& comm, const DeviceMethod& device) {
  if (*device.make == nullptr) return;
  mpi::collectively(comm, [&] {
    const std::string why_none = (*device.why_none)();
    if (why_none.empty()) return;
    throw Error(ErrorCode::unsupported, "`device " + name_of(device) + "`: " + why_none);
  });
}

void check_for_device(const Device& chosen, const amg::Options& options,
                      const solve::KrylovMethod& method) {
  const DeviceMethod& device = *chosen;
  read_device_map(chosen.options<DeviceOptions>().map);
  if (!method.runs_on_devices) {
    refuse(device, "`solver " + name_of(method) + "`, but conjugate gradients",
           std::string(method.needs_fixed_preconditioner ? "`solver cg`" : "`solver flexible_cg`") +
               " where the matrix is symmetric and positive definite, else `device none`");
  }
  if (!options.smoother->runs_on_devices) {
    refuse(device, fmt::format("`smoother {}`, which goes row by row", options.smoother.name()),
           fmt::format("`smoother` {}", smoothers()));
  }
  const amg::CycleMethod& cycle = *options.cycle;
  if (cycle.visit != amg::CoarseVisit::cycle || *cycle.second_visit != nullptr) {
    refuse(device, "`cycle " + name_of(cycle) + "`", "`cycle v`");
  }
  const amg::Sparsification& sparsification = options.sparsification;
  if (sparsification.has_options<amg::SparsificationOptions>() &&
      sparsification.options<amg::SparsificationOptions>().adaptive) {
    refuse(device, "`adaptive`: entries that went do not come back there", "`adaptive false`");
  }
  if (options.redistribution->moves_rows) {
    refuse(device,
           fmt::format("`redistribution {}`: its levels are on all ranks",
                       options.redistribution.name()),
           "`redistribution none`");
  }
}

}  // namespace nodewise::offload
