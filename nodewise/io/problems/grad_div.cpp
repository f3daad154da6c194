#include "nodewise/io/problems/grad_div.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<GradDivOptions>> grad_div_fields() {
  using S = GradDivOptions;
  static const std::vector<Field<S>> fields = {
      field("alpha", &S::alpha, "Weight of the divergence in the grad-div problems", 0.0),
      field("beta", &S::beta, "Weight of the field itself there", 0.0)};
  return fields;
}

namespace {

/// The faces between the n^dimensions cells of a grid, each named by the cell before it and the
/// axis that leads through it. They are numbered along the last axis first: those of a line of
/// cells, then those between it and the next line; those of a layer of lines, then those to the
/// next layer. So what is near in space is near in number.
template <std::size_t dimensions>
class Faces {
 public:
  using Cell = std::array<GlobalIndex, dimensions>;
  struct Face {
    Cell cell;
    std::size_t axis;
  };

  /// Throws index_overflow where 64 bits do not count them.
  explicit Faces(GlobalIndex n) : n_(n) {
    // There are d (n - 1) n^(d - 1).
    constexpr auto d = static_cast<GlobalIndex>(dimensions);
    if (n_points(n, static_cast<int>(dimensions)) > std::numeric_limits<GlobalIndex>::max() / d) {
      throw Error(ErrorCode::index_overflow,
                  fmt::format("problem: the {} * {}^{} faces do not fit in 64 bits", d, n, d));
    }
    GlobalIndex inside = 0, cells = 1;
    for (std::size_t axis = dimensions; axis-- > 0;) {
      inside_[axis] = inside;
      cells_[axis] = cells;
      inside = n * inside + (n - 1) * cells;
      if (axis > 0) cells *= n;
    }
    count_ = inside;
  }

  GlobalIndex count() const { return count_; }

  GlobalIndex number(const Face& face) const {
    GlobalIndex sum = 0;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      sum += face.cell[axis] * (inside_[axis] + cells_[axis]);
      if (axis != face.axis) continue;
      GlobalIndex among = 0;
      for (std::size_t other = axis + 1; other < dimensions; ++other) {
        among = among * n_ + face.cell[other];
      }
      return sum + inside_[axis] + among;
    }
    return sum;
  }

  Face face(GlobalIndex number) const {
    Face face{};
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      const GlobalIndex of_layer = inside_[axis] + cells_[axis];
      face.cell[axis] = number / of_layer;
      number %= of_layer;
      if (number < inside_[axis]) continue;
      face.axis = axis;
      number -= inside_[axis];
      for (std::size_t other = dimensions; other-- > axis + 1; number /= n_) {
        face.cell[other] = number % n_;
      }
      break;
    }
    return face;
  }

 private:
  GlobalIndex n_;
  GlobalIndex count_ = 0;
  /// Of a layer of the grid of the axes from this on: the faces inside it, and its cells.
  std::array<GlobalIndex, dimensions> inside_{}, cells_{};
};

/// alpha div u div v + beta u . v for fields in the square or cube without flow through the
/// boundary, by Raviart and Thomas's elements of lowest order: an unknown is the component normal
/// to a face, constant on it, and falls linearly to zero at the faces next to it. Divided by the
/// size of a cell to the power dimensions - 2, so that of alpha come whole numbers: the divergence
/// of a cell is the difference of its faces. Face 0 of an axis is that before the cell.
template <std::size_t dimensions>
class GradDiv {
 public:
  GradDiv(GlobalIndex n, const GradDivOptions& options)
      : n_(n),
        faces_(n),
        alpha_(options.alpha),
        beta_(options.beta / (6 * static_cast<double>(n) * static_cast<double>(n))) {}

  GlobalIndex n_rows() const { return faces_.count(); }

  /// Calls emit(column, value) for the entries of a row, each column once.
  template <class Emit>
  void row(GlobalIndex i, const Emit& emit) const {
    using Face = typename Faces<dimensions>::Face;
    const Face own = faces_.face(i);
    emit(i, 2 * alpha_ + 4 * beta_);
    for (const GlobalIndex behind : {0, 1}) {  // the cell before the face, then that behind it
      auto cell = own.cell;
      cell[own.axis] += behind;
      for (std::size_t axis = 0; axis < dimensions; ++axis) {
        for (const GlobalIndex end : {0, 1}) {
          Face other = {cell, axis};
          other.cell[axis] += end - 1;
          if (other.cell[axis] < 0 || other.cell[axis] == n_ - 1) continue;  // on the boundary
          if (axis == own.axis && end != behind) continue;                   // the face itself
          const double sign = end == behind ? -1 : 1;  // what leaves by one end came by the other
          const double value = sign * alpha_ + (axis == own.axis ? beta_ : 0);
          if (value != 0) emit(faces_.number(other), value);
        }
      }
    }
  }

 private:
  GlobalIndex n_;
  Faces<dimensions> faces_;
  double alpha_, beta_;  // beta times h^2 / 6
};

void check_grad_div(const GalleryOptions& options) {
  const auto& own = options.problem.options<GradDivOptions>();
  for (const auto& [name, value] : {std::pair{"alpha", own.alpha}, {"beta", own.beta}}) {
    if (!(value >= 0) || !std::isfinite(value)) {
      refuse_problem(fmt::format("{} is {}, needs >= 0", name, value));
    }
  }
  if (options.n < 2) refuse_problem("n is 1, needs >= 2: a single cell has no faces inside");
}

template <class T, std::size_t dimensions>
matrix::DistMatrix<T> make_grad_div(const std::shared_ptr<const mpi::Comm>& comm,
                                    const GalleryOptions& options) {
  const GradDiv<dimensions> problem(options.n, options.problem.options<GradDivOptions>());
  return make_problem<T>(comm, problem.n_rows(), [&problem](GlobalIndex i, auto&& emit) {
    problem.row(i, [&](GlobalIndex column, double value) { emit(column, static_cast<T>(value)); });
  });
}

/// A face, that across each of its two cells, and the other faces of these.
template <std::size_t dimensions>
MatrixSize grad_div_size(const GalleryOptions& options) {
  const double n = options.n;
  const double rows = dimensions * (n - 1) * std::pow(n, dimensions - 1);
  return {rows, rows * (4 * dimensions - 1)};
}

/// Of a field of 1 along every axis: half of two cells.
std::vector<double> grad_div_right_hand_side(const comm::Layout& rows,
                                             const GalleryOptions& options) {
  const double n = options.n;
  return std::vector<double>(static_cast<std::size_t>(rows.n_local()), 1 / (n * n));
}

template <std::size_t dimensions>
ModelProblem grad_div(const char* name, const char* summary) {
  return {{name, summary, "MFEM, example 4; Raviart, Thomas 1977", own_options(grad_div_fields)},
          {.dimensions = static_cast<int>(dimensions),
           .unknowns = 1,
           .is_symmetric = true,
           .check = check_grad_div,
           .size = grad_div_size<dimensions>,
           .coordinates = nullptr,
           .in_double = make_grad_div<double, dimensions>,
           .in_float = make_grad_div<float, dimensions>,
           .right_hand_side = grad_div_right_hand_side}};
}

}  // namespace

const ModelProblem& grad_div2d_problem() {
  static const ModelProblem problem = grad_div<2>(
      "grad_div2d", "-grad(alpha div F) + beta F on a square, face elements in n x n cells");
  return problem;
}

const ModelProblem& grad_div3d_problem() {
  static const ModelProblem problem =
      grad_div<3>("grad_div3d", "the same in a cube, face elements in n^3 cells");
  return problem;
}

}  // namespace nodewise::io::problems
