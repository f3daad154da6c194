#include "nodewise/roofline/bandwidth.hpp"

#include <algorithm>
#include <array>

#include "nodewise/base/parallel.hpp"

namespace nodewise::roofline {

MemoryStreams::MemoryStreams(std::size_t length) : a_(length), b_(length), c_(length) {
  parallel::for_range(length, [&](std::size_t begin, std::size_t end) {
    std::fill(a_.data() + begin, a_.data() + end, 0.0);
    std::fill(b_.data() + begin, b_.data() + end, 1.0);
    std::fill(c_.data() + begin, c_.data() + end, 2.0);
  });
}

void MemoryStreams::triad() {
  parallel::for_range(a_.size(), [this, s = scale_](std::size_t begin, std::size_t end) {
    double* const a = a_.data();
    const double* const b = b_.data();
    const double* const c = c_.data();
    for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + s * c[i];
  });
  scale_ = 0.25 * a_[a_.size() / 2] + 1;
}

void MemoryStreams::read() {
  const double sum = parallel::sum(a_.size(), [this](std::size_t begin, std::size_t end) {
    constexpr std::size_t at_once = 16;  // so many that additions do not wait for each other
    std::array<double, at_once> sums{};
    const double* const b = b_.data();
    const double* const c = c_.data();
    std::size_t i = begin;
    for (; i + at_once <= end; i += at_once) {
      for (std::size_t k = 0; k < at_once; ++k) sums[k] += b[i + k] * c[i + k];
    }
    for (; i < end; ++i) sums[0] += b[i] * c[i];
    double total = 0;
    for (const double part : sums) total += part;
    return total;
  });
  scale_ = 3 + 1e-300 * sum;
}

}  // namespace nodewise::roofline
