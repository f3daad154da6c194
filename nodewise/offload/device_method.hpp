// Where a system is solved. methods.cpp lists the devices.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/offload/transport/device_transport.hpp"
#include "nodewise/solve/method.hpp"

namespace nodewise::offload {

/// Where levels are set up.
enum class DeviceSetup { host, device };

/// What all devices let be chosen.
struct DeviceOptions {
  DeviceSetup setup = DeviceSetup::host;
  DeviceTransport transport = "automatic";  ///< how data on devices get to other ranks
  std::string map;                          ///< read_device_map(); empty: round the cards
  bool trust_mpi = false;                   ///< that it takes addresses of cards, whatever it says
};
std::span<const Field<DeviceOptions>> device_fields();

/// Levels that were set up on a device.
struct OwnSetup {
  std::vector<amg::LevelInfo> levels;
  amg::PrecisionChoice precision;
};

/// How the data of a level leave a device, and why where that was chosen.
struct WayRecord {
  std::string name, reason;

  friend bool operator==(const WayRecord&, const WayRecord&) = default;
};

/// A matrix and the cycle of its hierarchy on a device, with a Krylov method there.
class DeviceSolver {
 public:
  virtual ~DeviceSolver() = default;
  /// Collective. Solves; the call's A is of the host, and there is no M: the hierarchy is. The
  /// method must be one that runs_on_devices. Vectors are copied at the beginning and at the end, a
  /// few numbers in each iteration; on several ranks what each product exchanges, too. A residual
  /// that grows is not undone.
  virtual solve::Report solve(const solve::KrylovCall<double>& call) = 0;
  /// Local. Bytes of the device's memory that this rank has.
  virtual std::size_t bytes() const = 0;
  /// How the data of each level leave the device, the finest first; of none on one rank.
  virtual std::vector<WayRecord> ways() const { return {}; }
  /// Null where the levels were set up on the host.
  virtual const OwnSetup* own_setup() const { return nullptr; }
  /// Collective. Sets its own levels up for a matrix with the same pattern and other values. Where
  /// it throws out_of_memory it can be rebuilt, and nothing else. Throws internal where it has no
  /// own_setup().
  virtual void rebuild(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                       amg::Reuse reuse);
};

/// What one is made of whose levels are set up on the device.
struct SetupCall {
  const DeviceOptions& device;
  const std::shared_ptr<const matrix::DistMatrix<double>>& A;
  const amg::Options& options;
  const amg::ProblemInfo<double>& info;
  const amg::LevelObserver& observe;
};

/// What one is made of.
struct DeviceCall {
  const DeviceOptions& options;
  const std::shared_ptr<const matrix::DistMatrix<double>>& A;  ///< as a solve multiplies by it
  const amg::Hierarchy<double>& hierarchy;                     ///< must outlive the solver
};

struct DeviceMethod : MethodInfo {
  using Make = std::unique_ptr<DeviceSolver> (*)(const DeviceCall& call);
  /// Collective. Throws the same Error on every rank: unsupported where a rank has no such device,
  /// or the hierarchy's cycle cannot run there; out_of_memory. Null: the host's own methods solve.
  Required<Make> make;
  /// Collective. The same with levels that are set up there, for options that check_for_setup()
  /// takes. Throws also what amg::examine() does. Null with `make`.
  Required<std::unique_ptr<DeviceSolver> (*)(const SetupCall& call)> set_up;
  /// Local. Why this rank has none; empty where it has one.
  Required<std::string (*)()> why_none;

  static Family<DeviceMethod>& family();
};

using Device = Choice<DeviceMethod>;

/// Whether a device solves.
inline bool solves(const Device& device) {
  return *device->make != nullptr;
}

/// Whether a device sets levels up itself.
inline bool sets_up(const Device& device) {
  return device.has_options<DeviceOptions>() &&
         device.options<DeviceOptions>().setup == DeviceSetup::device;
}

/// Collective. Throws the same Error on every rank, unsupported, where one of them has no such
/// device.
void require_device(const mpi::Comm& comm, const DeviceMethod& device);

/// Local, the same on every rank. Throws invalid_argument, naming the nearest that it can, where a
/// hierarchy with these options and this Krylov method has no form on a device.
void check_for_device(const Device& device, const amg::Options& options,
                      const solve::KrylovMethod& method);

/// Local, the same on every rank. Throws invalid_argument, naming the nearest that it can, where no
/// device sets up levels with these options, of a problem of which this is known.
void check_for_setup(const amg::Options& options, const amg::ProblemInfo<double>& info);

}  // namespace nodewise::offload
