// Poisson's equation on squares and cubes.
#include "nodewise/io/problems/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "nodewise/comm/layout.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<LaplaceOptions>> laplace_fields() {
  using S = LaplaceOptions;
  static const std::vector<Field<S>> fields = {
      field("coefficients", &S::coefficients,
            "Entries of a row: on the diagonal, and across a face, an edge and a corner (laplace7: "
            "the first two); `26,-4,-0.15,-0.0125` for example"),
      field("processors", &S::processors,
            "Boxes of points in each direction, `4,2,1` for example, numbered one after the other: "
            "each rank owns one, or several if there are so many times more, as for virtual ranks. "
            "Otherwise each owns a range of all points in their order",
            1, 3)};
  return fields;
}

std::array<GlobalIndex, 3> sides_of(const GalleryOptions& options) {
  const GlobalIndex n = options.n;
  if (options.n_y == 0) return {n, n, n};
  return {n, options.n_y, options.n_z};
}

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

/// Points of a box in the order of their numbers, the first direction running fastest.
class PointsInOrder {
 public:
  using Point = std::array<GlobalIndex, 3>;

  explicit PointsInOrder(const Point& sides) : sides_(sides) {}
  Point point(GlobalIndex i) const {
    return {i % sides_[0], i / sides_[0] % sides_[1], i / sides_[0] / sides_[1]};
  }
  GlobalIndex number(const Point& p) const { return (p[2] * sides_[1] + p[1]) * sides_[0] + p[0]; }

 private:
  Point sides_;
};

/// Points of a box that is cut into boxes, as many for each rank; numbered in the order of the
/// boxes, and in order inside each.
class PointsInBoxes {
 public:
  using Point = PointsInOrder::Point;

  PointsInBoxes(const Point& sides, std::span<const int> processors, const mpi::Comm& comm)
      : counts_{processors[0], processors[1], processors[2]} {
    for (std::size_t d = 0; d < 3; ++d) starts_[d] = comm::uniform_starts(sides[d], processors[d]);
    const int n_boxes = processors[0] * processors[1] * processors[2];
    const int of_a_rank = n_boxes / comm.size();
    first_.push_back(0);
    for (int b = 0; b < n_boxes; ++b) first_.push_back(first_.back() + points_of(box(b)));
    for (int b = 0; b <= n_boxes; b += of_a_rank) {
      starts_of_ranks_.push_back(first_[static_cast<std::size_t>(b)]);
    }
    look_at(static_cast<std::size_t>(of_a_rank) * static_cast<std::size_t>(comm.rank()));
  }

  const std::vector<GlobalIndex>& starts() const { return starts_of_ranks_; }
  /// Of points in ascending order it is fast.
  Point point(GlobalIndex i) {
    if (i < own_first_ || i >= own_end_) {
      const auto above = std::upper_bound(first_.begin(), first_.end(), i);
      look_at(static_cast<std::size_t>(above - first_.begin() - 1));
    }
    const Point inside = PointsInOrder(size_).point(i - own_first_);
    return {low_[0] + inside[0], low_[1] + inside[1], low_[2] + inside[2]};
  }
  GlobalIndex number(const Point& p) const {
    const Point inside = {p[0] - low_[0], p[1] - low_[1], p[2] - low_[2]};
    const auto is_here = [&](std::size_t d) { return inside[d] >= 0 && inside[d] < size_[d]; };
    if (is_here(0) && is_here(1) && is_here(2)) {
      return own_first_ + PointsInOrder(size_).number(inside);
    }
    return number_elsewhere(p);
  }

