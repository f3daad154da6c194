// A solver on a device that sets its levels up there.
#include <utility>

#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/base/scale.hpp"
#include "nodewise/matrix/same_pattern.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/offload/condition.hpp"
#include "nodewise/offload/conjugate_gradients.hpp"
#include "nodewise/offload/setup_cycle.hpp"

namespace nodewise::offload {

namespace {

using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<double>>;

/// The options as a setup completes them, the checks of the host made.
amg::Options examined(const SetupCall& call) {
  amg::Options options = call.options;
  check_for_setup(options, call.info);
  const std::optional<bool> symmetric = amg::examine(*call.A, call.info, options);
  if (symmetric.value_or(true)) return options;
  amg::ProblemInfo<double> found;
  found.symmetric = false;
  check_for_setup(options, found);
  return options;
}

/// As the host's hierarchy chooses it.
template <class Space>
amg::PrecisionChoice precision_of(const SetUpLevels<Space>& levels, const amg::Options& options) {
  if (options.precision != amg::Precision::automatic) {
    return {options.precision == amg::Precision::single, ""};
  }
  if (!levels.levels().back().solved_directly) {
    return {false, "the coarsest level is not solved directly"};
  }
  return amg::choose_precision(estimated_condition(levels));
}

template <class Space>
class SetUpSolver final : public CgSolver<Space> {
 public:
  explicit SetUpSolver(const SetupCall& call)
      : CgSolver<Space>(call.A->shared_comm(), call.A->n_local()),
        A_(call.A),
        options_(examined(call)),
        primitives_(this->card().queue),
        levels_(this->card(), primitives_,
                SetupCall{call.device, call.A, options_, call.info, call.observe}) {
    own_.precision = precision_of(levels_, options_);
    make_cycle();
  }

  const OwnSetup* own_setup() const override { return &own_; }
  std::vector<WayRecord> ways() const override { return ways_; }
  std::size_t bytes() const override { return CgSolver<Space>::bytes() + levels_.bytes(); }

  void rebuild(const MatrixPointer& A, amg::Reuse reuse) override {
    const mpi::Same same = {static_cast<std::uint64_t>(reuse), "multigrid rebuild: what is reused"};
    matrix::require_same_pattern(*A_, *A, "multigrid rebuild");
    amg::check_matrix(*A, options_, same);
    A_ = A;
    this->release();
    levels_.rebuild(*A, reuse);
    make_cycle();
  }

 private:
  void make_cycle() {
    const SetUpLevel<Space>& finest = levels_.levels().front();
    const mpi::Comm& comm = A_->comm();
    Workplace<Space> at = finest.at;
    at.leaving =
        levels_.departures().of(finest.outline_of_solve->exchange(), sizeof(double)).leaving;
    auto product =
        std::make_unique<DistProduct<double, Space>>(at, finest.A, *finest.outline_of_solve);
    own_.levels = levels_.info();
    if (!own_.precision.single) return take_cycle<double>(std::move(product), 1);
    const double largest = at.together(comm, [&] {
      return primitives_.max_modulus(finest.A.local.nnz, finest.A.local.vals.data());
    });
    take_cycle<float>(std::move(product), scale_of(mpi::max(comm, largest)));
  }

  template <class T>
  void take_cycle(DistProductPointer<double, Space> product, double scale) {
    const amg::SweepCounts counts = amg::sweep_counts(options_.cycle);
    auto made = cycle_levels<T>(levels_, options_, scale);
    ways_.clear();
    if (A_->comm().size() > 1) ways_ = std::move(made.ways);
    own_.levels.back().coarse_solver = std::move(made.coarse_solver);
    for (amg::LevelInfo& info : own_.levels) info.is_single_precision = own_.precision.single;
    auto cycle =
        std::make_unique<CycleIn<T, Space>>(this->card(), scale, A_->comm(), std::move(made.levels),
                                            Sweeps{counts.pre_sweeps, counts.post_sweeps});
    mpi::collectively(A_->comm(), [&] { this->take(std::move(product), std::move(cycle)); });
  }

  MatrixPointer A_;
  amg::Options options_;
  device::Primitives<Space> primitives_;
  SetUpLevels<Space> levels_;
  OwnSetup own_;
  std::vector<WayRecord> ways_;
};

}  // namespace

template <class Space>
std::unique_ptr<DeviceSolver> set_up_on_device(const SetupCall& call) {
  return std::make_unique<SetUpSolver<Space>>(call);
}

template std::unique_ptr<DeviceSolver> set_up_on_device<device::Host>(const SetupCall& call);
#ifdef NODEWISE_CUDA
template std::unique_ptr<DeviceSolver> set_up_on_device<device::Cuda>(const SetupCall& call);
#endif

}  // namespace nodewise::offload
