#include "nodewise/io/problems/interior_penalty.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<PenaltyOptions>> penalty_fields() {
  static const std::vector<Field<PenaltyOptions>> fields = {
      field("penalty", &PenaltyOptions::penalty,
            "Penalty of the jumps of discontinuous elements; above 2 their diffusion is positive "
            "definite",
            0.0)};
  return fields;
}

namespace {

/// What of the derivative of unknown c along axis l flows, of unknown k, along axis i.
struct Law {
  std::size_t unknowns;
  double (*flux)(std::size_t k, std::size_t i, std::size_t c, std::size_t l);
  double stiffness;  ///< the flux along an axis by a derivative along it, of the same direction
  bool is_held_everywhere;  ///< or where the slowest axis begins alone
};

double one_if(bool condition) {
  return condition ? 1 : 0;
}

constexpr Law diffusion = {
    1, [](std::size_t, std::size_t i, std::size_t, std::size_t l) { return one_if(i == l); }, 1,
    true};

/// lambda = mu = 1.
double stress(std::size_t k, std::size_t i, std::size_t c, std::size_t l) {
  return one_if(k == i && c == l) + one_if(k == c && i == l) + one_if(c == i && k == l);
}

template <std::size_t dimensions>
constexpr Law elasticity = {dimensions, stress, 3, false};

/// Bilinear elements in n^dimensions cells of the unit square or cube, each with a function for
/// each of its own 2^dimensions corners and each unknown. Cells are numbered with the last axis
/// running fastest, in each the corners likewise, at each the unknowns.
///
/// A row has the integrals of flux(u) : grad v over all cells, and over faces those of
///
///   -{flux(u) n} . [v] - {flux(v) n} . [u] + penalty stiffness / h [u] . [v]
///
/// with the jump [] and the mean {} across the face; on a face of the boundary where the solution
/// is held at zero both are the value there. It is the interior penalty method of Arnold, "An
/// interior penalty finite element method with discontinuous elements", 1982, divided by
/// h^(dimensions - 2), so that no entry depends on n.
///
/// All is a product of what is along each axis, and 6^dimensions times that is a whole number but
/// for the penalty: so the sums are exact, and what cancels is left out.
template <std::size_t dimensions>
class InteriorPenalty {
 public:
  using Place = std::array<GlobalIndex, dimensions>;
  static constexpr std::size_t corners = std::size_t{1} << dimensions;

  InteriorPenalty(GlobalIndex n, const Law& law, double penalty)
      : n_(n), law_(law), penalty_(penalty), width_(corners * law.unknowns) {
    cell_ = block([&](const Function& v, const Function& u) { return in_cell(v, u); });
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      for (std::size_t side = 0; side < 2; ++side) {
        const auto on_face = [&](std::size_t other, double mean) {
          return block([&](const Function& v, const Function& u) {
            return through_face(axis, side, v, other, u, mean);
          });
        };
        inner_[axis][side] = on_face(side, 0.5);
        held_[axis][side] = on_face(side, 1);
        across_[axis][side] = on_face(1 - side, 0.5);
      }
    }
  }

  /// Calls emit(column, value) for the entries of a row, each column once.
  template <class Emit>
  void row(GlobalIndex i, const Emit& emit) const {
    const auto width = static_cast<GlobalIndex>(width_);
    const GlobalIndex cell = i / width;
    const auto own = static_cast<std::size_t>(i % width);
    const Place at = place(cell);
    Sums sums{};
    add(cell_, own, sums);
    GlobalIndex step = 1;
    for (std::size_t axis = dimensions; axis-- > 0; step *= n_) {
      for (std::size_t side = 0; side < 2; ++side) {
        if (at[axis] == (side == 0 ? 0 : n_ - 1)) {
          if (is_held(axis, side)) add(held_[axis][side], own, sums);
          continue;
        }
        add(inner_[axis][side], own, sums);
        Sums others{};
        add(across_[axis][side], own, others);
        emit_row(side == 0 ? cell - step : cell + step, others, emit);
      }
    }
    emit_row(cell, sums, emit);
  }

  /// The corner that a row belongs to, in the unit square or cube.
  std::array<double, dimensions> coordinates(GlobalIndex row) const {
    const auto width = static_cast<GlobalIndex>(width_);
    const Place at = place(row / width);
    const std::size_t corner = static_cast<std::size_t>(row % width) / law_.unknowns;
    std::array<double, dimensions> x;
    for (std::size_t d = 0; d < dimensions; ++d) {
      x[d] = (static_cast<double>(at[d]) + static_cast<double>(bit(corner, d))) /
             static_cast<double>(n_);
    }
    return x;
  }

 private:
  using Block = std::vector<double>;  ///< of the functions of two cells, row-major
  using Sums = std::array<double, corners * dimensions>;

  struct Function {
    std::size_t corner, unknown;
  };

