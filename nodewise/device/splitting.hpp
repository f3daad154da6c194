// Coarse points among the points of a level, chosen on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// In place of the number of a fine point: of one that depends on others, and of one that depends
/// on none, whose error relaxation alone removes.
inline constexpr LocalIndex fine_point = -1, isolated_point = -2;

/// The coarse points of a level, numbered in their order.
template <class Space>
struct Splitting {
  LocalIndex n_coarse = 0;
  Buffer<LocalIndex, Space> numbers;  ///< of each point, or one of the above
};

/// Local. Marks the entries that a row depends on strongly: what amg::strength_of_connection()
/// marks by moduli (`absolute`) or by values of the sign opposite to the diagonal's.
template <class Space>
Buffer<std::uint8_t, Space> strong_dependences(Primitives<Space>& primitives,
                                               const CsrMatrix<double, Space>& A, double threshold,
                                               double max_row_sum, bool absolute);

/// Local. The splitting of amg::coarsen::pmis() (De Sterck, Yang, Heys 2006), by weights hashed
/// from `seed`. Waits once in each round, of which there are few.
template <class Space>
Splitting<Space> pmis(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                      const Buffer<std::uint8_t, Space>& strong, int seed);

}  // namespace nodewise::device
