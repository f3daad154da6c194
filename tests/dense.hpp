// A dense matrix as plain as can be, for references in tests. Large templates of a linear algebra
// library would make up most of the time to compile the tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <vector>

namespace nodewise::test {

/// Rows one after another; a matrix of one column serves as a vector.
template <class T>
class Dense {
 public:
  explicit Dense(std::int64_t rows, std::int64_t cols = 1)
      : rows_(rows), cols_(cols), values_(static_cast<std::size_t>(rows * cols), T{0}) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::size_t size() const { return values_.size(); }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T& operator()(std::int64_t i, std::int64_t j) { return values_[at(i, j)]; }
  T operator()(std::int64_t i, std::int64_t j) const { return values_[at(i, j)]; }
  T& operator[](std::int64_t i) { return values_[static_cast<std::size_t>(i)]; }
  T operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }

  void fill(T value) { std::fill(values_.begin(), values_.end(), value); }
  T sum() const { return std::accumulate(values_.begin(), values_.end(), T{0}); }

  Dense transpose() const {
    Dense result(cols_, rows_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) result(j, i) = (*this)(i, j);
    }
    return result;
  }
  Dense rows_from(std::int64_t first, std::int64_t n) const {
    Dense result(n, cols_);
    std::copy_n(values_.begin() + first * cols_, n * cols_, result.values_.begin());
    return result;
  }
  /// Writes `part` with its corner at (row, col).
  void put(std::int64_t row, std::int64_t col, const Dense& part) {
    for (std::int64_t i = 0; i < part.rows_; ++i) {
      for (std::int64_t j = 0; j < part.cols_; ++j) (*this)(row + i, col + j) = part(i, j);
    }
  }
  template <class Other, class F>
  Dense<Other> map(F&& f) const {
    Dense<Other> result(rows_, cols_);
    for (std::size_t k = 0; k < size(); ++k) result.data()[k] = f(values_[k]);
    return result;
  }

  friend bool operator==(const Dense&, const Dense&) = default;
  friend Dense operator*(T factor, const Dense& A) {
    return A.template map<T>([factor](T value) { return factor * value; });
  }
  friend Dense operator*(const Dense& A, const Dense& B) {
    Dense C(A.rows_, B.cols_);
    for (std::int64_t i = 0; i < A.rows_; ++i) {
      for (std::int64_t k = 0; k < A.cols_; ++k) {
        if (A(i, k) == T{0}) continue;
        for (std::int64_t j = 0; j < B.cols_; ++j) C(i, j) += A(i, k) * B(k, j);
      }
    }
    return C;
  }
  friend Dense operator+(const Dense& A, const Dense& B) {
    Dense C = A;
    for (std::size_t k = 0; k < C.size(); ++k) C.values_[k] += B.values_[k];
    return C;
  }
  friend Dense operator-(const Dense& A, const Dense& B) { return A + T{-1} * B; }
  friend std::ostream& operator<<(std::ostream& out, const Dense& A) {
    for (std::int64_t i = 0; i < A.rows_; ++i) {
      for (std::int64_t j = 0; j < A.cols_; ++j) out << (j == 0 ? "" : " ") << +A(i, j);
      out << "\n";
    }
    return out;
  }

 private:
  std::size_t at(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * cols_ + j);
  }

  std::int64_t rows_, cols_;
  std::vector<T> values_;
};

/// 1 where any of the two is not zero.
inline Dense<int> either(const Dense<int>& A, const Dense<int>& B) {
  return (A + B).map<int>([](int count) { return std::min(count, 1); });
}

}  // namespace nodewise::test
