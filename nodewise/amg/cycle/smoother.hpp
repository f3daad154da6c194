// Smoothing on one level: which sweeps come before the coarse correction and after it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/relax/relaxation.hpp"

namespace nodewise::amg {

template <class T>
class Smoother {
 public:
  /// Local. SweepOrder::automatic must have been resolved. A must outlive it.
  Smoother(const matrix::DistMatrix<T>& A, const Options& options,
           const relax::MatrixFacts& facts = {});

  /// Collective. The sweeps before the coarse correction from x = 0: x and the residual
  /// r = b - A x.
  void presmooth(std::span<const T> b, std::span<T> x, std::span<T> r) const;
  /// Collective. The same from the x that is given.
  void presmooth_further(std::span<const T> b, std::span<T> x, std::span<T> r) const;
  /// Collective. The sweeps after it, the transpose of presmooth() unless asymmetry_of() the
  /// options.
  void postsmooth(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same and the product y = A x with what they have made of x.
  void postsmooth_with_product(std::span<const T> b, std::span<T> x, std::span<T> y) const;
  /// Whether that is cheaper than the two by themselves; also of a smoother that is not made yet.
  static bool can_save_product(const matrix::DistMatrix<T>& A, const Options& options);
  bool saves_product() const {
    return !after_.empty() && relaxation_->saves_product(after_.back());
  }
  /// Collective. `sweeps` forward, then backward sweeps from x = 0: a symmetric operator.
  void solve_approximately(int sweeps, std::span<const T> b, std::span<T> x) const;

  /// Collective. The same for `width` vectors side by side, row-major: in the messages of one where
  /// relax::Relaxation::sweep_block() takes no more.
  void presmooth(bool from_zero, std::span<const T> B, std::span<T> X, std::span<T> R,
                 int width) const;
  void postsmooth(std::span<const T> B, std::span<T> X, int width) const;
  void solve_approximately(int sweeps, std::span<const T> B, std::span<T> X, int width) const;
  /// Local. Makes room for these, which ask for no memory afterwards for as many vectors or fewer.
  void reserve_workspace(int width) const { relaxation_->reserve_workspace(width); }
  std::size_t memory_bytes() const {
    return relaxation_->memory_bytes() + relaxation_->workspace_bytes();
  }

  /// What its sweeps are.
  const relax::Relaxation<T>& relaxation() const { return *relaxation_; }

 private:
  const matrix::DistMatrix<T>& A_;
  std::unique_ptr<const relax::Relaxation<T>> relaxation_;
  std::vector<relax::Sweep> before_, before_from_zero_, after_;
};

}  // namespace nodewise::amg
