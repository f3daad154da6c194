#include "nodewise/amg/applied_cycle.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "nodewise/amg/cycle.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg {

namespace {

/// The power of two that brings a modulus into [1, 2), or nearly: its inverse is to be finite too.
/// 1 for zero.
double scale_of(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
}

/// Collective. The same for the largest modulus on any rank.
double scale_for(const mpi::Comm& comm, double largest_here) {
  return scale_of(mpi::max(comm, largest_here));
}

/// A matrix as the cycle has it: itself, or converted to another type and scaled.
template <class V, class T>
std::shared_ptr<const matrix::DistMatrix<V>> in_type(
    const std::shared_ptr<const matrix::DistMatrix<T>>& A, double factor) {
  if constexpr (std::is_same_v<V, T>) {
    return A;
  } else {
    if (!A) return nullptr;
    return std::make_shared<const matrix::DistMatrix<V>>(
        A->template with_type<V>(static_cast<T>(factor)));
  }
}

/// How a report says it.
const char* place_name(CoarseSolve where) {
  if (where == CoarseSolve::every_node) return " on every node";
  return where == CoarseSolve::one_rank ? " on one rank" : "";
}

/// A cycle in V under a setup in T. Where these are the same nothing is converted.
template <class T, class V>
class TypedCycle final : public AppliedCycle<T> {
 public:
  using typename AppliedCycle<T>::Matrix;
  using typename AppliedCycle<T>::Parts;

  TypedCycle(const Options& options, bool symmetric, double scale)
      : options_(options), scale_(scale), cycle_(options.cycle, symmetric) {}

  void add_smoothed(const Parts& parts) override {
    CycleLevel<V> level;
    level.A = in_type<V>(parts.A, scale_);
    level.P = in_type<V>(parts.P, 1);
    level.R = in_type<V>(parts.R, 1);
    level.smoother = std::make_shared<const Smoother<V>>(*level.A, options_, parts.spectral_radius,
                                                         parts.coarse_rows);
    add(std::move(level));
  }

  std::string add_direct(const Matrix& A) override {
    // Inverted as it is: rounded to another type, a singular matrix would not be recognised.
    auto direct = std::make_shared<const CoarseSolver<V>>(*A, scale_, options_.coarse_solve);
    const std::string how = std::string("direct") + place_name(options_.coarse_solve) +
                            (direct->singular() ? ", singular" : "");
    mpi::collectively(A->comm(), [&] {
      CycleLevel<V> level;
      level.A = in_type<V>(A, scale_);
      level.direct = std::move(direct);
      add(std::move(level));
    });
    return how;
  }

  void apply(std::span<const T> b, std::span<T> x) const override {
    if constexpr (std::is_same_v<T, V>) {
      cycle_.apply(b, x);
    } else {
      const double scale = scale_for(cycle_.levels.front().A->comm(), solve::max_abs(b));
      const T in = static_cast<T>(scale);
      const T out = static_cast<T>(scale_ / scale);
      parallel::for_range(b.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) b_[i] = static_cast<V>(in * b[i]);
      });
      cycle_.apply(b_, x_);
      parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) x[i] = out * static_cast<T>(x_[i]);
      });
    }
  }

  void apply_with_product(std::span<const T> b, std::span<T> x, std::span<T> y) const override {
    if constexpr (std::is_same_v<T, V>) cycle_.apply_with_product(b, x, y);
  }
  bool saves_product() const override { return std::is_same_v<T, V> && cycle_.saves_product(); }

  bool apply_together(std::span<const T> B, std::span<T> X, int width) const override {
    if (!cycle_.shares_messages()) return false;
    if constexpr (std::is_same_v<T, V>) {
      cycle_.apply(B, X, width);
    } else {
      const auto w = static_cast<std::size_t>(width);
      make_room(B.size(), w);
      const std::span<double> scales = std::span(scales_).first(w);
      const std::span<V> in = std::span<V>(in_).first(B.size());
      const std::span<V> out = std::span<V>(out_).first(B.size());
      std::fill(scales.begin(), scales.end(), 0.0);
      for_each_place(B.size(), w, [&](std::size_t k, std::size_t c) {
        scales[c] = std::max(scales[c], static_cast<double>(std::abs(B[k])));
      });
      mpi::max_in_place(cycle_.levels.front().A->comm(), scales);
      for (double& scale : scales) scale = scale_of(scale);
      for_each_place(B.size(), w, [&](std::size_t k, std::size_t c) {
        in[k] = static_cast<V>(static_cast<T>(scales[c]) * B[k]);
      });
      cycle_.apply(in, out, width);
      for_each_place(B.size(), w, [&](std::size_t k, std::size_t c) {
        X[k] = static_cast<T>(scale_ / scales[c]) * static_cast<T>(out[k]);
      });
    }
    return true;
  }

  std::size_t memory_bytes() const override {
    std::size_t bytes = (b_.size() + x_.size() + in_.size() + out_.size()) * sizeof(V);
    for (const CycleLevel<V>& level : cycle_.levels) {
      bytes += level.memory_bytes();
      if (!std::is_same_v<T, V>) bytes += values(level.A) + values(level.P) + values(level.R);
    }
    return bytes;
  }

 private:
  /// Calls f(k, c) for every place k of a block, which is in column c.
  template <class F>
  static void for_each_place(std::size_t size, std::size_t width, F&& f) {
    for (std::size_t first = 0; first < size; first += width) {
      for (std::size_t c = 0; c < width; ++c) f(first + c, c);
    }
  }
  /// Collective where there has not been room for so many vectors yet.
  void make_room(std::size_t size, std::size_t width) const {
    if (width <= scales_.size()) return;
    mpi::collectively(cycle_.levels.front().A->comm(), [&] {
      in_.resize(size);
      out_.resize(size);
      scales_.resize(width);
    });
  }
  static std::size_t values(const typename CycleLevel<V>::Matrix& matrix) {
    return matrix ? static_cast<std::size_t>(matrix->nnz_local()) * sizeof(V) : 0;
  }
  void add(CycleLevel<V> level) {
    const bool finest = cycle_.levels.empty();
    level.reserve(options_.cycle, finest);
    if (finest && !std::is_same_v<T, V>) {
      b_.resize(static_cast<std::size_t>(level.A->n_local()));
      x_.resize(b_.size());
    }
    cycle_.levels.push_back(std::move(level));
  }

  Options options_;
  double scale_;  // of the matrices
  Cycle<V> cycle_;
  mutable std::vector<V> b_, x_;  // of the finest level, where V is not T
  // The same of several vectors, and their scales.
  mutable Array<V> in_, out_;
  mutable std::vector<double> scales_;
};

}  // namespace

template <class T>
std::unique_ptr<AppliedCycle<T>> make_applied_cycle(const matrix::DistMatrix<T>& A,
                                                    const Options& options, bool symmetric_matrix) {
  if (options.precision == Precision::single && !std::is_same_v<T, float>) {
    const double largest =
        std::max(solve::max_abs<T>(A.on().vals), solve::max_abs<T>(A.off().vals));
    return std::make_unique<TypedCycle<T, float>>(options, symmetric_matrix,
                                                  scale_for(A.comm(), largest));
  }
  return std::make_unique<TypedCycle<T, T>>(options, symmetric_matrix, 1.0);
}

template std::unique_ptr<AppliedCycle<float>> make_applied_cycle(const matrix::DistMatrix<float>&,
                                                                 const Options&, bool);
template std::unique_ptr<AppliedCycle<double>> make_applied_cycle(const matrix::DistMatrix<double>&,
                                                                  const Options&, bool);

}  // namespace nodewise::amg
