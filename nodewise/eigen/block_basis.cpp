#include "nodewise/eigen/block_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nodewise/eigen/small.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::eigen {

namespace {

constexpr double block_round_off = std::numeric_limits<double>::epsilon();

double largest_modulus(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// The largest entry of G - 1.
double from_identity(std::span<const double> G, std::size_t w) {
  double largest = 0;
  for (std::size_t a = 0; a < w; ++a) {
    for (std::size_t b = 0; b < w; ++b) {
      largest = std::max(largest, std::abs(G[a * w + b] - (a == b ? 1.0 : 0.0)));
    }
  }
  return largest;
}

}  // namespace

void Block::reserve(std::size_t rows, std::size_t most, bool with_mass) {
  rows_ = rows;
  with_mass_ = with_mass;
  X_.resize(rows * most);
  AX_.resize(rows * most);
  if (with_mass) BX_.resize(rows * most);
}

void Block::resize(std::size_t width) {
  width_ = width;
}

BlockBasis::BlockBasis(const EigenCall& call, Work& work, std::size_t most)
    : call_(call), counted_(work), rows_(static_cast<std::size_t>(call.A.layout().n_local())) {
  mpi::collectively(call.A.layout().comm(), [&] {
    scratch_.resize(rows_ * most);
    work_vectors_.resize(2 * rows_);
    sums_.reserve(3 * most * most);
  });
}

void BlockBasis::sum(std::span<double> sums) {
  solve::sum_parts(call_.A.layout().comm(), sums);
  ++counted_.reductions;
}

void BlockBasis::multiply(Block& block) {
  counted_.product_calls += apply_columns(call_.A, block.x(), block.AX(), work_vectors_);
  counted_.products += static_cast<int>(block.width());
}

void BlockBasis::multiply_mass(Block& block) {
  if (!block.with_mass()) return;
  apply_columns(*call_.B, block.x(), block.BX(), work_vectors_);
  counted_.mass_products += static_cast<int>(block.width());
}

void BlockBasis::subtract(Block& block, Blocks others, std::span<const double> C) {
  const std::size_t w = block.width();
  std::size_t at = 0;
  for (Block* const other : others) {
    const std::span<const double> part = C.subspan(at, other->width() * w);
    add_product(other->x(), part, -1.0, w, block.X());
    if (block.with_mass()) add_product(other->bx(), part, -1.0, w, block.BX());
    at += part.size();
  }
}

void BlockBasis::turn(Block& block, std::span<const double> T, std::size_t width) {
  const auto turn_one = [&](std::span<double> values) {
    const std::span<double> turned = std::span(scratch_).first(rows_ * width);
    std::fill(turned.begin(), turned.end(), 0.0);
    add_product({values, block.width()}, T, 1.0, width, turned);
    std::copy(turned.begin(), turned.end(), values.begin());
  };
  turn_one(block.X());
  if (block.with_mass()) turn_one(block.BX());
  block.resize(width);
}

Orthonormal BlockBasis::orthonormalise(Block& block, Blocks others) {
  constexpr int most_passes = 4;
  for (int pass = 0; pass < most_passes && block.width() > 0; ++pass) {
    const std::size_t w = block.width();
    std::size_t n_others = 0;
    for (Block* const other : others) n_others += other->width();
    sums_.assign((n_others + w) * w, 0.0);
    const std::span<double> C = std::span(sums_).first(n_others * w);
    const std::span<double> G = std::span(sums_).last(w * w);
    std::size_t at = 0;
    for (Block* const other : others) {
      gram_local(other->x(), block.bx(), C.subspan(at, other->width() * w));
      at += other->width() * w;
    }
    gram_local(block.x(), block.bx(), G);
    sum(sums_);
    std::vector<double> scales(w);
    for (std::size_t c = 0; c < w; ++c) scales[c] = G[c * w + c];
    if (!std::all_of(sums_.begin(), sums_.end(), [](double v) { return std::isfinite(v); })) {
      return Orthonormal::not_finite;
    }
    if (*std::min_element(scales.begin(), scales.end()) < 0) return Orthonormal::indefinite_mass;
    constexpr double good = 1e-13;
    if (pass > 0 && largest_modulus(C) < good && from_identity(G, w) < good) break;
    subtract(block, others, C);
    for (std::size_t k = 0; k < n_others; ++k) {
      for (std::size_t a = 0; a < w; ++a) {
        for (std::size_t b = 0; b < w; ++b) G[a * w + b] -= C[k * w + a] * C[k * w + b];
      }
    }
    const double threshold = 1000 * block_round_off * static_cast<double>(w);
    const Whitening white = whiten(G, scales, threshold);
    turn(block, white.T, white.m);
  }
  return Orthonormal::done;
}

void BlockBasis::combine(Blocks blocks, std::span<const double> C, std::size_t width, Block& Y) {
  Y.resize(width);
  std::fill(Y.X().begin(), Y.X().end(), 0.0);
  std::fill(Y.AX().begin(), Y.AX().end(), 0.0);
  if (Y.with_mass()) std::fill(Y.BX().begin(), Y.BX().end(), 0.0);
  std::size_t at = 0;
  for (Block* const block : blocks) {
    const std::span<const double> part = C.subspan(at, block->width() * width);
    add_product(block->x(), part, 1.0, width, Y.X());
    add_product(block->ax(), part, 1.0, width, Y.AX());
    if (Y.with_mass()) add_product(block->bx(), part, 1.0, width, Y.BX());
    at += part.size();
  }
}

}  // namespace nodewise::eigen