  Place place(GlobalIndex cell) const {
    Place at;
    for (std::size_t d = dimensions; d-- > 0; cell /= n_) at[d] = cell % n_;
    return at;
  }
  bool is_held(std::size_t axis, std::size_t side) const {
    return law_.is_held_everywhere || (axis == 0 && side == 0);
  }

  template <class Entry>
  Block block(const Entry& entry) const {
    Block values;
    for (std::size_t a = 0; a < width_; ++a) {
      for (std::size_t b = 0; b < width_; ++b) {
        values.push_back(entry(Function{a / law_.unknowns, a % law_.unknowns},
                               Function{b / law_.unknowns, b % law_.unknowns}));
      }
    }
    return values;
  }
  void add(const Block& block, std::size_t own, Sums& sums) const {
    for (std::size_t b = 0; b < width_; ++b) sums[b] += block[own * width_ + b];
  }
  template <class Emit>
  void emit_row(GlobalIndex cell, const Sums& sums, const Emit& emit) const {
    constexpr double scale = dimensions == 2 ? 36 : 216;
    const GlobalIndex first = cell * static_cast<GlobalIndex>(width_);
    for (std::size_t b = 0; b < width_; ++b) {
      if (sums[b] != 0) emit(first + static_cast<GlobalIndex>(b), sums[b] / scale);
    }
  }

  /// Where the function of a corner is 1 along an axis: at its beginning or at its end.
  static std::size_t bit(std::size_t corner, std::size_t axis) {
    return corner >> (dimensions - 1 - axis) & 1;
  }
  static double slope(std::size_t corner, std::size_t axis) {
    return bit(corner, axis) == 1 ? 1 : -1;
  }

  /// Six times the integral along an axis of two functions or their derivatives.
  static double along(std::size_t axis, std::size_t a, bool derived_a, std::size_t b,
                      bool derived_b) {
    if (derived_a && derived_b) return 6 * slope(a, axis) * slope(b, axis);
    if (derived_a) return 3 * slope(a, axis);
    if (derived_b) return 3 * slope(b, axis);
    return bit(a, axis) == bit(b, axis) ? 2 : 1;
  }

  double in_cell(const Function& v, const Function& u) const {
    double sum = 0;
    for (std::size_t i = 0; i < dimensions; ++i) {
      for (std::size_t l = 0; l < dimensions; ++l) {
        double product = law_.flux(v.unknown, i, u.unknown, l);
        for (std::size_t axis = 0; axis < dimensions; ++axis) {
          product *= along(axis, v.corner, i == axis, u.corner, l == axis);
        }
        sum += product;
      }
    }
    return sum;
  }

  /// The value, or the derivative along `l`, of u on the face where `axis` has its side `of_u`,
  /// times the value of v on that of its own cell.
  static double on_face(std::size_t axis, std::size_t of_v, std::size_t v, std::size_t of_u,
                        std::size_t u, std::size_t l) {
    const double trace_of_u = l == axis ? slope(u, axis) : one_if(bit(u, axis) == of_u);
    double product = 6 * one_if(bit(v, axis) == of_v) * trace_of_u;
    for (std::size_t other = 0; other < dimensions; ++other) {
      if (other != axis) product *= along(other, v, false, u, l == other);
    }
    return product;
  }

  /// -mean flux(u) n . [v], for n outwards from the cell of v, whose side of the axis is `of_v`.
  double flux_through(std::size_t axis, std::size_t of_v, const Function& v, std::size_t of_u,
                      const Function& u, double mean) const {
    double sum = 0;
    for (std::size_t l = 0; l < dimensions; ++l) {
      sum += law_.flux(v.unknown, axis, u.unknown, l) *
             on_face(axis, of_v, v.corner, of_u, u.corner, l);
    }
    return (of_v == 1 ? -mean : mean) * sum;
  }

  double through_face(std::size_t axis, std::size_t of_v, const Function& v, std::size_t of_u,
                      const Function& u, double mean) const {
    const double jumps = v.unknown != u.unknown ? 0
                                                : on_face(axis, of_v, v.corner, of_u, u.corner,
                                                          dimensions);  // no derivative
    return flux_through(axis, of_v, v, of_u, u, mean) + flux_through(axis, of_u, u, of_v, v, mean) +
           (of_v == of_u ? 1 : -1) * penalty_ * law_.stiffness * jumps;
  }

  GlobalIndex n_;
  Law law_;
  double penalty_;
  std::size_t width_;  // rows of a cell
  Block cell_;
  std::array<std::array<Block, 2>, dimensions> inner_, held_, across_;  // by axis and side
};

double penalty_of(const GalleryOptions& options) {
  return options.problem.options<PenaltyOptions>().penalty;
}

void check_penalty(const GalleryOptions& options) {
  const double penalty = penalty_of(options);
  if (!(penalty >= 0) || !std::isfinite(penalty)) {
    refuse_problem(fmt::format("penalty is {}, needs >= 0", penalty));
  }
}

