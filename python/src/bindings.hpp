// What the layers of the library have in Python: one function a layer, each in a file of its own.
#pragma once

#include <memory>
#include <nanobind/nanobind.h>
#include <string>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::python {

namespace nb = nanobind;

/// A communicator as Python holds it.
struct Communicator {
  std::shared_ptr<const mpi::Comm> comm;
};

/// A matrix as Python holds it; never null.
struct Matrix {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
};

void bind_base(nb::module_& m);
void bind_mpi(nb::module_& m);
void bind_collectives(nb::module_& m);
void bind_comm(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_io(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_program(nb::module_& m);

}  // namespace nodewise::python
