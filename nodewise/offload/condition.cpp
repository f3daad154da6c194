#include "nodewise/offload/condition.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/amg/cycle/precision_choice.hpp"
#include "nodewise/device/smooth_vector.hpp"

namespace nodewise::offload {

namespace {

/// A transfer between levels, with the exchange of what it reads.
template <class Space>
class Transfer {
 public:
  Transfer(const Workplace<Space>& at, const DistCsr<Space>& M)
      : at_(at), M_(M), halo_(*at.card, *M.outline, at.leaving) {}
  void operator()(double* x, double* y) const {
    halo_.fill(x);
    at_.card->local([&] { device::multiply(at_.queue(), M_.local, x, y); });
  }

 private:
  const Workplace<Space>& at_;
  const DistCsr<Space>& M_;
  Halo<double, Space> halo_;
};

/// A vector for each level, and steps of inverse iteration on the finest by the last level alone.
/// All functions are collective.
template <class Space>
class SmoothVector {
 public:
  explicit SmoothVector(const SetUpLevels<Space>& from)
      : levels_(from.levels()),
        at_(levels_.front().at),
        comm_(levels_.front().A.rows.comm()),
        solver_(from.last_matrix(), 1.0, "every_rank", from.last_sizes()) {
    for (const SetUpLevel<Space>& level : levels_) {
      if (!level.has_next) break;
      down_.emplace_back(level.at, *level.R);
      up_.emplace_back(level.at, *level.P);
    }
    at_.together(comm_, [&] {
      for (std::size_t l = 0; l < levels_.size(); ++l) x_.emplace_back(places(l));
      right_.resize(static_cast<std::size_t>(levels_.back().A.local.n_rows));
      solution_.resize(right_.size());
      const comm::Layout& rows = levels_.front().A.rows;
      device::start_smooth(at_.queue(), n(), rows.begin() - rows.first(), amg::smooth_vector_seed,
                           x_.front().data());
    });
  }

  bool is_singular() const { return solver_.singular(); }
  const double* x() const { return x_.front().data(); }

  /// Returns this rank's part of x . A x for the new x.
  double step(const double* weights) {
    at_.card->local([&] { device::multiply_each(at_.queue(), n(), weights, x_.front().data()); });
    for (std::size_t l = 0; l + 1 < x_.size(); ++l) down_[l](x_[l].data(), x_[l + 1].data());
    at_.card->local([&] { x_.back().get(at_.queue(), std::span<double>(right_)); });
    solver_.solve(right_, solution_);
    double energy = 0;
    for (std::size_t i = 0; i < right_.size(); ++i) energy += solution_[i] * right_[i];
    at_.card->local([&] { x_.back().put(at_.queue(), std::span<const double>(solution_)); });
    for (std::size_t l = x_.size() - 1; l-- > 0;) up_[l](x_[l + 1].data(), x_[l].data());
    return energy;
  }

 private:
  std::int64_t n() const { return levels_.front().A.local.n_rows; }
  /// With room for what the transfers beside a level read.
  std::size_t places(std::size_t l) const {
    LocalIndex most = levels_[l].A.local.n_rows;
    if (levels_[l].has_next) most = std::max(most, levels_[l].R->local.n_cols);
    if (l > 0) most = std::max(most, levels_[l - 1].P->local.n_cols);
    return static_cast<std::size_t>(most);
  }

  const std::vector<SetUpLevel<Space>>& levels_;
  const Workplace<Space>& at_;
  const mpi::Comm& comm_;
  amg::CoarseSolver<double> solver_;
  std::vector<Transfer<Space>> down_, up_;
  std::vector<device::Buffer<double, Space>> x_;
  std::vector<double> right_, solution_;  // of the last level, on the host
};

}  // namespace

template <class Space>
double estimated_condition(const SetUpLevels<Space>& from) {
  const SetUpLevel<Space>& first = from.levels().front();
  const Workplace<Space>& at = first.at;
  const mpi::Comm& comm = first.A.rows.comm();
  const LocalIndex n = first.A.local.n_rows;
  device::Buffer<double, Space> sums, moduli, inverses;
  std::array<double, 3> most = {};
  at.together(comm, [&] {
    for (auto* buffer : {&sums, &moduli, &inverses}) {
      *buffer = device::Buffer<double, Space>(static_cast<std::size_t>(n));
    }
    device::weigh_rows(at.queue(), first.A.local, sums.data(), moduli.data(), inverses.data());
    for (int k = 0; const auto* buffer : {&sums, &moduli, &inverses}) {
      most[static_cast<std::size_t>(k++)] = at.primitives->max_modulus(n, buffer->data());
    }
  });
  mpi::max_in_place(comm, std::span<double>(most));
  SmoothVector<Space> vector(from);
  vector.step(moduli.data());
  const double energy = vector.step(moduli.data());
  const auto found = at.sums(comm, [&] {
    return std::array{energy, device::weighted_square(at.queue(), n, moduli.data(), vector.x())};
  });
  amg::ConditionParts parts;
  parts.largest_row = most[0];
  parts.largest_diagonal = most[1];
  parts.largest_inverse = most[2];
  parts.singular = vector.is_singular();
  parts.energy = found[0];
  parts.square = found[1];
  return amg::condition_of(parts);
}

template double estimated_condition(const SetUpLevels<device::Host>&);
#ifdef NODEWISE_CUDA
template double estimated_condition(const SetUpLevels<device::Cuda>&);
#endif

}  // namespace nodewise::offload
