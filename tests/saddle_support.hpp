// Systems of two fields, and dense references of their preconditioners.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <Eigen/Dense>

#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/solver/field_split.hpp"

#include "support.hpp"

namespace nodewise::test {

/// Collective. The entries of A that are not zero.
inline std::shared_ptr<const matrix::DistMatrix<double>> distributed(const comm::Layout& layout,
                                                                     const Eigen::MatrixXd& A) {
  const GlobalIndex first = layout.first();
  return std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, const auto& emit) {
        for (Eigen::Index j = 0; j < A.cols(); ++j) {
          if (A(i - first, j) != 0) emit(first + j, A(i - first, j));
        }
      }));
}

/// A matrix of hashed entries in (-1, 1).
inline Eigen::MatrixXd hashed_matrix(Eigen::Index m, Eigen::Index n, std::uint64_t seed) {
  return Eigen::MatrixXd::NullaryExpr(m, n, [=](Eigen::Index i, Eigen::Index j) {
    return 2 * hash_uniform(static_cast<std::uint64_t>(i * n + j), seed) - 1;
  });
}

/// (F G; B C) with its rows in any order.
struct SaddlePoint {
  Eigen::MatrixXd F, G, B, C;
  std::vector<Eigen::Index> first, second;  ///< the rows of each field, ascending

  Eigen::MatrixXd matrix() const {
    const auto n = static_cast<Eigen::Index>(first.size() + second.size());
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    A(first, first) = F;
    A(first, second) = G;
    A(second, first) = B;
    A(second, second) = C;
    return A;
  }
};

/// Rows of two fields that lie scattered among each other, by their number.
inline SaddlePoint scattered(Eigen::Index n, std::uint64_t seed) {
  SaddlePoint system;
  for (Eigen::Index i = 0; i < n; ++i) {
    const bool is_second = hash_uniform(static_cast<std::uint64_t>(i), seed) < 0.35;
    (is_second ? system.second : system.first).push_back(i);
  }
  const auto m = static_cast<Eigen::Index>(system.first.size());
  const auto k = static_cast<Eigen::Index>(system.second.size());
  system.F = hashed_matrix(m, m, seed + 1);
  system.F.diagonal().array() += 0.7 * static_cast<double>(m);
  system.G = hashed_matrix(m, k, seed + 2);
  system.B = hashed_matrix(k, m, seed + 3);
  system.C = Eigen::MatrixXd::Zero(k, k);
  return system;
}

/// P^-1 x with exact inverses of F and of what stands for the Schur complement.
inline Eigen::VectorXd reference_of_split(const SaddlePoint& s, const solver::FieldOptions& o,
                                          const Eigen::VectorXd& x) {
  using solver::SchurForm;
  using solver::SplitForm;
  const bool positive = o.split == SplitForm::diagonal;
  const Eigen::MatrixXd E = s.F.diagonal().cwiseInverse().asDiagonal() * s.G;
  const Eigen::MatrixXd F_inverse = s.F.inverse();
  Eigen::MatrixXd S = s.C - s.B * E;
  if (o.schur == SchurForm::diagonal) S = Eigen::MatrixXd(S.diagonal().asDiagonal());
  Eigen::MatrixXd S_inverse = S.inverse();
  if (o.schur == SchurForm::lsc) {
    const Eigen::MatrixXd L = (s.B * E).inverse();
    const Eigen::MatrixXd middle = s.B * s.F.diagonal().cwiseInverse().asDiagonal() * s.F * E;
    S_inverse = -L * middle * L;
  }
  if (positive && o.schur == SchurForm::diagonal) {
    S_inverse = S_inverse.cwiseAbs();
  } else if (positive) {
    S_inverse = -S_inverse;  // B F^-1 G is positive here
  }
  const Eigen::VectorXd b1 = x(s.first), b2 = x(s.second);
  Eigen::VectorXd x1 = F_inverse * b1, x2 = S_inverse * b2;
  if (o.split == SplitForm::upper) x1 = F_inverse * (b1 - s.G * x2);
  if (o.split == SplitForm::lower || o.split == SplitForm::full) x2 = S_inverse * (b2 - s.B * x1);
  if (o.split == SplitForm::full) {
    x1 -= o.schur == SchurForm::lsc ? Eigen::VectorXd(F_inverse * (s.G * x2))
                                    : Eigen::VectorXd(E * x2);
  }
  Eigen::VectorXd y(x.size());
  y(s.first) = x1;
  y(s.second) = x2;
  return y;
}

