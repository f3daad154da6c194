#include "nodewise/io/problems/random.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<RandomOptions>> random_fields() {
  using S = RandomOptions;
  static const std::vector<Field<S>> fields = {
      field("entries", &S::entries, "Entries off the diagonal in each row of the random matrix", 0),
      field("within", &S::within,
            "Columns of the random matrix lie so many or fewer rows from their own; 0: anywhere",
            0),
      field("far", &S::far,
            "So many of a row's entries lie anywhere all the same, where `within` is given", 0),
      field("seed", &S::seed, seed_meaning, 0)};
  return fields;
}

namespace {

/// A row at the border has as many columns near it as `within`.
void check_far_entries(const RandomOptions& options) {
  if (options.within < 0 || options.far < 0) {
    refuse_problem(fmt::format("within is {} and far {}, need >= 0", options.within, options.far));
  }
  const int near = options.entries - options.far;
  if (near < 0) {
    refuse_problem(fmt::format("far is {}, and `entries` only {}", options.far, options.entries));
  }
  if (options.within > 0 && near > options.within) {
    refuse_problem(
        fmt::format("within is {}, which has no room for {} entries a row", options.within, near));
  }
}

void check_random(const GalleryOptions& options) {
  const int entries = options.problem.options<RandomOptions>().entries;
  if (entries < 0) refuse_problem(fmt::format("entries is {}, needs >= 0", entries));
  check_far_entries(options.problem.options<RandomOptions>());
  if (entries < options.n) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("`entries {}`{} is too many for `n {}`: at most {}", entries,
                          entries == RandomOptions().entries ? " (the default)" : "", options.n,
                          options.n - 1));
}

/// `entries` different columns other than the row's, hashed, the near ones first, with values in
/// (-1, 1) not symmetric, and a diagonal one larger than the sum of their magnitudes.
template <class T>
auto random_rows(GlobalIndex n, const RandomOptions& options) {
  return [n, wanted = static_cast<std::size_t>(options.entries),
          near = options.within > 0 ? static_cast<std::size_t>(options.entries - options.far) : 0,
          within = GlobalIndex{options.within}, seed = static_cast<std::uint64_t>(options.seed),
          columns = std::vector<GlobalIndex>()](GlobalIndex i, auto&& emit) mutable {
    columns.clear();
    double magnitudes = 0;
    for (std::uint64_t draw = 0; columns.size() < wanted; ++draw) {
      const std::uint64_t key = hash64(static_cast<std::uint64_t>(i), hash64(draw, seed));
      const bool is_near = columns.size() < near;
      const auto places = static_cast<std::uint64_t>(is_near ? 2 * within + 1 : n);
      const auto column = static_cast<GlobalIndex>(key % places) + (is_near ? i - within : 0);
      if (column < 0 || column >= n || column == i ||
          std::find(columns.begin(), columns.end(), column) != columns.end()) {
        continue;
      }
      columns.push_back(column);
      const double value = 2 * hash_uniform(key, seed + 1) - 1;
      magnitudes += std::abs(value);
      emit(column, static_cast<T>(value));
    }
    emit(i, static_cast<T>(1 + magnitudes));
  };
}

MatrixSize random_size(const GalleryOptions& options) {
  const double n = options.n;
  return {n, n * (1.0 + options.problem.options<RandomOptions>().entries)};
}

template <class T>
matrix::DistMatrix<T> make_random(const std::shared_ptr<const mpi::Comm>& comm,
                                  const GalleryOptions& options) {
  const GlobalIndex n = options.n;
  return make_problem<T>(comm, n, random_rows<T>(n, options.problem.options<RandomOptions>()));
}

}  // namespace

const ModelProblem& random_problem() {
  static const ModelProblem problem = {
      {"random", "n rows of hashed columns and a dominant diagonal", "",
       own_options(random_fields)},
      {.dimensions = 0,
       .unknowns = 1,
       .is_symmetric = false,
       .check = check_random,
       .size = random_size,
       .coordinates = nullptr,
       .in_double = make_random<double>,
       .in_float = make_random<float>}};
  return problem;
}

}  // namespace nodewise::io::problems
