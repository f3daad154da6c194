// Layer io: matrices and vectors from files and to files, and model problems.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/graph.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/mpi/agree.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "options.hpp"

namespace nodewise::python {

namespace {

using DistMatrix = matrix::DistMatrix<double>;

Matrix held_matrix(DistMatrix A) {
  return {std::make_shared<const DistMatrix>(std::move(A))};
}

/// Collective. Rows stay together as `nodewise solve` has them: 12, so that points of 2, 3, 4 or 6
/// unknowns stay whole.
Matrix read_matrix(const Communicator& c, const std::string& path, bool graph_laplacian) {
  DistMatrix A = io::read_matrix<double>(c.comm, path, {.together = 12});
  return held_matrix(graph_laplacian ? io::grounded_laplacian(A) : std::move(A));
}

/// Collective. This rank's rows of the vectors of a file, and how many vectors there are.
nb::tuple read_vectors(const Matrix& like, const std::string& path) {
  io::Vectors<double> vectors;
  {
    const nb::gil_scoped_release release;
    vectors = io::read_vectors<double>(like.A->rows(), path);
  }
  return nb::make_tuple(array_of(std::move(vectors.values)), vectors.n_vectors);
}

/// Collective. Row-major, `width` vectors.
void write_vectors(const Matrix& like, const std::string& path, const InPlace<const double>& x,
                   int width) {
  const nb::gil_scoped_release release;
  io::write_vectors<double>(path, like.A->rows(), span_of(x), width);
}

/// Collective. Sets the options of a model problem, the same error on every rank.
io::GalleryOptions problem_options(const Communicator& c, const NamedValues& values) {
  io::GalleryOptions options;
  mpi::collectively(*c.comm, [&] {
    OptionView<io::GalleryOptions> tree(io::gallery_fields(), options);
    set_options(tree, values);
  });
  return options;
}

Matrix generate(const Communicator& c, const NamedValues& values) {
  return held_matrix(io::generate<double>(c.comm, problem_options(c, values)));
}

/// Collective. Coordinates of this rank's points, or nothing.
nb::object coordinates(const Matrix& like, const NamedValues& values) {
  const io::GalleryOptions options = problem_options({like.A->shared_comm()}, values);
  return nb::cast(array_of(io::point_coordinates(like.A->rows(), options)));
}

/// Collective. This rank's part of the right-hand side that belongs to the problem.
nb::object own_right_hand_side(const Matrix& like, const NamedValues& values) {
  const io::GalleryOptions options = problem_options({like.A->shared_comm()}, values);
  return nb::cast(array_of(mpi::collectively(
      like.A->comm(), [&] { return io::own_right_hand_side(like.A->rows(), options); })));
}

nb::list problems() {
  nb::list all;
  for (const io::ModelProblem& problem : io::ModelProblem::family()) {
    io::GalleryOptions options;
    options.problem = problem;
    nb::dict entry;
    entry["name"] = *problem.name;
    entry["summary"] = *problem.summary;
    entry["unknowns"] = *problem.unknowns;
    entry["options"] = table_of(view(options, io::gallery_fields()));
    all.append(entry);
  }
  return all;
}

}  // namespace

void bind_io(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  m.def("read_matrix", &read_matrix, Release());
  m.def(
      "write_matrix",
      [](const Matrix& A, const std::string& path) { io::write_matrix(path, *A.A); }, Release());
  m.def("read_vectors", &read_vectors);
  m.def("write_vectors", &write_vectors);
  m.def("generate", &generate, Release());
  m.def("coordinates", &coordinates);
  m.def("own_right_hand_side", &own_right_hand_side);
  m.def("problems", &problems);
}

}  // namespace nodewise::python
