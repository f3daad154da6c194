// Setups on a device, and their products of matrices.
#pragma once

#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/device/spgemm.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/offload/setup_levels.hpp"

#include "device_timing.hpp"

namespace nodewise::bench {

/// A setup with the defaults of aggregation on devices.
template <class Space>
class DeviceSetup {
 public:
  explicit DeviceSetup(const std::shared_ptr<const matrix::DistMatrix<double>>& A) : A_(A) {
    options_.set("method", "aggregation");
    options_.set("smoother", "chebyshev");
    info_.symmetric = true;
    amg::examine(*A, info_, options_);
  }
  std::unique_ptr<offload::SetUpLevels<Space>> run() {
    return std::unique_ptr<offload::SetUpLevels<Space>>(
        new offload::SetUpLevels<Space>(card_, primitives_, {{}, A_, options_, info_, observe_}));
  }
  device::Primitives<Space>& primitives() { return primitives_; }

 private:
  const std::shared_ptr<const matrix::DistMatrix<double>>& A_;
  amg::Options options_;
  amg::ProblemInfo<double> info_;
  amg::LevelObserver observe_;
  offload::Card<Space> card_;
  device::Primitives<Space> primitives_{card_.queue};
};

/// The multiplications of a product A B.
template <class Space>
double multiplications(device::Queue<Space>& queue, const device::CsrMatrix<double, Space>& A,
                       const device::CsrMatrix<double, Space>& B) {
  const auto a = device::download<double, Space>(queue, A);
  const auto b = device::download<double, Space>(queue, B);
  double sum = 0;
  for (const LocalIndex column : a.cols) sum += static_cast<double>(b.length(column));
  return sum;
}

/// Two lines: A P and R (A P) of the finest level, new and for other values.
template <class Space>
void print_matrix_products(const std::string& name,
                           const std::shared_ptr<const matrix::DistMatrix<double>>& A,
                           int repeats) {
  DeviceSetup<Space> setup(A);
  const auto made = setup.run();
  const auto& level = made->levels().front();
  if (!level.has_next) return;
  device::Primitives<Space>& primitives = setup.primitives();
  device::Queue<Space>& queue = primitives.queue();
  const auto print = [&](const char* what, const auto& left, const auto& right) {
    auto product = device::multiply(primitives, left, right);
    const Spread again = seconds_of(
        queue, repeats, [&] { device::multiply_again(primitives, left, right, product); });
    const Spread fresh = seconds_of(queue, repeats, [&] {
      product = {};
      product = device::multiply(primitives, left, right);
    });
    const double terms = multiplications(queue, left, right);
    std::cout << fmt::format("| {} | {} | {} | {:.3g} | {} | {} | {:.1f} |\n", name, what,
                             product.nnz, terms, milliseconds(fresh), milliseconds(again),
                             terms / again.median / 1e9)
              << std::flush;
    return product;
  };
  const auto AP = print("A P", level.A.local, level.P->local);
  print("R (A P)", level.R->local, AP);
}

/// A line: a whole setup, and one for other values.
template <class Space>
void print_setup(const std::string& name,
                 const std::shared_ptr<const matrix::DistMatrix<double>>& A, int repeats) {
  DeviceSetup<Space> setup(A);
  device::Queue<Space>& queue = setup.primitives().queue();
  std::unique_ptr<offload::SetUpLevels<Space>> levels;
  const Spread fresh = seconds_of(queue, repeats, [&] {
    levels.reset();
    levels = setup.run();
  });
  const Spread again =
      seconds_of(queue, repeats, [&] { levels->rebuild(*A, amg::Reuse::interpolation); });
  std::cout << fmt::format("| {} | {} | {} | {} | {} | {:.0f} |\n", name, A->n_local(),
                           levels->levels().size(), milliseconds(fresh), milliseconds(again),
                           static_cast<double>(levels->bytes()) / 1e6)
            << std::flush;
}

/// All numbers of levels that were set up, as bytes to compare.
template <class Space>
std::vector<double> all_numbers(DeviceSetup<Space>& setup) {
  const auto made = setup.run();
  device::Queue<Space>& queue = setup.primitives().queue();
  std::vector<double> all;
  const auto keep = [&](const device::CsrMatrix<double, Space>& A) {
    const auto M = device::download<double, Space>(queue, A);
    all.insert(all.end(), M.cols.begin(), M.cols.end());
    all.insert(all.end(), M.vals.begin(), M.vals.end());
  };
  for (const auto& level : made->levels()) {
    keep(level.A.local);
    if (!level.aggregates) continue;
    std::vector<GlobalIndex> of_point(level.aggregates->of_point.size());
    level.aggregates->of_point.get(queue, std::span<GlobalIndex>(of_point));
    all.insert(all.end(), of_point.begin(), of_point.end());
    if (!level.has_next) continue;
    keep(level.P->local);
    keep(level.R->local);
  }
  return all;
}

}  // namespace nodewise::bench
