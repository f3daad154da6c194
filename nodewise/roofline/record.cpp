#include "nodewise/roofline/record.hpp"

#include <limits>

namespace nodewise::roofline {

model::MemoryBandwidth Record::bandwidth() const {
  return {4 * array_bytes / triad.median(), 2 * array_bytes / reading.median()};
}

std::optional<bool> Record::is_in_cache(const KernelRecord& kernel) const {
  if (cache_bytes <= 0) return std::nullopt;
  return kernel.data_bytes <= cache_bytes;
}

double Record::share_of_bound(const KernelRecord& kernel) const {
  if (!kernel.has_traffic) return std::numeric_limits<double>::quiet_NaN();
  return model::least_s(kernel.traffic, bandwidth()) / kernel.times.median();
}

double Record::kappa(const KernelRecord& kernel) const {
  const bool says_something = kernel.has_traffic && kernel.vectors == 1 && kernel.nonzeros > 0 &&
                              is_in_cache(kernel) == std::optional<bool>(false);
  if (!says_something) return std::numeric_limits<double>::quiet_NaN();
  return model::kappa(kernel.times.median(), kernel.traffic, kernel.nonzeros, bandwidth());
}

}  // namespace nodewise::roofline
