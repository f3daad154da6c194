#include "nodewise/solver/prepared_system.hpp"

#include <utility>

#include "nodewise/solver/method_choice.hpp"

namespace nodewise::solver {

void PreparedSystem::set_up(const std::shared_ptr<const matrix::DistMatrix<double>>& matrix,
                            amg::ProblemInfo<double> info, const Options& options,
                            const amg::LevelObserver& observe) {
  A = matrix_of_solve(matrix, options);
  if (offload::sets_up(options.method.device)) {
    device = (*options.method.device->set_up)(
        {options.method.device.options<offload::DeviceOptions>(), A, options.amg, info, observe});
    return;
  }
  const Choice<PreconditionerMethod>& method = options.method.preconditioner;
  preconditioner = (*method->make)({A, method, options.amg, std::move(info), observe});
  if (preconditioner.hierarchy == nullptr) return;
  A = matrix_as_chosen(A, *preconditioner.hierarchy, options);
  move_to_device(options);
}

void PreparedSystem::move_to_device(const Options& options) {
  const offload::DeviceMethod::Make make = *options.method.device->make;
  if (make == nullptr) return;
  device.reset();  // there may be room for one only
  device =
      make({options.method.device.options<offload::DeviceOptions>(), A, *preconditioner.hierarchy});
}

}  // namespace nodewise::solver
