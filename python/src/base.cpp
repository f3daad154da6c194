// Layer base: errors, versions and threads.
#include <exception>
#include <nanobind/stl/string.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/version.hpp"

#include "bindings.hpp"
#include "cli/exit_code.hpp"

namespace nodewise::python {

namespace {

/// Raises the class of nodewise/errors.py that is for the code.
void raise(const char* code, const char* text) {
  const nb::object made = nb::module_::import_("nodewise.errors").attr("make")(code, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(made.type().ptr()), made.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(to_string(error.code()), error.what());
  } catch (const cli::Failure& failure) {
    for (const cli::ExitCodeInfo& info : cli::exit_codes()) {
      if (info.code == failure.code()) raise(info.name.c_str(), failure.what());
    }
  }
}

}  // namespace

void bind_base(nb::module_& m) {
  nb::register_exception_translator(translate);
  m.def("version", &version);
  m.def("build_info", [] {
    const BuildInfo build = build_info();
    nb::dict entry;
    entry["version"] = build.version;
    entry["commit"] = build.commit;
    entry["build_type"] = build.build_type;
    entry["compiler"] = build.compiler;
    entry["options"] = build.options;
    return entry;
  });
  m.def("set_threads", &parallel::set_threads, nb::arg("threads"));
  m.def("threads", &parallel::threads);
}

}  // namespace nodewise::python
