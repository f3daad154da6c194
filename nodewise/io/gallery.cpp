#include "nodewise/io/gallery.hpp"

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

std::span<const Field<GalleryOptions>> gallery_fields() {
  using S = GalleryOptions;
  static const std::vector<Field<S>> fields = {
      field("problem", &S::problem, "The model problem").common('p'),
      field("n", &S::n,
            "Points in each direction; rows of the random matrix; cubes across the beam, which is "
            "eight times as long",
            1)
          .common('n')};
  return fields;
}

void check_problem(const GalleryOptions& options) {
  if (options.n < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("problem: n is {}, needs >= 1", options.n));
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
