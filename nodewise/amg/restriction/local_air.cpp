#include "nodewise/amg/restriction/local_air.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nodewise/amg/restriction/fine_rows.hpp"
#include "nodewise/amg/restriction/local_system.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::restriction {

namespace {

using comm::Layout;
using matrix::DistMatrix;

/// Rows of R, one coarse point after another. Each thread has its own.
template <class T>
class LocalAir {
 public:
  LocalAir(const FineRows<T>& rows, const AirLimits& limits)
      : rows_(rows), limits_(limits), place_(static_cast<std::size_t>(rows.size()), nowhere) {}

  /// The restriction rows of the coarse points among [begin, end).
  kernels::Csr<T> build(const coarsen::Splitting& splitting, LocalIndex begin, LocalIndex end) {
    kernels::Csr<T> R;
    for (LocalIndex i = begin; i < end; ++i) {
      if (splitting[static_cast<std::size_t>(i)] != coarsen::coarse) continue;
      gather_neighbourhood(i);
      solve(i);
      append_row(i, R);
      for (const LocalIndex j : neighbours_) place(j) = nowhere;
    }
    R.n_rows = static_cast<LocalIndex>(R.row_ptr.size() - 1);
    R.n_cols = rows_.size();
    return R;
  }

 private:
  static constexpr LocalIndex nowhere = -1;

  LocalIndex& place(LocalIndex point) { return place_[static_cast<std::size_t>(point)]; }

  void append_row(LocalIndex i, kernels::Csr<T>& R) const {
    double largest = 1;  // at the coarse point
    for (const double weight : weights_) largest = std::max(largest, std::abs(weight));
    R.cols.push_back(i);
    R.vals.push_back(T{1});
    for (std::size_t j = 0; j < neighbours_.size(); ++j) {
      const T weight = static_cast<T>(weights_[j]);
      if (weight == T{} || std::abs(weights_[j]) < limits_.truncation * largest) continue;
      R.cols.push_back(neighbours_[j]);
      R.vals.push_back(weight);
    }
    R.row_ptr.push_back(static_cast<Offset>(R.cols.size()));
  }

  /// N_i in the order of global indices, so that the system is the same on any number of ranks.
  void gather_neighbourhood(LocalIndex i) {
    gather_near(i);
    if (limits_.distance == 2) gather_far();
    std::sort(neighbours_.begin(), neighbours_.end(),
              [&](LocalIndex a, LocalIndex b) { return rows_.global(a) < rows_.global(b); });
    for (std::size_t j = 0; j < neighbours_.size(); ++j) {
      place(neighbours_[j]) = static_cast<LocalIndex>(j);
    }
  }

  void gather_near(LocalIndex i) {
    near_.clear();
    rows_.for_each_entry(i, [&](LocalIndex j, T value, bool strong) {
      if (strong) near_.push_back({j, std::abs(value)});
    });
    if (near_.size() > max_points) {
      std::stable_sort(near_.begin(), near_.end(),
                       [](const Near& a, const Near& b) { return a.size > b.size; });
      near_.resize(max_points);
    }
    neighbours_.clear();
    for (const Near& near : near_) neighbours_.push_back(near.point);
  }

  void gather_far() {
    for (const LocalIndex j : neighbours_) place(j) = 0;
    for (const Near& near : near_) {
      rows_.for_each_entry(near.point, [&](LocalIndex k, T, bool strong) {
        if (!strong || place(k) != nowhere || neighbours_.size() == max_points) return;
        place(k) = 0;
        neighbours_.push_back(k);
      });
    }
  }

  /// The system by columns: column j is the row of the j-th neighbour.
  void solve(LocalIndex i) {
    const std::size_t n = neighbours_.size();
    system_.assign(n * n, 0);
    weights_.assign(n, 0);
    const auto spread = [&](LocalIndex point, double factor, double* to) {
      rows_.for_each_entry(point, [&](LocalIndex k, T value, bool) {
        if (place(k) != nowhere) to[place(k)] = factor * static_cast<double>(value);
      });
    };
    for (std::size_t j = 0; j < n; ++j) spread(neighbours_[j], 1, system_.data() + j * n);
    spread(i, -1, weights_.data());
    solve_local(system_, weights_);
  }

  struct Near {
    LocalIndex point;
    T size;
  };

  const FineRows<T>& rows_;
  AirLimits limits_;
  std::vector<LocalIndex> place_;  // of all points in neighbours_
  std::vector<Near> near_;
  std::vector<LocalIndex> neighbours_;
  std::vector<double> system_, weights_;
};

/// This rank's rows of R, with the columns of `rows`.
template <class T>
matrix::RowBlock<T> build_rows(const DistMatrix<T>& A, const FineRows<T>& rows,
                               const coarsen::Splitting& splitting, const AirLimits& limits) {
  return {kernels::rows_in_parts<T>(A.on().row_ptr,
                                    [&](LocalIndex begin, LocalIndex end) {
                                      return LocalAir<T>(rows, limits).build(splitting, begin, end);
                                    }),
          A.n_local(), rows.ghosts()};
}

}  // namespace

template <class T>
DistMatrix<T> local_air(const DistMatrix<T>& A, const coarsen::Splitting& splitting,
                        const Layout& coarse_points, const AirLimits& limits) {
  if (limits.distance < 1 || limits.distance > 2) {
    throw Error(
        ErrorCode::invalid_argument,
        "restriction: the distance is " + std::to_string(limits.distance) + ", needs 1 or 2");
  }
  const Strength strength = mpi::collectively(A.comm(), [&] {
    return strength_of_connection(A, limits.threshold, 1.0, StrengthMeasure::absolute);
  });
  FineRows<T> rows(A, strength, splitting);
  rows.bring_ghost_rows();
  if (limits.distance == 2) rows.bring_far_rows();
  return {coarse_points, A.rows(),
          [&] { return matrix::split_rows(A.rows(), build_rows(A, rows, splitting, limits)); }};
}

template DistMatrix<float> local_air(const DistMatrix<float>&, const coarsen::Splitting&,
                                     const Layout&, const AirLimits&);
template DistMatrix<double> local_air(const DistMatrix<double>&, const coarsen::Splitting&,
                                      const Layout&, const AirLimits&);

}  // namespace nodewise::amg::restriction