/// Flow through a box of n x n cells with velocities on their faces and pressures inside: all
/// horizontal velocities, all vertical ones, then all pressures. Its walls are solid, so that the
/// pressure is known up to a constant. With `wind` above 0 velocities are carried along by a vortex
/// with this cell Reynolds number, upwind. With `stabilization` the pressures have a Laplacian of
/// their own.
class MarkerAndCell {
 public:
  MarkerAndCell(GlobalIndex n, double wind, double stabilization = 0)
      : n_(n), wind_(wind), stabilization_(stabilization) {}
  GlobalIndex n_velocities() const { return 2 * n_ * (n_ - 1); }
  GlobalIndex rows() const { return n_velocities() + n_ * n_; }

  /// Calls emit(column, value) for the entries of a row.
  template <class Emit>
  void row(GlobalIndex i, Emit&& emit) const {
    const GlobalIndex faces = n_ * (n_ - 1);
    if (i < faces) {
      velocity(i % (n_ - 1), i / (n_ - 1), true, emit);
    } else if (i < 2 * faces) {
      velocity((i - faces) % n_, (i - faces) / n_, false, emit);
    } else {
      continuity((i - 2 * faces) % n_, (i - 2 * faces) / n_, emit);
    }
  }

 private:
  GlobalIndex u(GlobalIndex x, GlobalIndex y) const { return y * (n_ - 1) + x; }
  GlobalIndex v(GlobalIndex x, GlobalIndex y) const { return n_ * (n_ - 1) + y * n_ + x; }
  GlobalIndex p(GlobalIndex x, GlobalIndex y) const { return n_velocities() + y * n_ + x; }

  template <class Emit>
  void velocity(GlobalIndex x, GlobalIndex y, bool horizontal, Emit& emit) const {
    const auto number = [&](GlobalIndex a, GlobalIndex b) {
      return horizontal ? u(a, b) : v(a, b);
    };
    const GlobalIndex width = horizontal ? n_ - 1 : n_, height = horizontal ? n_ : n_ - 1;
    const double s = static_cast<double>(2 * x + 2) / static_cast<double>(2 * n_) - 0.5;
    const double t = static_cast<double>(2 * y + 2) / static_cast<double>(2 * n_) - 0.5;
    const double along[4] = {wind_ * t, -wind_ * t, -wind_ * s, wind_ * s};
    const GlobalIndex dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
    double diagonal = 0;
    for (int k = 0; k < 4; ++k) {
      const double carried = 1 + std::max(0.0, along[k]);
      diagonal += carried;
      const GlobalIndex a = x + dx[k], b = y + dy[k];
      if (a >= 0 && a < width && b >= 0 && b < height) emit(number(a, b), -carried);
    }
    emit(number(x, y), diagonal);
    emit(p(x, y), -1.0);
    emit(horizontal ? p(x + 1, y) : p(x, y + 1), 1.0);
  }

  template <class Emit>
  void continuity(GlobalIndex x, GlobalIndex y, Emit& emit) const {
    if (x > 0) emit(u(x - 1, y), 1.0);
    if (x < n_ - 1) emit(u(x, y), -1.0);
    if (y > 0) emit(v(x, y - 1), 1.0);
    if (y < n_ - 1) emit(v(x, y), -1.0);
    if (stabilization_ == 0) return;
    const GlobalIndex dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
    double diagonal = 0;
    for (int k = 0; k < 4; ++k) {
      const GlobalIndex a = x + dx[k], b = y + dy[k];
      if (a < 0 || a >= n_ || b < 0 || b >= n_) continue;
      emit(p(a, b), stabilization_);
      diagonal -= stabilization_;
    }
    emit(p(x, y), diagonal);
  }

  GlobalIndex n_;
  double wind_, stabilization_;
};

inline std::shared_ptr<const matrix::DistMatrix<double>> distributed(const comm::Layout& layout,
                                                                     const MarkerAndCell& flow) {
  return std::make_shared<const matrix::DistMatrix<double>>(matrix::matrix_from_rows<double>(
      layout, layout, [&](GlobalIndex i, const auto& emit) { flow.row(i, emit); }));
}

inline Eigen::MatrixXd dense(const MarkerAndCell& flow) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(flow.rows(), flow.rows());
  for (GlobalIndex i = 0; i < flow.rows(); ++i) {
    flow.row(i, [&](GlobalIndex j, double value) { A(i, j) += value; });
  }
  return A;
}

}  // namespace nodewise::test
