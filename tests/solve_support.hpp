// Matrices, operators and a reference for the tests of the solvers.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "support.hpp"

namespace nodewise::test {

/// Gives entry (i, j) of a matrix.
using Entry = std::function<double(GlobalIndex i, GlobalIndex j)>;

/// Collective. The n x n matrix of the given entries, zeros left out, as an operator.
template <class T = double>
solve::MatrixOperator<T> make_operator(const comm::Layout& layout, const Entry& entry) {
  return solve::MatrixOperator<T>(std::make_shared<const matrix::DistMatrix<T>>(
      matrix::matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, const auto& emit) {
        for (GlobalIndex j = 0; j < layout.n_global(); ++j) {
          if (entry(i, j) != 0) emit(j, static_cast<T>(entry(i, j)));
        }
      })));
}

inline comm::Layout uniform(GlobalIndex n) {
  return comm::Layout::uniform(test_comm(), n);
}

/// All rows on the last rank.
inline comm::Layout on_last_rank(GlobalIndex n) {
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(test_comm()->size()) + 1, 0);
  starts.back() = n;
  return {test_comm(), starts};
}

/// This rank's part of the vector with entries f(i).
template <class T = double, class F>
std::vector<T> make_vector(const comm::Layout& layout, F f) {
  std::vector<T> v;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) v.push_back(static_cast<T>(f(i)));
  return v;
}

inline std::vector<double> hashed_vector(const comm::Layout& layout, std::uint64_t seed) {
  return make_vector(layout, [seed](GlobalIndex i) {
    return 2 * hash_uniform(static_cast<std::uint64_t>(i), seed) - 1;
  });
}

/// Collective. The whole vector on every rank.
template <class T>
Eigen::VectorXd whole(const std::vector<T>& part) {
  const std::vector<T> all = mpi::concatenate_all<T>(*test_comm(), part);
  Eigen::VectorXd v(static_cast<Eigen::Index>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    v[static_cast<Eigen::Index>(i)] = static_cast<double>(all[i]);
  }
  return v;
}

inline Eigen::MatrixXd dense(GlobalIndex n, const Entry& entry) {
  return Eigen::MatrixXd::NullaryExpr(n, n, [&](auto i, auto j) { return entry(i, j); });
}

/// |b - A x| / |b| with a dense A, independent of the library's products.
template <class T>
double dense_residual(const Entry& entry, const std::vector<T>& b, const std::vector<T>& x) {
  const Eigen::VectorXd bw = whole(b);
  return (bw - dense(bw.size(), entry) * whole(x)).norm() / bw.norm();
}

/// Tridiagonal (-1, 2, -1): symmetric positive definite.
inline double laplace(GlobalIndex i, GlobalIndex j) {
  if (i == j) return 2;
  return std::abs(i - j) == 1 ? -1 : 0;
}

/// The same with Neumann ends: singular, its null space is the constants.
inline Entry neumann(GlobalIndex n) {
  return [n](GlobalIndex i, GlobalIndex j) {
    if (i == j) return n == 1 ? 0.0 : (i == 0 || i == n - 1 ? 1.0 : 2.0);
    return std::abs(i - j) == 1 ? -1.0 : 0.0;
  };
}

/// `scale` times the Laplacian of a periodic n x n grid: singular as well, but its null vector may
/// be one up to round-off only.
inline Entry periodic_laplace(GlobalIndex n, double scale) {
  return [n, scale](GlobalIndex i, GlobalIndex j) {
    const auto apart = [n](GlobalIndex a, GlobalIndex b) {
      return std::min(std::abs(a - b), n - std::abs(a - b));
    };
    const GlobalIndex distance = apart(i % n, j % n) + apart(i / n, j / n);
    return distance == 0 ? 4 * scale : (distance == 1 ? -scale : 0.0);
  };
}

/// A vector operation on the local parts as an operator: y_i = f(i, x_i).
template <class T>
class Pointwise final : public solve::Operator<T> {
 public:
  using Function = std::function<T(GlobalIndex i, T value)>;
  Pointwise(comm::Layout layout, Function f) : layout_(std::move(layout)), f_(std::move(f)) {}
  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const T> x, std::span<T> y) const override {
    ++applications;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = f_(layout_.to_global(static_cast<LocalIndex>(i)), x[i]);
    }
  }
  mutable int applications = 0;

 private:
  comm::Layout layout_;
  Function f_;
};

/// Collective. Expects the same report on every rank, but for the time.
inline void expect_same_on_all_ranks(const solve::Report& report) {
  const mpi::Comm& comm = *test_comm();
  const auto outcome = static_cast<std::int32_t>(report.outcome);
  EXPECT_EQ(mpi::min(comm, outcome), mpi::max(comm, outcome));
  EXPECT_EQ(mpi::min(comm, report.iterations), mpi::max(comm, report.iterations));
  EXPECT_EQ(mpi::broadcast(comm, report.diagnosis, 0), report.diagnosis);
}

}  // namespace nodewise::test