 private:
  /// Makes a box the one whose points are numbered fast.
  void look_at(std::size_t number) {
    const Point own = box(static_cast<int>(number));
    for (std::size_t d = 0; d < 3; ++d) {
      low_[d] = begin(d, own[d]);
      size_[d] = begin(d, own[d] + 1) - low_[d];
    }
    own_first_ = first_[number];
    own_end_ = first_[number + 1];
  }
  GlobalIndex begin(std::size_t d, GlobalIndex part) const {
    return starts_[d][static_cast<std::size_t>(part)];
  }
  Point box(int number) const { return PointsInOrder(counts_).point(number); }
  GlobalIndex points_of(const Point& box) const {
    GlobalIndex points = 1;
    for (std::size_t d = 0; d < 3; ++d) points *= begin(d, box[d] + 1) - begin(d, box[d]);
    return points;
  }
  GlobalIndex number_elsewhere(const Point& p) const {
    Point box, inside, size;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto above = std::upper_bound(starts_[d].begin(), starts_[d].end(), p[d]);
      box[d] = above - starts_[d].begin() - 1;
      inside[d] = p[d] - begin(d, box[d]);
      size[d] = begin(d, box[d] + 1) - begin(d, box[d]);
    }
    const auto number = static_cast<std::size_t>(PointsInOrder(counts_).number(box));
    return first_[number] + PointsInOrder(size).number(inside);
  }

  Point counts_, low_, size_;
  std::array<std::vector<GlobalIndex>, 3> starts_;
  std::vector<GlobalIndex> first_, starts_of_ranks_;
  GlobalIndex own_first_ = 0, own_end_ = 0;
};

/// The couplings of a point, by the steps in each direction, in the order of the points' numbers.
template <class T>
struct Coupling {
  PointsInOrder::Point step;
  T value;
};

template <class T>
std::vector<Coupling<T>> couplings(std::span<const double> by_distance) {
  std::vector<Coupling<T>> all;
  for (GlobalIndex z = -1; z <= 1; ++z) {
    for (GlobalIndex y = -1; y <= 1; ++y) {
      for (GlobalIndex x = -1; x <= 1; ++x) {
        const auto distance = static_cast<std::size_t>(std::abs(x) + std::abs(y) + std::abs(z));
        if (distance >= by_distance.size() || by_distance[distance] == 0) continue;
        all.push_back({{x, y, z}, static_cast<T>(by_distance[distance])});
      }
    }
  }
  return all;
}

/// The rows of a stencil on points numbered in some way.
template <class T, class Points>
auto box_rows(const PointsInOrder::Point& sides, Points& points, std::vector<Coupling<T>> stencil) {
  return [sides, &points, stencil = std::move(stencil)](GlobalIndex i, auto&& emit) {
    const auto p = points.point(i);
    for (const Coupling<T>& to : stencil) {
      bool is_inside = true;
      PointsInOrder::Point q;
      for (std::size_t d = 0; d < 3; ++d) {
        q[d] = p[d] + to.step[d];
        is_inside = is_inside && q[d] >= 0 && q[d] < sides[d];
      }
      if (is_inside) emit(points.number(q), to.value);
    }
  };
}

/// The entries of a row, by distance, where none are given.
constexpr std::array<double, 2> usual_of_7 = {6, -1};
constexpr std::array<double, 4> usual_of_27 = {26, -1, -1, -1};

template <int points>
std::span<const double> usual_coefficients() {
  if constexpr (points == 7) return usual_of_7;
  return usual_of_27;
}

/// Throws index_overflow where they do not fit in 64 bits.
GlobalIndex n_points_of(const std::array<GlobalIndex, 3>& sides) {
  if (sides[1] == sides[0] && sides[2] == sides[0]) return n_points(sides[0], 3);
  GlobalIndex total = 1;
  for (const GlobalIndex side : sides) {
    if (total > std::numeric_limits<GlobalIndex>::max() / side) {
      throw Error(ErrorCode::index_overflow,
                  fmt::format("problem: {} rows do not fit in 64 bits", fmt::join(sides, " x ")));
    }
    total *= side;
  }
  return total;
}

