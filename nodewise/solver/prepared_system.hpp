// What a system is solved with: a matrix, and the preconditioner or the device that was set up for
// it.
#pragma once

#include <memory>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

struct PreparedSystem {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
  Preconditioner preconditioner;                  ///< of the host; empty where a device sets up
  std::unique_ptr<offload::DeviceSolver> device;  ///< null: the host solves

  /// Collective. Sets up what the options ask for, with rows as A has them; `info` is read where
  /// that is multigrid. A device has to be there. Throws the same Error on every rank.
  void set_up(const std::shared_ptr<const matrix::DistMatrix<double>>& matrix,
              amg::ProblemInfo<double> info, const Options& options,
              const amg::LevelObserver& observe = {});

  /// Collective. Copies the hierarchy to the device that the options name, if they do.
  void move_to_device(const Options& options);
};

}  // namespace nodewise::solver
