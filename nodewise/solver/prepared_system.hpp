// What a system is solved with: a matrix, and the preconditioner or the device that was set up for
// it.
#pragma once

#include <memory>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/preconditioner.hpp"
#include "nodewise/solver/rearrangement.hpp"

namespace nodewise::solver {

struct PreparedSystem {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
  /// What the preconditioner is set up from, if not A.
  std::unique_ptr<Rearrangement> rearrangement;
  Preconditioner preconditioner;  ///< of that, on the host; empty where a device sets up
  std::unique_ptr<offload::DeviceSolver> device;  ///< null: the host solves

  /// Collective. Sets up what the options ask for, with rows as A has them; `info` is read where
  /// that is multigrid, `fields` where it splits them. A device has to be there. Throws the same
  /// Error on every rank.
  void set_up(const std::shared_ptr<const matrix::DistMatrix<double>>& matrix,
              amg::ProblemInfo<double> info, const Options& options,
              const amg::LevelObserver& observe = {}, RowFields fields = {});

  /// Collective. Sets the preconditioner, or the device, up for a matrix with A's pattern and other
  /// values. Throws what that does; all is then as before.
  void rebuild(const std::shared_ptr<const matrix::DistMatrix<double>>& next,
               const Options& options, amg::Reuse reuse);
  /// Local. The preconditioner of A; null where there is none.
  const solve::Operator<double>* map() const {
    return rearranged_ != nullptr ? rearranged_.get() : preconditioner.map.get();
  }

 private:
  /// Collective. Copies the hierarchy to the device that the options name, if they do.
  void move_to_device(const Options& options);
  void make_map();

  std::unique_ptr<RearrangedPreconditioner> rearranged_;
};

}  // namespace nodewise::solver
