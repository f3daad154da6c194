// Poisson's equation on squares and cubes.
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

namespace {

template <class T>
matrix::DistMatrix<T> make_laplace5(const std::shared_ptr<const mpi::Comm>& comm,
                                    const GalleryOptions& options) {
  return make_stencil_problem<T>(comm, options.n, {{{0, -1, 0}, {-1, 4, -1}, {0, -1, 0}}});
}

template <class T>
matrix::DistMatrix<T> make_laplace9(const std::shared_ptr<const mpi::Comm>& comm,
                                    const GalleryOptions& options) {
  return make_stencil_problem<T>(comm, options.n, {{{-1, -1, -1}, {-1, 8, -1}, {-1, -1, -1}}});
}

template <class T>
matrix::DistMatrix<T> make_laplace7(const std::shared_ptr<const mpi::Comm>& comm,
                                    const GalleryOptions& options) {
  const GlobalIndex n = options.n;
  return make_problem<T>(comm, n_points(n, 3), [n](GlobalIndex i, auto&& emit) {
    const GlobalIndex x = i % n;
    const GlobalIndex y = i / n % n;
    const GlobalIndex z = i / n / n;
    if (z > 0) emit(i - n * n, T(-1));
    if (y > 0) emit(i - n, T(-1));
    if (x > 0) emit(i - 1, T(-1));
    emit(i, T(6));
    if (x + 1 < n) emit(i + 1, T(-1));
    if (y + 1 < n) emit(i + n, T(-1));
    if (z + 1 < n) emit(i + n * n, T(-1));
  });
}

template <class T>
matrix::DistMatrix<T> make_laplace27(const std::shared_ptr<const mpi::Comm>& comm,
                                     const GalleryOptions& options) {
  const GlobalIndex n = options.n;
  return make_problem<T>(comm, n_points(n, 3), [n](GlobalIndex i, auto&& emit) {
    const GlobalIndex x = i % n;
    const GlobalIndex y = i / n % n;
    const GlobalIndex z = i / n / n;
    const GlobalIndex x_low = x > 0 ? -1 : 0;
    const GlobalIndex x_high = x + 1 < n ? 1 : 0;
    for (GlobalIndex dz = z > 0 ? -1 : 0; dz <= (z + 1 < n ? 1 : 0); ++dz) {
      for (GlobalIndex dy = y > 0 ? -1 : 0; dy <= (y + 1 < n ? 1 : 0); ++dy) {
        const GlobalIndex line = i + (dz * n + dy) * n;
        for (GlobalIndex k = line + x_low; k <= line + x_high; ++k) {
          emit(k, k == i ? T(26) : T(-1));
        }
      }
    }
  });
}

template <int dimensions, int entries, auto make_double, auto make_float>
ModelProblem laplace(const char* name, const char* summary) {
  return {{name, summary, ""},
          {.dimensions = dimensions,
           .unknowns = 1,
           .is_symmetric = true,
           .check = check_nothing,
           .size = grid_size<dimensions, entries>,
           .coordinates = nullptr,
           .in_double = make_double,
           .in_float = make_float}};
}

}  // namespace

const ModelProblem& laplace5_problem() {
  static const ModelProblem problem = laplace<2, 5, make_laplace5<double>, make_laplace5<float>>(
      "laplace5", "Poisson on a square: 4, and -1 to the 4 nearest points");
  return problem;
}

const ModelProblem& laplace7_problem() {
  static const ModelProblem problem = laplace<3, 7, make_laplace7<double>, make_laplace7<float>>(
      "laplace7", "Poisson in a cube: 6, and -1 to the 6 nearest points");
  return problem;
}

const ModelProblem& laplace9_problem() {
  static const ModelProblem problem = laplace<2, 9, make_laplace9<double>, make_laplace9<float>>(
      "laplace9", "Poisson on a square: 8, and -1 to the 8 points around");
  return problem;
}

const ModelProblem& laplace27_problem() {
  static const ModelProblem problem = laplace<3, 27, make_laplace27<double>, make_laplace27<float>>(
      "laplace27", "Poisson in a cube: 26, and -1 to the 26 points around");
  return problem;
}

}  // namespace nodewise::io::problems
