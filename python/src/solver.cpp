// Layer solver: nodewise::Solver, its options, its records and its levels.
#include "nodewise/solver/solver.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>

#include <fmt/format.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/report/solve_json.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "options.hpp"

namespace nodewise::python {

namespace {

/// What Python raised, kept until Python runs again.
class Raised {
 public:
  /// Calls Python; whether it did not raise. What it raises is kept, the first time.
  template <class Call>
  bool keeps_going(Call&& call) {
    if (exception_) return false;
    const nb::gil_scoped_acquire acquired;
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      call();
    } catch (nb::python_error& error) {
      exception_ = nb::borrow(error.value());
      return false;
    }
    return true;
  }
  /// Local. What was raised, or None. Call with the interpreter's lock.
  nb::object take() { return exception_ ? std::exchange(exception_, {}) : nb::none(); }

 private:
  nb::object exception_;
};

/// Every so many iterations the ranks agree whether one of them was interrupted, or its callback
/// raised: an allreduce, which most solves are over without.
constexpr int iterations_between_agreements = 8;

/// Tells Python of the iterations, where it wants to know, and looks for signals.
solve::Observer observer(const nb::object& call, Raised& raised) {
  return solve::Observer([&call, &raised](int iteration, double relative) {
           return raised.keeps_going([&] {
             if (!call.is_none()) call(iteration, relative);
           });
         })
      .agreed_every(iterations_between_agreements);
}

solver::NamedValues text_of(const solver::Options& options) {
  solver::Options copy = options;
  solver::NamedValues all;
  visit_fields(view(copy, solver::option_fields()), [&](const OptionSet& set, std::size_t k) {
    all.emplace_back(set.info(k).name, set.get(k));
  });
  return all;
}

solver::Options options_of(const NamedValues& values, bool nodes_are_given) {
  solver::Options options;
  options.placement_is_given = nodes_are_given;
  for (const auto& [name, value] : values) options.set(name, value);
  return options;
}

/// What is known besides the matrix: vectors of this rank's rows, row-major.
struct Knowledge {
  std::vector<double> near_null_space, left_near_null_space, coordinates, row_fields;
  int n_vectors = 0, n_left_vectors = 0, dimensions = 0, n_field_numbers = 0;

  /// Collective.
  solver::Problem problem(const comm::Layout& rows) const {
    solver::Problem known;
    known.near_null_space = {n_vectors, near_null_space};
    known.left_near_null_space = {n_left_vectors, left_near_null_space};
    known.coordinates = coordinates;
    known.dimensions = dimensions;
    if (mpi::max(rows.comm(), n_field_numbers) > 0) {
      known.fields = solver::RowFields::from_numbers(rows, row_fields);
    }
    return known;
  }
};

void set_vectors(std::vector<double>& values, int& width, const InPlace<const double>& from,
                 int n) {
  values.assign(from.data(), from.data() + from.size());
  width = n;
}

/// A setup of one rank that a signal ends between two levels: it throws, and what Python raised is
/// kept. On several ranks, of which some have no part of the coarse levels, it goes on to its end.
SetupObservers interruptible(const mpi::Comm& comm, Raised& raised) {
  SetupObservers observe;
  if (comm.size() > 1) return observe;
  observe.level = [&raised](int, const amg::LevelInfo&) {
    if (raised.keeps_going([] {})) return;
    throw Error(ErrorCode::invalid_argument, "the setup was interrupted");
  };
  return observe;
}

class SolverOfPython {
 public:
  /// Collective.
  SolverOfPython(const Matrix& matrix, const NamedValues& values, const Knowledge& known,
                 bool nodes_are_given) {
    const nb::gil_scoped_release release;
    const mpi::Comm& comm = matrix.A->comm();
    const solver::Options options =
        mpi::collectively(comm, [&] { return options_of(values, nodes_are_given); });
    Raised raised;
    try {
      solver_.emplace(matrix.A, options, known.problem(matrix.A->rows()),
                      interruptible(comm, raised));
    } catch (const Error&) {
      const nb::gil_scoped_acquire acquired;
      const nb::object interruption = raised.take();
      if (interruption.is_none()) throw;
      PyErr_SetObject(reinterpret_cast<PyObject*>(interruption.type().ptr()), interruption.ptr());
      nb::raise_python_error();
    }
  }

