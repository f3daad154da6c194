// Layer mpi: communicators, and how ranks agree.
#include <cstdint>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/version.hpp"
#include "nodewise/run/placement.hpp"

#include "bindings.hpp"

namespace nodewise::python {

namespace {

/// Collective on the communicator with this Fortran handle, which is how Python's MPI hands it
/// over. `settings` are those of run::PlacementOptions and mpi::CommSettings, by name.
Communicator make_communicator(MPI_Fint handle,
                               const std::vector<std::pair<std::string, std::string>>& settings) {
  const std::shared_ptr<const mpi::Comm> world = mpi::Comm::create(MPI_Comm_f2c(handle));
  if (settings.empty()) return {world};
  run::PlacementOptions placement;
  mpi::CommSettings communication;
  mpi::collectively(*world, [&] {
    for (const auto& [name, value] : settings) {
      const auto is_of_placement = has_option(view(placement, run::placement_fields()), name);
      if (is_of_placement) {
        set_option(placement, run::placement_fields(), name, value);
      } else {
        set_option(communication, mpi::all_setting_fields(), name, value);
      }
    }
  });
  return {run::place(*world, placement, communication)};
}

/// Collective. The lowest rank that says yes, or -1.
int lowest_rank(const Communicator& c, bool says_yes) {
  const int mine = says_yes ? c.comm->rank() : c.comm->size();
  const int lowest = mpi::min(*c.comm, static_cast<std::int32_t>(mine));
  return lowest == c.comm->size() ? -1 : lowest;
}

}  // namespace

void bind_mpi(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  m.def("mpi_library_version", &mpi::library_version);
  nb::class_<Communicator>(m, "Communicator")
      .def_prop_ro("rank", [](const Communicator& c) { return c.comm->rank(); })
      .def_prop_ro("size", [](const Communicator& c) { return c.comm->size(); })
      .def_prop_ro("nodes", [](const Communicator& c) { return c.comm->topology().n_nodes(); })
      .def("lowest_rank", &lowest_rank, Release())
      .def(
          "sum", [](const Communicator& c, std::int64_t v) { return mpi::sum(*c.comm, v); },
          Release())
      .def(
          "gather_all",
          [](const Communicator& c, std::int64_t v) { return mpi::gather_all(*c.comm, v); },
          Release())
      .def("broadcast", [](const Communicator& c, const nb::bytes& data, int root) {
        std::string text(data.c_str(), data.size());
        {
          const nb::gil_scoped_release release;
          text = mpi::broadcast(*c.comm, text, root);
        }
        return nb::bytes(text.data(), text.size());
      });
  m.def("make_communicator", &make_communicator, nb::arg("handle"), nb::arg("settings"), Release());
}

}  // namespace nodewise::python
