#include "nodewise/amg/aggregate/orthonormal.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/base/scale.hpp"

namespace nodewise::amg::aggregate {

namespace {

/// The columns of a row-major array.
class Columns {
 public:
  Columns(std::span<double> rows, std::size_t k) : rows_(rows), k_(k) {}

  double dot(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t at = 0; at < rows_.size(); at += k_) sum += rows_[at + i] * rows_[at + j];
    return sum;
  }
  double length(std::size_t j) const { return std::sqrt(dot(j, j)); }
  double largest(std::size_t j) const {
    double size = 0;
    for (std::size_t at = j; at < rows_.size(); at += k_)
      size = std::max(size, std::abs(rows_[at]));
    return size;
  }
  void multiply(std::size_t j, double by) {
    for (std::size_t at = j; at < rows_.size(); at += k_) rows_[at] *= by;
  }
  void subtract(std::size_t j, double factor, std::size_t i) {
    for (std::size_t at = 0; at < rows_.size(); at += k_) rows_[at + j] -= factor * rows_[at + i];
  }
  void divide(std::size_t j, double by) {
    for (std::size_t at = j; at < rows_.size(); at += k_) rows_[at] /= by;
  }
  void clear(std::size_t j) {
    for (std::size_t at = j; at < rows_.size(); at += k_) rows_[at] = 0;
  }

 private:
  std::span<double> rows_;
  std::size_t k_;
};

}  // namespace

void factorise(std::span<double> rows, std::size_t k, double tolerance, std::span<double> R) {
  Columns columns(rows, k);
  std::fill(R.begin(), R.end(), 0.0);
  for (std::size_t j = 0; j < k; ++j) {
    const double scale = scale_of(columns.largest(j));  // a vector may come in any units
    columns.multiply(j, scale);
    const double before = columns.length(j);
    for (std::size_t i = 0; i < j; ++i) {
      R[i * k + j] = columns.dot(i, j);  // 0 where column i was cleared
      columns.subtract(j, R[i * k + j], i);
    }
    const double left = columns.length(j);
    if (left > tolerance * before) {
      R[j * k + j] = left;
      columns.divide(j, left);
    } else {
      columns.clear(j);
    }
    for (std::size_t i = 0; i <= j; ++i) R[i * k + j] /= scale;
  }
}

void divide_by_factor(std::span<double> row, std::span<const double> R) {
  const std::size_t k = row.size();
  for (std::size_t j = 0; j < k; ++j) {
    const double diagonal = R[j * k + j];
    if (diagonal == 0) {
      row[j] = 0;
      continue;
    }
    for (std::size_t i = 0; i < j; ++i) row[j] -= row[i] * R[i * k + j];
    row[j] /= diagonal;
  }
}

}  // namespace nodewise::amg::aggregate