  /// Collective. Solves for `width` right-hand sides, side by side, from the X that is given.
  /// Returns what this rank's observer raised, or None.
  nb::object solve(const InPlace<const double>& B, const InPlace<double>& X, int width,
                   const nb::object& call) {
    Raised raised;
    {
      const nb::gil_scoped_release release;
      solver_->solve_all(span_of(B), span_of(X), width,
                         [&](const solver::RhsGroup&) { return observer(call, raised); });
    }
    return raised.take();
  }

  /// Collective. Names and values of options of the Krylov methods, in place of those in force.
  void set_krylov(const NamedValues& values) {
    const mpi::Comm& comm = solver_->matrix()->comm();
    solver::Options next = solver_->options();
    mpi::collectively(comm, [&] {
      OptionView<solver::Options> tree(solver::option_fields(), next);
      set_options(tree, values);
    });
    solver_->set_krylov(next.method.solver, next.krylov);
  }

  /// Collective.
  void rebuild(const Matrix& next, bool keeps_interpolation) {
    solver_->rebuild(next.A,
                     keeps_interpolation ? amg::Reuse::interpolation : amg::Reuse::splitting);
  }

  /// Collective. z = M r, one cycle from zero where M is multigrid.
  void precondition(const InPlace<const double>& r, const InPlace<double>& z) const {
    const auto n = static_cast<std::size_t>(solver_->matrix()->n_local());
    mpi::collectively(solver_->matrix()->comm(), [&] {
      if (!(solver_->matrix()->rows() == solver_->layout())) {
        throw Error(ErrorCode::unsupported,
                    "the rows were moved by a partition or a new order, so that the "
                    "preconditioner alone cannot be applied to vectors of the first rows");
      }
      if (r.size() == n && z.size() == n) return;
      throw Error(ErrorCode::dimension_mismatch,
                  fmt::format("the vector has {} numbers here, the matrix {} rows", r.size(), n));
    });
    const solve::Operator<double>* const map = solver_->preconditioner();
    if (map != nullptr) return map->apply(span_of(r), span_of(z));
    std::copy_n(r.data(), n, z.data());
  }

  const Solver& get() const { return *solver_; }

