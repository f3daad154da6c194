// The kernels of a hierarchy, one by one.
#pragma once

#include <functional>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"

#include "cli/bench_record.hpp"

namespace nodewise::cli {

struct BenchKernel {
  KernelRecord record;        ///< with its traffic, without times
  std::function<void()> run;  ///< collective; owns what it works on
};

/// Collective. Those of one level: the product, that of the ranks' own columns alone where there
/// are several ranks, the residual, products with several vectors and in single precision, the
/// sweeps of the smoother, restriction and interpolation. The hierarchy has to outlive them.
std::vector<BenchKernel> level_kernels(const amg::Hierarchy<double>& hierarchy, std::size_t level,
                                       const Settings& settings, bool symmetric);

}  // namespace nodewise::cli
