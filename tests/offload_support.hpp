// What the tests of solves and setups on devices share.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "nodewise/device/queue.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/nodewise.hpp"

#include "solve_support.hpp"

namespace nodewise::test {

/// New memory of devices holds no numbers while one of these is there.
struct PoisonedMemory {
  PoisonedMemory() { device::detail::poisons_new_memory = true; }
  ~PoisonedMemory() { device::detail::poisons_new_memory = false; }
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;
};

/// Collective over `comm`.
inline std::shared_ptr<const matrix::DistMatrix<double>> problem_on(
    std::shared_ptr<const mpi::Comm> comm, const char* name, int n) {
  GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", name);
  options.n = n;
  return std::make_shared<const matrix::DistMatrix<double>>(
      generate<double>(std::move(comm), options));
}

/// Names of options and their values.
using Given = std::vector<std::pair<const char*, const char*>>;

inline SolverOptions options_of(const Given& given) {
  SolverOptions options;
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

inline Given join(Given a, const Given& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Collective. |b - A x| / |b|.
inline double relative_residual(const matrix::DistMatrix<double>& A, const std::vector<double>& b,
                                const std::vector<double>& x) {
  std::vector<double> r(b.size());
  matrix::residual<double>(A, x, b, r);
  double above = 0, below = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    above += r[i] * r[i];
    below += b[i] * b[i];
  }
  return std::sqrt(mpi::sum(A.comm(), above) / mpi::sum(A.comm(), below));
}

/// The same pattern, and other values on this rank's own columns.
inline std::shared_ptr<const matrix::DistMatrix<double>> with_other_values(
    const matrix::DistMatrix<double>& A) {
  Array<double> on = A.on().vals;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (auto k = static_cast<std::size_t>(A.on().begin(i));
         k < static_cast<std::size_t>(A.on().end(i)); ++k) {
      const LocalIndex j = A.on().cols[k];
      on[k] *= i == j ? 1.3 : 1 + 0.2 * std::cos(double(i + j));
    }
  }
  return std::make_shared<const matrix::DistMatrix<double>>(
      A.with_values(std::move(on), Array<double>(A.off().vals)));
}

}  // namespace nodewise::test
