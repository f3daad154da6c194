#include "nodewise/amg/restriction/local_air.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nodewise/amg/restriction/fine_rows.hpp"
#include "nodewise/amg/restriction/local_system.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::restriction {

namespace {

using comm::Layout;
using matrix::DistMatrix;

/// The rows of R, one coarse point after another.
template <class T>
class LocalAir {
 public:
  LocalAir(const FineRows<T>& rows, int distance)
      : rows_(rows), distance_(distance), place_(static_cast<std::size_t>(rows.size()), nowhere) {}

  matrix::RowBlock<T> build(const coarsen::Splitting& splitting) {
    matrix::RowBlock<T> block;
    block.n_owned_cols = static_cast<LocalIndex>(splitting.size());
    kernels::Csr<T>& R = block.rows;
    for (std::size_t u = 0; u < splitting.size(); ++u) {
      if (splitting[u] != coarsen::coarse) continue;
      const auto i = static_cast<LocalIndex>(u);
      gather_neighbourhood(i);
      solve(i);
      R.cols.push_back(i);
      R.vals.push_back(T{1});
      for (std::size_t j = 0; j < neighbours_.size(); ++j) {
        const T weight = static_cast<T>(weights_[j]);
        if (weight == T{}) continue;
        R.cols.push_back(neighbours_[j]);
        R.vals.push_back(weight);
      }
      R.row_ptr.push_back(static_cast<Offset>(R.cols.size()));
      for (const LocalIndex j : neighbours_) place(j) = nowhere;
    }
    R.n_rows = static_cast<LocalIndex>(R.row_ptr.size() - 1);
    R.n_cols = rows_.size();
    block.ghosts = rows_.ghosts();
    return block;
  }

 private:
  static constexpr LocalIndex nowhere = -1;

  LocalIndex& place(LocalIndex point) { return place_[static_cast<std::size_t>(point)]; }

  /// N_i in the order of global indices, so that the system is the same on any number of ranks.
  void gather_neighbourhood(LocalIndex i) {
    gather_near(i);
    if (distance_ == 2) gather_far();
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
  int distance_;
  std::vector<LocalIndex> place_;  // of all points in neighbours_
  std::vector<Near> near_;
  std::vector<LocalIndex> neighbours_;
  std::vector<double> system_, weights_;
};

}  // namespace

template <class T>
DistMatrix<T> local_air(const DistMatrix<T>& A, const coarsen::Splitting& splitting,
                        const Layout& coarse_points, int distance, double threshold) {
  if (distance < 1 || distance > 2) {
    throw Error(ErrorCode::invalid_argument,
                "restriction: the distance is " + std::to_string(distance) + ", needs 1 or 2");
  }
  const Strength strength = mpi::collectively(A.comm(), [&] {
    return strength_of_connection(A, threshold, 1.0, StrengthMeasure::absolute);
  });
  FineRows<T> rows(A, strength, splitting);
  rows.bring_ghost_rows();
  if (distance == 2) rows.bring_far_rows();
  return {coarse_points, A.rows(), [&] {
            return matrix::split_rows(A.rows(), LocalAir<T>(rows, distance).build(splitting));
          }};
}

template DistMatrix<float> local_air(const DistMatrix<float>&, const coarsen::Splitting&,
                                     const Layout&, int, double);
template DistMatrix<double> local_air(const DistMatrix<double>&, const coarsen::Splitting&,
                                      const Layout&, int, double);

}  // namespace nodewise::amg::restriction
