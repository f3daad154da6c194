// Operations on vectors of a device that need no matrix, and dense products.
#pragma once

#include <cstdint>

#include "nodewise/base/types.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/device/sums.hpp"

namespace nodewise::device {

// All are local and put one kernel into the queue. Arrays are of its space, and have n numbers.

/// The first RelaxationStep from x = 0: step = take D^-1 b and x = step. Null for `step`: none is
/// left.
template <class T, class Space>
void relax_from_zero(Queue<Space>& queue, std::int64_t n, T take, const T* inverse_diagonal,
                     const T* b, T* step, T* x);

/// y = M x, M dense with n rows and columns, by rows. A row has 32 lanes, and its sum the order of
/// sum_by_lanes(): the last levels of hierarchies are so small that a thread a row left a card
/// idle.
template <class T, class Space>
void multiply_dense(Queue<Space>& queue, std::int64_t n, const T* M, const T* x, T* y);

/// to = *factor from, rounded to the type of `to`; *factor is in the space.
template <class To, class From, class Space>
void scale_into(Queue<Space>& queue, std::int64_t n, const double* factor, const From* from,
                To* to);

}  // namespace nodewise::device