template <class T, int points>
matrix::DistMatrix<T> make_box_problem(const std::shared_ptr<const mpi::Comm>& comm,
                                       const GalleryOptions& options) {
  const auto& own = options.problem.options<LaplaceOptions>();
  const std::array<GlobalIndex, 3> sides = sides_of(options);
  const GlobalIndex n = n_points_of(sides);
  auto stencil = couplings<T>(own.coefficients.empty() ? usual_coefficients<points>()
                                                       : std::span<const double>(own.coefficients));
  if (own.processors.empty()) {
    const PointsInOrder order(sides);
    return make_problem<T>(comm, n, box_rows<T>(sides, order, std::move(stencil)));
  }
  const std::vector<int>& p = own.processors;
  const double n_boxes = double(p[0]) * p[1] * p[2];
  if (n_boxes > std::numeric_limits<int>::max() || std::fmod(n_boxes, comm->size()) != 0) {
    refuse_problem(
        fmt::format("`processors {}` are {} boxes, but the matrix is made by {} ranks: "
                    "take as many, or a multiple",
                    fmt::join(p, ","), n_boxes, comm->size()));
  }
  PointsInBoxes boxes(sides, p, *comm);
  const comm::Layout layout(comm, boxes.starts());
  return matrix::matrix_from_rows<T>(layout, layout, box_rows<T>(sides, boxes, std::move(stencil)));
}

template <int points>
void check_box(const GalleryOptions& options) {
  const auto& own = options.problem.options<LaplaceOptions>();
  const std::size_t wanted = usual_coefficients<points>().size();
  if (!own.coefficients.empty() && own.coefficients.size() != wanted) {
    refuse_problem(
        fmt::format("{} coefficients, but {} has {}: of the point, {}", own.coefficients.size(),
                    options.problem.name(), wanted,
                    wanted == 2 ? "and across a face" : "and across a face, an edge and a corner"));
  }
  for (const double value : own.coefficients) {
    if (!std::isfinite(value)) refuse_problem("a coefficient is not finite");
  }
  if (!own.coefficients.empty() && own.coefficients[0] == 0) {
    refuse_problem("the first coefficient is 0, which is the diagonal");
  }
  const bool counts_ranks =
      std::all_of(own.processors.begin(), own.processors.end(), [](int p) { return p > 0; });
  if (!own.processors.empty() && (own.processors.size() != 3 || !counts_ranks)) {
    refuse_problem(
        fmt::format("processors are {}, needs three numbers >= 1", fmt::join(own.processors, ",")));
  }
}

template <int points>
MatrixSize box_size(const GalleryOptions& options) {
  double rows = 1;
  for (const GlobalIndex side : sides_of(options)) rows *= static_cast<double>(side);
  return {rows, points * rows};
}

std::string says_box(const GalleryOptions& options) {
  const auto& own = options.problem.options<LaplaceOptions>();
  std::string text = fmt::format("n = {}", options.n);
  if (options.n_y != 0) text += fmt::format(" x {} x {}", options.n_y, options.n_z);
  if (!own.coefficients.empty()) {
    text += fmt::format(", coefficients {}", fmt::join(own.coefficients, ", "));
  }
  if (!own.processors.empty()) {
    text += fmt::format(", {} boxes", fmt::join(own.processors, " x "));
  }
  return text;
}

template <int points>
ModelProblem in_a_box(const char* name, const char* summary) {
  return {{name, summary, "", own_options(laplace_fields)},
          {.dimensions = 3,
           .unknowns = 1,
           .is_symmetric = true,
           .check = check_box<points>,
           .size = box_size<points>,
           .coordinates = nullptr,
           .in_double = make_box_problem<double, points>,
           .in_float = make_box_problem<float, points>,
           .says_size = says_box,
           .has_sides = true}};
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
  static const ModelProblem problem =
      in_a_box<7>("laplace7", "Poisson in a cube: 6, and -1 to the 6 nearest points");
  return problem;
}

const ModelProblem& laplace9_problem() {
  static const ModelProblem problem = laplace<2, 9, make_laplace9<double>, make_laplace9<float>>(
      "laplace9", "Poisson on a square: 8, and -1 to the 8 points around");
  return problem;
}

const ModelProblem& laplace27_problem() {
  static const ModelProblem problem =
      in_a_box<27>("laplace27", "Poisson in a cube: 26, and -1 to the 26 points around");
  return problem;
}

}  // namespace nodewise::io::problems
