#include "nodewise/amg/cycle/single_precision_levels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/base/parallel.hpp"
#include "nodewise/base/scale.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg {

namespace {

/// Collective. scale_of() the largest modulus on any rank.
double scale_for(const mpi::Comm& comm, double largest_here) {
  return scale_of(mpi::max(comm, largest_here));
}

template <class T>
double largest_entry(const matrix::DistMatrix<T>& A) {
  return std::max(solve::max_abs<T>(A.on().vals), solve::max_abs<T>(A.off().vals));
}

template <class T>
CycleLevel<float>::Matrix in_float(const typename CycleLevel<T>::Matrix& A, double factor) {
  if (!A) return nullptr;
  return std::make_shared<const matrix::DistMatrix<float>>(A->template with_type<float>(factor));
}

/// Calls f(k, c) for every place k of a block, which is in column c.
template <class F>
void for_each_place(std::size_t size, std::size_t width, F&& f) {
  for (std::size_t first = 0; first < size; first += width) {
    for (std::size_t c = 0; c < width; ++c) f(first + c, c);
  }
}

std::size_t bytes_of_values(const CycleLevel<float>::Matrix& matrix) {
  return matrix ? static_cast<std::size_t>(matrix->nnz_local()) * sizeof(float) : 0;
}

}  // namespace

template <class T>
SinglePrecisionLevels<T>::SinglePrecisionLevels(const matrix::DistMatrix<T>* A,
                                                const Options& options, bool symmetric_matrix,
                                                int first_depth)
    : options_(options),
      has_finest_(first_depth == 0),
      scale_(A ? scale_for(A->comm(), largest_entry(*A)) : 1),
      cycle_(*options.cycle, symmetric_matrix, first_depth) {}

template <class T>
auto SinglePrecisionLevels<T>::rounded(const Matrix& A) const -> RoundedMatrix {
  return in_float<T>(A, scale_);
}

template <class T>
void SinglePrecisionLevels<T>::add(Level level) {
  const bool is_finest = has_finest_ && cycle_.levels.empty();
  level.reserve(true, options_.cycle->visit == CoarseVisit::iterate && !is_finest);
  cycle_.levels.push_back(std::move(level));
}

template <class T>
void SinglePrecisionLevels<T>::add_smoothed(const LevelParts<T>& parts) {
  Level level;
  level.A = parts.rounded_A ? parts.rounded_A : rounded(parts.A);
  level.P = in_float<T>(parts.P, 1);
  level.R = in_float<T>(parts.R, 1);
  level.to_copies = in_float<T>(parts.to_copies, 1);
  if (parts.move) level.arrival.emplace(*parts.move);
  level.smoother = std::make_shared<const Smoother<float>>(*level.A, options_, parts.facts);
  add(std::move(level));
}

template <class T>
void SinglePrecisionLevels<T>::add_direct(const Matrix& A,
                                          std::shared_ptr<const CoarseSolver<float>> solver) {
  Level level;
  level.A = rounded(A);
  level.direct = std::move(solver);
  add(std::move(level));
}

/// Has the right-hand side in the first level's b and takes the result from its x.
template <class T>
template <class Run>
void SinglePrecisionLevels<T>::round(std::span<const T> b, std::span<T> x, Run&& run) const {
  const Level& first = cycle_.levels.front();
  if (first.is_elsewhere()) return;
  const double scale = scale_for(first.A->comm(), solve::max_abs(b));
  const T in = static_cast<T>(scale);
  const T out = static_cast<T>(scale_ / scale);
  parallel::for_range(b.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) first.b[i] = static_cast<float>(in * b[i]);
  });
  run();
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = out * static_cast<T>(first.x[i]);
  });
}

template <class T>
template <class Run>
void SinglePrecisionLevels<T>::round(std::span<const T> B, std::span<T> X, int width,
                                     Run&& run) const {
  const Level& first = cycle_.levels.front();
  if (first.is_elsewhere()) return;
  const auto w = static_cast<std::size_t>(width);
  const std::span<double> scales = std::span(scales_).first(w);
  std::fill(scales.begin(), scales.end(), 0.0);
  for_each_place(B.size(), w, [&](std::size_t k, std::size_t c) {
    scales[c] = std::max(scales[c], static_cast<double>(std::abs(B[k])));
  });
  mpi::max_in_place(first.A->comm(), scales);
  for (double& scale : scales) scale = scale_of(scale);
  cycle_.resize_together(width);
  for_each_place(B.size(), w, [&](std::size_t k, std::size_t c) {
    first.together[0][k] = static_cast<float>(static_cast<T>(scales[c]) * B[k]);
  });
  run();
  for_each_place(X.size(), w, [&](std::size_t k, std::size_t c) {
    X[k] = static_cast<T>(scale_ / scales[c]) * static_cast<T>(first.together[1][k]);
  });
}

template <class T>
void SinglePrecisionLevels<T>::visit(const CycleMethod& method, std::span<const T> b,
                                     std::span<T> x) const {
  round(b, x, [&] { cycle_.visit_below(method); });
}

template <class T>
void SinglePrecisionLevels<T>::visit(const CycleMethod& method, std::span<const T> B,
                                     std::span<T> X, int width) const {
  round(B, X, width, [&] { cycle_.visit_below(method, width); });
}

template <class T>
void SinglePrecisionLevels<T>::reserve_workspace(int width) const {
  cycle_.reserve_workspace(width);
  scales_.resize(std::max(scales_.size(), static_cast<std::size_t>(width)));
}

template <class T>
void SinglePrecisionLevels<T>::apply(std::span<const T> b, std::span<T> x) const {
  const Level& first = cycle_.levels.front();
  round(b, x, [&] { cycle_.apply(first.b, first.x); });
}

template <class T>
void SinglePrecisionLevels<T>::apply(std::span<const T> B, std::span<T> X, int width) const {
  const Level& first = cycle_.levels.front();
  if (static_cast<std::size_t>(width) > scales_.size()) {
    mpi::collectively(first.A->comm(), [&] { reserve_workspace(width); });
  }
  round(B, X, width, [&] { cycle_.apply(first.together[0], first.together[1], width); });
}

template <class T>
std::size_t SinglePrecisionLevels<T>::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Level& level : cycle_.levels) {
    bytes += level.memory_bytes() + bytes_of_values(level.A) + bytes_of_values(level.P) +
             bytes_of_values(level.R) + bytes_of_values(level.to_copies);
  }
  return bytes;
}

template class SinglePrecisionLevels<float>;
template class SinglePrecisionLevels<double>;

}  // namespace nodewise::amg
