// Matrices for tests of setups on devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nodewise/base/hash.hpp"

#include "offload_support.hpp"

namespace nodewise::test::set_up_on_device {

using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<double>>;
using CommPointer = std::shared_ptr<const mpi::Comm>;

/// A graph's Laplacian with weights in units from `small` to one, plus `shift` times the diagonal.
/// Every 17th point has no neighbour; the first one has all the others where that is asked for.
inline MatrixPointer random_spd(const CommPointer& comm, GlobalIndex n, bool has_hub, double small,
                                double shift, std::uint64_t seed) {
  const auto weight = [=](GlobalIndex i, GlobalIndex j) -> double {
    if (i > j) std::swap(i, j);
    if (i == j || i % 17 == 5 || j % 17 == 5) return 0;
    const auto key = static_cast<std::uint64_t>(i * n + j);
    const double u = hash_uniform(key, seed);
    const bool is_there = (has_hub && i == 0) || j == i + 1 || u * static_cast<double>(n) < 4;
    return is_there ? std::pow(small, hash_uniform(key, seed + 1)) : 0;
  };
  const comm::Layout rows = comm::Layout::uniform(comm, n);
  return std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, const auto& emit) {
        double sum = 0;
        for (GlobalIndex j = 0; j < n; ++j) {
          const double w = weight(i, j);
          sum += w;
          if (w != 0) emit(j, -w);
        }
        emit(i, sum * (1 + shift) + (sum == 0 ? 1 : 0));
      }));
}

/// Isolated parts whose rows sum up to zero, which end as points of nothing but rounding.
inline MatrixPointer parts_without_boundary(const CommPointer& comm, GlobalIndex n_parts,
                                            GlobalIndex size) {
  const comm::Layout rows = comm::Layout::uniform(comm, n_parts * size);
  return std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, const auto& emit) {
        double sum = 0;
        for (const GlobalIndex j : {i - 1, i + 1}) {
          if (j < 0 || j >= n_parts * size || j / size != i / size) continue;
          const double w = 0.1 + 0.01 * static_cast<double>(std::min(i, j) % 7);
          emit(j, -w);
          sum += w;
        }
        emit(i, sum);
      }));
}

inline std::vector<std::pair<std::string, MatrixPointer>> problems(const CommPointer& comm) {
  return {{"laplace7", problem_on(comm, "laplace7", 13)},
          {"laplace27", problem_on(comm, "laplace27", 12)},
          {"rotated_fe", problem_on(comm, "rotated_fe", 41)},
          {"random", random_spd(comm, 700, false, 1e-3, 0.01, 1)},
          {"random with a hub", random_spd(comm, 900, true, 1e-1, 0.01, 2)},
          {"parts", parts_without_boundary(comm, 70, 9)}};
}

}  // namespace nodewise::test::set_up_on_device
