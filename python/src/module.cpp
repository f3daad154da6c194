// The extension module nodewise._core: everything that nodewise/*.py stands on.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  // What MPI keeps of communicators, as attributes, lives until the end of the process.
  nanobind::set_leak_warnings(false);
  nodewise::python::bind_base(m);
  nodewise::python::bind_mpi(m);
  nodewise::python::bind_collectives(m);
  nodewise::python::bind_comm(m);
  nodewise::python::bind_matrix(m);
  nodewise::python::bind_io(m);
  nodewise::python::bind_solver(m);
  nodewise::python::bind_program(m);
}
