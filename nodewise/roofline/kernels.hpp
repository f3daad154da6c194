// The kernels of a hierarchy, one by one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/roofline/options.hpp"
#include "nodewise/roofline/record.hpp"

namespace nodewise::roofline {

struct Kernel {
  KernelRecord record;        ///< with its traffic, without times
  std::function<void()> run;  ///< collective; owns what it works on
  int least_in_a_row = 1;     ///< runs of one measurement
};

/// Collective. Returns the kernels of one level: the product, that of the ranks' own columns alone
/// where there are several ranks, the residual, products with several vectors and in single
/// precision, the sweeps of the smoother, restriction and interpolation. The hierarchy has to
/// outlive them.
std::vector<Kernel> level_kernels(const amg::Hierarchy<double>& hierarchy, std::size_t level,
                                  const amg::Options& given, bool symmetric,
                                  const BenchOptions& bench);

/// Collective. Of those the ones that need no hierarchy: products and the residual.
std::vector<Kernel> product_kernels(const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                                    const BenchOptions& bench);

}  // namespace nodewise::roofline
