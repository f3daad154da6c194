#include "nodewise/offload/condition.hpp"

#include <utility>

#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/amg/cycle/precision_choice.hpp"
#include "nodewise/device/smooth_vector.hpp"

namespace nodewise::offload {

namespace {

/// A vector for each level, and steps of inverse iteration on the finest by the last level alone.
template <class Space>
class SmoothVector {
 public:
  SmoothVector(device::Queue<Space>& queue, const SetUpLevels<Space>& from)
      : queue_(queue),
        levels_(from.levels()),
        solver_(from.last_matrix(), 1.0, "every_rank", from.last_sizes()) {
    for (const SetUpLevel<Space>& level : levels_) {
      x_.emplace_back(static_cast<std::size_t>(level.A.n_rows));
    }
    right_.resize(x_.back().size());
    solution_.resize(x_.back().size());
    device::start_smooth(queue, n(), amg::smooth_vector_seed, x_.front().data());
  }

  bool is_singular() const { return solver_.singular(); }
  const double* x() const { return x_.front().data(); }

  /// Returns x . A x for the new x.
  double step(const double* weights) {
    device::multiply_each(queue_, n(), weights, x_.front().data());
    for (std::size_t l = 0; l + 1 < x_.size(); ++l) {
      device::multiply(queue_, levels_[l].R, x_[l].data(), x_[l + 1].data());
    }
    x_.back().get(queue_, std::span<double>(right_));
    solver_.solve(right_, solution_);
    double energy = 0;
    for (std::size_t i = 0; i < right_.size(); ++i) energy += solution_[i] * right_[i];
    x_.back().put(queue_, std::span<const double>(solution_));
    for (std::size_t l = x_.size() - 1; l-- > 0;) {
      device::multiply(queue_, levels_[l].P, x_[l + 1].data(), x_[l].data());
    }
    return energy;
  }

 private:
  std::int64_t n() const { return levels_.front().A.n_rows; }

  device::Queue<Space>& queue_;
  const std::vector<SetUpLevel<Space>>& levels_;
  amg::CoarseSolver<double> solver_;
  std::vector<device::Buffer<double, Space>> x_;
  std::vector<double> right_, solution_;  // of the last level, on the host
};

}  // namespace

template <class Space>
double estimated_condition(device::Primitives<Space>& primitives, const SetUpLevels<Space>& from) {
  device::Queue<Space>& queue = primitives.queue();
  const device::CsrMatrix<double, Space>& A = from.levels().front().A;
  const std::int64_t n = A.n_rows;
  const auto size = static_cast<std::size_t>(n);
  device::Buffer<double, Space> sums(size), moduli(size), inverses(size);
  device::weigh_rows(queue, A, sums.data(), moduli.data(), inverses.data());
  SmoothVector<Space> vector(queue, from);
  amg::ConditionParts parts;
  parts.largest_row = primitives.max_modulus(n, sums.data());
  parts.largest_diagonal = primitives.max_modulus(n, moduli.data());
  parts.largest_inverse = primitives.max_modulus(n, inverses.data());
  parts.singular = vector.is_singular();
  vector.step(moduli.data());
  parts.energy = vector.step(moduli.data());
  parts.square = device::weighted_square(queue, n, moduli.data(), vector.x());
  return amg::condition_of(parts);
}

template double estimated_condition(device::Primitives<device::Host>&,
                                    const SetUpLevels<device::Host>&);
#ifdef NODEWISE_CUDA
template double estimated_condition(device::Primitives<device::Cuda>&,
                                    const SetUpLevels<device::Cuda>&);
#endif

}  // namespace nodewise::offload
