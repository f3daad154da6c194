#include "nodewise/io/gallery.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

/// One number for all directions, or one for each.
Field<GalleryOptions> sides_field() {
  using S = GalleryOptions;
  return {{"n", "integers",
           "Points or cells in each direction, or 30,20,10 (laplace7, laplace27); rows or vertices",
           detail::print_range(1LL, std::numeric_limits<int>::max())},
          [](const S& s) {
            const std::array<int, 3> sides = {s.n, s.n_y, s.n_z};
            const std::size_t given = s.n_y == 0 && s.n_z == 0 ? 1 : 3;
            return detail::print_list(std::span(sides).first(given));
          },
          [](S& s, std::string_view text) {
            constexpr std::array<std::size_t, 2> counts = {1, 3};
            std::vector<int> sides = detail::parse_integers("n", text, 1, counts);
            s.n = sides[0];
            sides.resize(3);
            s.n_y = sides[1];
            s.n_z = sides[2];
          }};
}

}  // namespace

std::span<const Field<GalleryOptions>> gallery_fields() {
  using S = GalleryOptions;
  static const std::vector<Field<S>> fields = {
      field("problem", &S::problem, "The model problem").common('p'), sides_field().common('n')};
  return fields;
}

void check_problem(const GalleryOptions& options) {
  if (options.n < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("problem: n is {}, needs >= 1", options.n));
  }
  if (options.n_y != 0 || options.n_z != 0) {
    if (!options.problem->has_sides) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("problem: {} takes one `n`, the same in each direction",
                              options.problem.name()));
    }
    if (options.n_y < 1 || options.n_z < 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("problem: n is {}, {} and {}, needs >= 1", options.n, options.n_y,
                              options.n_z));
    }
  }
  (*options.problem->check)(options);
}

std::string in_words(const GalleryOptions& options) {
  const auto says_size = options.problem->says_size;
  return fmt::format(
      "{}, {}", options.problem.name(),
      says_size != nullptr ? (*says_size)(options) : fmt::format("n = {}", options.n));
}

std::vector<double> point_coordinates(const comm::Layout& rows, const GalleryOptions& options) {
  if (!options.problem->has_rigid_body_modes()) return {};
  return (*options.problem->coordinates)(rows, options);
}

std::vector<double> own_right_hand_side(const comm::Layout& rows, const GalleryOptions& options) {
  if (!options.problem->has_right_hand_side()) {
    const std::string names = ModelProblem::family().some([](const MethodInfo& info) {
      return static_cast<const ModelProblem&>(info).has_right_hand_side();
    });
    throw Error(ErrorCode::invalid_argument,
                fmt::format("problem: {} has no right-hand side of its own; these have one: {}",
                            options.problem.name(), names));
  }
  return (*options.problem->right_hand_side)(rows, options);
}

template <class T>
matrix::DistMatrix<T> generate(std::shared_ptr<const mpi::Comm> comm,
                               const GalleryOptions& options) {
  std::uint64_t given = 0;
  const auto error = mpi::caught([&] {
    check_problem(options);
    given = hash_of(options, gallery_fields());
  });
  mpi::agree_on_same(*comm, error, {given, "problem: the options"});
  return options.problem->generate<T>()(comm, options);
}

template matrix::DistMatrix<float> generate(std::shared_ptr<const mpi::Comm>,
                                            const GalleryOptions&);
template matrix::DistMatrix<double> generate(std::shared_ptr<const mpi::Comm>,
                                             const GalleryOptions&);

}  // namespace nodewise::io
