// An array that copies share until one of them is changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "nodewise/base/array.hpp"

namespace nodewise {

/// Like Array<T>, but a copy costs nothing until it, or what it was copied from, is written to,
/// which is whatever a constant array does not offer. For the structure of matrices that differ in
/// their values only. Iterators are pointers.
template <class T>
class SharedArray {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SharedArray() = default;
  SharedArray(std::initializer_list<T> values) : SharedArray(Array<T>(values)) {}
  explicit SharedArray(std::size_t n) : SharedArray(Array<T>(n)) {}
  SharedArray(std::size_t n, const T& value) : SharedArray(Array<T>(n, value)) {}
  SharedArray(Array<T> values)  // NOLINT(google-explicit-constructor): it is such an array
      : array_(std::make_shared<Array<T>>(std::move(values))) {
    look();
  }
  /// n zeros, or the beginning of a longer array of zeros that is in use already: they cost nothing
  /// where they are many and stay as they are, such as the row pointers of matrices without
  /// entries.
  static SharedArray zeros(std::size_t n);
  SharedArray(const SharedArray&) = default;
  SharedArray& operator=(const SharedArray&) = default;
  SharedArray(SharedArray&& other) noexcept
      : array_(std::move(other.array_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  SharedArray& operator=(SharedArray&& other) noexcept {
    array_ = std::move(other.array_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~SharedArray() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }

  T* data() {
    own();
    return data_;
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  void resize(std::size_t n) {
    own().resize(n);
    look();
  }
  void reserve(std::size_t n) {
    own().reserve(n);
    look();
  }
  void assign(std::size_t n, const T& value) {
    own().assign(n, value);
    look();
  }
  template <std::forward_iterator Iterator>
  void assign(Iterator from, Iterator to) {
    own().assign(from, to);
    look();
  }
  void push_back(const T& value) {
    own().push_back(value);
    look();
  }
  template <std::forward_iterator Iterator>
  void append(Iterator from, Iterator to) {
    Array<T>& mine = own();
    mine.insert(mine.end(), from, to);
    look();
  }
  void shrink_to_fit() {
    own().shrink_to_fit();
    look();
  }

  friend bool operator==(const SharedArray& a, const SharedArray& b) {
    return a.data_ == b.data_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  Array<T>& own() {
    if (array_.use_count() != 1 || size_ != array_->size()) {
      array_ = std::make_shared<Array<T>>(data_, data_ + size_);
      look();
    }
    return *array_;
  }
  void look() {
    data_ = array_->data();
    size_ = array_->size();
  }

  std::shared_ptr<Array<T>> array_;
  T* data_ = nullptr;  // array_'s, kept to be read without a detour
  std::size_t size_ = 0;
};

/// An owner of zeros never has all of them; by this own() knows that they must not be written to.
template <class T>
SharedArray<T> SharedArray<T>::zeros(std::size_t n) {
  static std::mutex mutex;
  static std::weak_ptr<Array<T>> longest;
  const std::lock_guard<std::mutex> lock(mutex);
  SharedArray result;
  result.array_ = longest.lock();
  if (!result.array_ || result.array_->size() <= n) {
    result.array_ = std::make_shared<Array<T>>(n + 1, T{});
    longest = result.array_;
  }
  result.data_ = result.array_->data();
  result.size_ = n;
  return result;
}

}  // namespace nodewise