/// The rows of a cell.
template <std::size_t dimensions>
int rows_of_cell(const Law& law) {
  return static_cast<int>(InteriorPenalty<dimensions>::corners * law.unknowns);
}

template <class T, std::size_t dimensions, const Law& law>
matrix::DistMatrix<T> make_penalty(const std::shared_ptr<const mpi::Comm>& comm,
                                   const GalleryOptions& options) {
  const int width = rows_of_cell<dimensions>(law);
  const GlobalIndex cells = n_points(options.n, static_cast<int>(dimensions));
  if (cells > std::numeric_limits<GlobalIndex>::max() / width) {
    throw Error(
        ErrorCode::index_overflow,
        fmt::format("problem: the {} rows of {} cells do not fit in 64 bits", width, cells));
  }
  const InteriorPenalty<dimensions> elements(options.n, law, penalty_of(options));
  return make_problem<T>(
      comm, width * cells,
      [&elements](GlobalIndex i, auto&& emit) {
        elements.row(
            i, [&](GlobalIndex column, double value) { emit(column, static_cast<T>(value)); });
      },
      width);
}

/// Entries of a row, at most: with one unknown 3 of 4 functions in the own cell and in each of 4
/// around it, or 7 of 8 there and 6 in each of 6; with several about half.
template <std::size_t dimensions, const Law& law>
MatrixSize penalty_size(const GalleryOptions& options) {
  const double rows =
      rows_of_cell<dimensions>(law) * std::pow(static_cast<double>(options.n), dimensions);
  constexpr double of_one = dimensions == 2 ? 15 : 43;
  constexpr double of_several = dimensions == 2 ? 19 : 59;
  return {rows, rows * (law.unknowns == 1 ? of_one : of_several)};
}

template <std::size_t dimensions>
std::vector<double> corner_coordinates(const comm::Layout& rows, const GalleryOptions& options) {
  const InteriorPenalty<dimensions> elements(options.n, elasticity<dimensions>,
                                             penalty_of(options));
  std::vector<double> coordinates;
  coordinates.reserve(static_cast<std::size_t>(rows.n_local()));
  for (GlobalIndex i = rows.begin(); i < rows.end(); i += dimensions) {
    const auto x = elements.coordinates(i - rows.first());
    coordinates.insert(coordinates.end(), x.begin(), x.end());
  }
  return coordinates;
}

/// Of a source of 1, or of a weight of 1 against the last axis: the integral of a corner's
/// function.
template <std::size_t dimensions, const Law& law>
std::vector<double> penalty_right_hand_side(const comm::Layout& rows,
                                            const GalleryOptions& options) {
  std::vector<double> b(static_cast<std::size_t>(rows.n_local()), 0.0);
  const double n = options.n;
  const double load = 1 / (n * n * static_cast<double>(InteriorPenalty<dimensions>::corners));
  const std::size_t last = law.unknowns - 1;  // ranks have whole cells
  for (std::size_t i = last; i < b.size(); i += law.unknowns)
    b[i] = law.unknowns == 1 ? load : -load;
  return b;
}

template <std::size_t dimensions, const Law& law>
ModelProblem penalty_problem(const char* name, const char* summary, const char* source) {
  std::vector<double> (*coordinates)(const comm::Layout&, const GalleryOptions&) = nullptr;
  if constexpr (law.unknowns > 1) coordinates = corner_coordinates<dimensions>;
  return {{name, summary, source, own_options(penalty_fields)},
          {.dimensions = static_cast<int>(dimensions),
           .unknowns = static_cast<int>(law.unknowns),
           .is_symmetric = true,
           .check = check_penalty,
           .size = penalty_size<dimensions, law>,
           .coordinates = coordinates,
           .in_double = make_penalty<double, dimensions, law>,
           .in_float = make_penalty<float, dimensions, law>,
           .right_hand_side = penalty_right_hand_side<dimensions, law>}};
}

}  // namespace

const ModelProblem& dg2d_problem() {
  static const ModelProblem problem = penalty_problem<2, diffusion>(
      "dg2d", "Poisson on a square, discontinuous bilinear elements in n x n cells",
      "MFEM, example 14");
  return problem;
}

const ModelProblem& dg3d_problem() {
  static const ModelProblem problem = penalty_problem<3, diffusion>(
      "dg3d", "Poisson in a cube, discontinuous trilinear elements in n^3 cells",
      "MFEM, example 14");
  return problem;
}

const ModelProblem& dg_elasticity2d_problem() {
  static const ModelProblem problem = penalty_problem<2, elasticity<2>>(
      "dg_elasticity2d", "linear elasticity by such elements: a square clamped at one side",
      "MFEM, example 17");
  return problem;
}

const ModelProblem& dg_elasticity3d_problem() {
  static const ModelProblem problem = penalty_problem<3, elasticity<3>>(
      "dg_elasticity3d", "the same of a cube", "MFEM, example 17");
  return problem;
}

}  // namespace nodewise::io::problems