 private:
  std::optional<Solver> solver_;
};

nb::dict dict_of(const solve::Report& report) {
  nb::dict entry;
  entry["outcome"] = solve::to_string(report.outcome);
  entry["diagnosis"] = report.diagnosis;
  entry["method"] = report.method;
  entry["iterations"] = report.iterations;
  entry["rhs_norm"] = report.rhs_norm;
  entry["reference_norm"] = report.reference_norm;
  entry["true_relative_residual"] = report.true_relative_residual;
  entry["history"] = report.history;
  entry["seconds"] = report.seconds;
  return entry;
}

nb::dict dict_of(const amg::LevelInfo& level) {
  nb::dict entry;
  entry["rows"] = level.rows;
  entry["nonzeros"] = level.nonzeros;
  entry["interpolation_nonzeros"] = level.interpolation_nonzeros;
  entry["active_ranks"] = level.active_ranks;
  entry["messages_on_node"] = level.traffic.messages_on_node;
  entry["messages_off_node"] = level.traffic.messages_off_node;
  entry["bytes_on_node"] = 8 * level.traffic.entries_on_node;
  entry["bytes_off_node"] = 8 * level.traffic.entries_off_node;
  entry["max_messages"] = level.max_messages;
  entry["coarse_solver"] = level.coarse_solver;
  return entry;
}

template <class Entries>
nb::list list_of(const Entries& entries) {
  nb::list all;
  for (const auto& entry : entries) all.append(dict_of(entry));
  return all;
}

nb::list findings(const Solver& solver) {
  nb::list all;
  for (const advise::Finding& finding : solver.record().findings) {
    nb::dict entry;
    entry["text"] = finding.text;
    entry["advice"] = finding.advice;
    all.append(entry);
  }
  return all;
}

nb::dict summary(const Solver& solver) {
  const solver::SolveRecord& record = solver.record();
  nb::dict entry;
  entry["preset"] = record.preset.name;
  entry["preset_reason"] = record.preset.reason;
  entry["method"] = record.method.name();
  entry["preconditioner"] = record.preconditioner;
  entry["is_own_transpose"] = solver.broken_symmetry().empty();
  entry["grid_complexity"] = record.grid_complexity;
  entry["operator_complexity"] = record.operator_complexity;
  entry["setup_seconds"] = record.times.setup;
  entry["solve_seconds"] = record.times.solve;
  entry["ranks"] = record.machine.ranks;
  entry["worst"] = record.worst;
  nb::list unused;
  for (const solver::UnusedOption& option : record.unused) {
    unused.append(nb::make_tuple(option.name, option.needs));
  }
  entry["unused_options"] = unused;
  return entry;
}

/// Collective. The matrix "A" of a level, its prolongation "P" or its restriction "R"; none where
/// there is no such matrix.
std::optional<Matrix> level_matrix(const SolverOfPython& s, std::size_t level,
                                   const std::string& which) {
  const amg::Hierarchy<double>* const hierarchy = s.get().hierarchy();
  if (hierarchy == nullptr || level >= hierarchy->levels().size()) return std::nullopt;
  if (which == "A") return Matrix{hierarchy->matrix(level)};
  const matrix::DistMatrix<double>* const P = hierarchy->interpolation(level);
  if (P == nullptr) return std::nullopt;
  const auto copy_of = [](const matrix::DistMatrix<double>& M) {
    return std::make_shared<const matrix::DistMatrix<double>>(M);  // shares the entries
  };
  if (which == "P") return Matrix{copy_of(*P)};
  const matrix::DistMatrix<double>* const R = hierarchy->restriction(level);
  return Matrix{copy_of(R != nullptr ? *R : matrix::transpose(*P))};
}

nb::list option_table() {
  solver::Options defaults;
  return table_of(view(defaults, solver::option_fields()));
}

}  // namespace

void bind_solver(nb::module_& m) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Knowledge>(m, "Knowledge")
      .def(nb::init<>())
      .def("set_near_null_space", [](Knowledge& k, const InPlace<const double>& v,
                                     int n) { set_vectors(k.near_null_space, k.n_vectors, v, n); })
      .def("set_left_near_null_space",
           [](Knowledge& k, const InPlace<const double>& v, int n) {
             set_vectors(k.left_near_null_space, k.n_left_vectors, v, n);
           })
      .def("set_coordinates", [](Knowledge& k, const InPlace<const double>& v,
                                 int n) { set_vectors(k.coordinates, k.dimensions, v, n); })
      .def("set_row_fields", [](Knowledge& k, const InPlace<const double>& v, int n) {
        set_vectors(k.row_fields, k.n_field_numbers, v, n);
      });
  nb::class_<SolverOfPython>(m, "Solver")
      .def(nb::init<const Matrix&, const NamedValues&, const Knowledge&, bool>())
      .def("solve", &SolverOfPython::solve, nb::arg("b"), nb::arg("x"), nb::arg("width"),
           nb::arg("observer").none())
      .def("set_krylov", &SolverOfPython::set_krylov, Release())
      .def("rebuild", &SolverOfPython::rebuild, Release())
      .def("precondition", &SolverOfPython::precondition, Release())
      .def("options", [](const SolverOfPython& s) { return text_of(s.get().options()); })
      .def("reports", [](const SolverOfPython& s) { return list_of(s.get().record().reports); })
      .def("levels", [](const SolverOfPython& s) { return list_of(s.get().record().levels); })
      .def("findings", [](const SolverOfPython& s) { return findings(s.get()); })
      .def("summary", [](const SolverOfPython& s) { return summary(s.get()); })
      .def("json", [](const SolverOfPython& s) { return report::solve_json(s.get().record()); })
      .def("level_matrix", &level_matrix, Release());
  m.def("option_table", &option_table);
}

}  // namespace nodewise::python
