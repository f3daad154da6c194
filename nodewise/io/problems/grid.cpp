#include "nodewise/io/problems/grid.hpp"

#include <limits>

#include <fmt/format.h>

namespace nodewise::io::problems {

void refuse_problem(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "problem: " + text);
}

GlobalIndex n_points(GlobalIndex n, int dimensions) {
  GlobalIndex total = n;
  for (int d = 1; d < dimensions; ++d) {
    if (total > std::numeric_limits<GlobalIndex>::max() / n) {
      throw Error(ErrorCode::index_overflow,
                  fmt::format("problem: {}^{} rows do not fit in 64 bits", n, dimensions));
    }
    total *= n;
  }
  return total;
}

template <class T>
matrix::DistMatrix<T> make_stencil_problem(const std::shared_ptr<const mpi::Comm>& comm,
                                           GlobalIndex n, const Stencil2& stencil) {
  std::array<std::array<T, 3>, 3> values;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) values[a][b] = static_cast<T>(stencil[a][b]);
  }
  return make_problem<T>(comm, n_points(n, 2), [values, n](GlobalIndex i, auto&& emit) {
    const GlobalIndex slow = i / n;
    const GlobalIndex fast = i % n;
    for (GlobalIndex a = slow > 0 ? -1 : 0; a <= (slow + 1 < n ? 1 : 0); ++a) {
      for (GlobalIndex b = fast > 0 ? -1 : 0; b <= (fast + 1 < n ? 1 : 0); ++b) {
        const T value = values[static_cast<std::size_t>(a + 1)][static_cast<std::size_t>(b + 1)];
        if (value != 0) emit(i + a * n + b, value);
      }
    }
  });
}

template matrix::DistMatrix<float> make_stencil_problem(const std::shared_ptr<const mpi::Comm>&,
                                                        GlobalIndex, const Stencil2&);
template matrix::DistMatrix<double> make_stencil_problem(const std::shared_ptr<const mpi::Comm>&,
                                                         GlobalIndex, const Stencil2&);

}  // namespace nodewise::io::problems
