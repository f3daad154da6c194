// Scans, sorts, selections and maxima on a device: what a setup is put together of.
#pragma once

#include <cstdint>

#include "nodewise/base/types.hpp"
#include "nodewise/device/buffer.hpp"

namespace nodewise::device {

/// Keeps the room that they work in, which grows as needed. Arrays are of the space, and those that
/// are read and written must not overlap. All functions are local. The results are the same in
/// every space: sorts are stable, and nothing is added but integers. Throw Error{out_of_memory}
/// where there is no room.
template <class Space>
class Primitives {
 public:
  explicit Primitives(Queue<Space>& queue) : queue_(queue) {}

  Queue<Space>& queue() const { return queue_; }

  /// begins[i] = the sum of the first i lengths, for i = 0 .. n. Returns that of all, and waits.
  Offset scan(std::int64_t n, const LocalIndex* lengths, Offset* begins);
  /// The numbers i < n with marks[i] != 0, ascending, in `chosen`, which has room for n. Returns
  /// how many, and waits.
  LocalIndex select(std::int64_t n, const std::uint8_t* marks, LocalIndex* chosen);
  /// Sorts pairs by their keys, of which the lowest `bits` may differ; none is negative.
  template <class Key, class Value>
  void sort_pairs(std::int64_t n, int bits, const Key* keys, const Value* values, Key* sorted_keys,
                  Value* sorted_values);
  /// Sorts the numbers of each of n segments, which begin at begins[0 .. n].
  void sort_segments(std::int64_t n, const Offset* begins, Offset n_numbers,
                     const LocalIndex* numbers, LocalIndex* sorted);
  /// The largest of n numbers that are not negative, 0 of none, or of their moduli. NaN does not
  /// count. Waits.
  LocalIndex max(std::int64_t n, const LocalIndex* numbers);
  double max_modulus(std::int64_t n, const double* numbers);

 private:
  /// Room for so many bytes.
  void* room(std::size_t bytes) {
    if (room_.size() < bytes) {
      room_ = {};
      room_ = Buffer<unsigned char, Space>(bytes);
    }
    return room_.data();
  }
  template <class T>
  T read(const T* place) {
    T value;
    queue_.copy_out(&value, place, sizeof(T));
    queue_.wait();
    return value;
  }

  Queue<Space>& queue_;
  Buffer<unsigned char, Space> room_;
  Buffer<LocalIndex, Space> flags_;  // of select()
  Buffer<Offset, Space> places_;     // likewise
};

/// So many bits hold the numbers up to `most`.
inline int bits_of(std::uint64_t most) {
  int bits = 1;
  while (bits < 64 && (most >> bits) != 0) ++bits;
  return bits;
}

}  // namespace nodewise::device
