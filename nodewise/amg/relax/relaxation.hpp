// What one sweep of a smoother does.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::relax {

enum class Direction { forward, backward };
/// What Relaxation's functions do, by name; the first two from x = 0.
enum class Sweep { first, first_symmetric, forward, backward, symmetric };
inline bool is_from_zero(Sweep sweep) {
  return sweep == Sweep::first || sweep == Sweep::first_symmetric;
}
inline bool has_forward(Sweep sweep) {
  return sweep != Sweep::backward;
}
inline bool has_backward(Sweep sweep) {
  return sweep != Sweep::first && sweep != Sweep::forward;
}

/// A sweep that is a polynomial in D^-1 A: step = keep step + take inverse (b - A x), x += step,
/// for each of the steps; that of the first has nothing to keep.
template <class T>
struct DiagonalSteps {
  struct Step {
    T keep, take;
  };
  std::span<const T> inverse;  ///< of D, or what stands for it; 0 where a row is left alone
  std::vector<Step> steps;
};

/// One sweep x += M^-1 (b - A x). With a symmetric A the backward sweep is the adjoint of the
/// forward one: its M is the transpose. Vectors are this rank's parts, laid out by A.rows(). Rows
/// with a zero diagonal are left alone.
template <class T>
class Relaxation {
 public:
  virtual ~Relaxation() = default;

  /// Collective. A forward sweep from x = 0, whatever x holds.
  virtual void first_sweep(std::span<const T> b, std::span<T> x) const = 0;
  /// Collective. The same and the residual r = b - A x.
  virtual void first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                         std::span<T> r) const;
  /// Collective.
  virtual void sweep(Direction direction, std::span<const T> b, std::span<T> x) const = 0;
  /// Collective. A forward sweep and the backward one after it: together a sweep that is its own
  /// adjoint. What other ranks own may be taken from before both, which saves an exchange.
  virtual void symmetric_sweep(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same from x = 0, whatever x holds.
  virtual void first_symmetric_sweep(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same and the residual r = b - A x.
  virtual void first_symmetric_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                   std::span<T> r) const;
  /// Collective. r = b - A x, by a pass through the matrix.
  void subtract_product(std::span<const T> b, std::span<const T> x, std::span<T> r) const;
  /// Collective. A sweep and the product y = A x with what it has made of x.
  virtual void sweep_with_product(Sweep sweep, std::span<const T> b, std::span<T> x,
                                  std::span<T> y) const;
  /// Whether that is cheaper than the two by themselves.
  virtual bool saves_product(Sweep /*sweep*/) const { return false; }
  /// Collective. What first_sweep(), first_symmetric_sweep(), sweep() or symmetric_sweep() does,
  /// for `width` vectors side by side, row-major: B and X are rows x width. The messages are those
  /// of one vector where the relaxation overrides it; by default it runs for one vector after the
  /// other.
  virtual void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const;
  /// Local. Makes the room that sweep_block() works in, which asks for no memory afterwards for
  /// as many vectors or fewer.
  void reserve_workspace(int width) const {
    workspace(workspace_for(static_cast<std::size_t>(width)));
  }
  std::size_t workspace_bytes() const { return workspace_.size() * sizeof(T); }
  /// Local. What a sweep is where it is no more than that: devices know how to do it. It lasts as
  /// long as the relaxation.
  virtual std::optional<DiagonalSteps<T>> diagonal_steps() const { return {}; }
  /// Whether a sweep backward differs from one forward.
  virtual bool has_direction() const { return false; }
  virtual std::size_t memory_bytes() const = 0;

  /// Collective. The one of these that is named.
  void run(Sweep kind, std::span<const T> b, std::span<T> x) const;

 protected:
  explicit Relaxation(const matrix::DistMatrix<T>& A) : A_(A) {}
  /// Collective. y = A x.
  void multiply(std::span<const T> x, std::span<T> y) const;
  /// How many numbers sweep_block() works with beside B and X: by default two vectors.
  virtual std::size_t workspace_for(std::size_t width) const;
  /// The first n numbers of the room, which grows as needed.
  std::span<T> workspace(std::size_t n) const {
    if (workspace_.size() < n) workspace_.resize(n);
    return std::span<T>(workspace_).first(n);
  }
  std::size_t n_local() const { return static_cast<std::size_t>(A_.n_local()); }
  /// Local. Calls f(i, k) for every row i and every place k of it in a block of `width` vectors.
  template <class F>
  void for_rows_of_block(std::size_t width, F&& f) const {
    const std::size_t n = n_local();
    const int parts = parallel::parts_of(n * width);
    parallel::run(parts, [&](int part) {
      const std::size_t end = parallel::equal_part(n, parts, part + 1);
      for (std::size_t i = parallel::equal_part(n, parts, part); i < end; ++i) {
        for (std::size_t k = i * width; k < (i + 1) * width; ++k) f(i, k);
      }
    });
  }

  const matrix::DistMatrix<T>& A_;

 private:
  mutable Array<T> workspace_;
};

/// What a relaxation is told of its matrix.
struct MatrixFacts {
  /// Of D^-1 A (spectral_radius.hpp); read where SmootherMethod::needs_spectral_radius.
  double spectral_radius = 0;
  /// Those of this rank that are rows of the next level, ascending; read by fc_jacobi and in orders
  /// of coarse and fine points, while the relaxation is made.
  std::span<const LocalIndex> coarse_rows = {};
  /// Up to round-off, as matrix::is_symmetric(); false where that is not known.
  bool is_symmetric = false;
  /// Of the matrix; read where needs_row_scales() while the relaxation is made. Null: l1 forms take
  /// all rows for equally large.
  const RowScales* scales = nullptr;
  /// Whether sweep_with_product() will be asked for, as on the finest level, which then costs a
  /// pass through the columns now.
  bool gives_product = false;
};

}  // namespace nodewise::amg::relax
