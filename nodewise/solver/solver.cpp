#include "nodewise/solver/solver.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solver/apply_preset.hpp"
#include "nodewise/solver/collective_choice.hpp"
#include "nodewise/solver/find.hpp"
#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/row_placement.hpp"
#include "nodewise/solver/unused_options.hpp"

namespace nodewise {

using solver::Options;
using solver::Problem;
using solver::SolveRecord;

namespace {

using Matrix = Solver::Matrix;
using MatrixPointer = std::shared_ptr<const Matrix>;

/// Collective. Runs a phase, returns its longest time over the ranks and has the ledger's accounts
/// of it.
template <class Work>
double booked(const mpi::Comm& comm, std::vector<mpi::SharedAccount>& accounts, Work&& work) {
  comm.ledger().clear();
  const Timer timer;
  work();
  const double seconds = timer.seconds();
  accounts = mpi::over_ranks(comm);
  return mpi::max(comm, seconds);
}

/// Collective. Throws invalid_argument where options are out of range or differ between ranks.
void check(const mpi::Comm& comm, const Options& options) {
  std::uint64_t hash = 0;
  const auto error = mpi::caught([&] {
    check_options(options, solver::option_fields());
    hash = hash_of(options, solver::option_fields());
  });
  mpi::agree_on_same(comm, error, {hash, "the options of the solver"});
}

}  // namespace

struct Solver::State {
  State(Options wanted, Problem known) : given(std::move(wanted)), problem(std::move(known)) {}

  void set_up(const MatrixPointer& matrix, const run::MatrixSummary& summary,
              const SetupObservers& observe);
  void make_preconditioner(const SetupObservers& observe);
  void move_to_device();
  void set_up_on_device(const SetupObservers& observe);
  void describe_hierarchy();
  void describe_device();
  const SolveRecord& solve_all(std::span<const double> B, std::span<double> X, int n_rhs,
                               const solver::GroupObserver& observe);

  Options given;
  Problem problem;
  SolveRecord record;
  std::optional<solver::RowPlacement> placement;
  MatrixPointer A;
  solver::Preconditioner preconditioner;
  std::unique_ptr<offload::DeviceSolver> device;  // null: the host solves
  amg::NearNullSpace<double> near_null_space;     // until the first solve
  bool was_looked_at = false;                     // for findings
};

void Solver::State::describe_hierarchy() {
  const amg::Hierarchy<double>& hierarchy = *preconditioner.hierarchy;
  record.levels.assign(hierarchy.levels().begin(), hierarchy.levels().end());
  record.grid_complexity = hierarchy.grid_complexity();
  record.operator_complexity = hierarchy.operator_complexity();
  record.precision = hierarchy.precision();
}

void Solver::State::make_preconditioner(const SetupObservers& observe) {
  const Options& options = record.options;
  const solver::PreconditionerMethod& method = *options.method.preconditioner;
  amg::ProblemInfo<double> info;
  if (method.is_multigrid) {
    info = placement->problem_info(problem, options, record.matrix.symmetric);
    near_null_space = info.near_null_space;
  }
  preconditioner = (*method.make)({A, options.amg, std::move(info), observe.level});
  if (preconditioner.hierarchy != nullptr) describe_hierarchy();
}

/// Collective.
void Solver::State::move_to_device() {
  const Options& options = record.options;
  const offload::DeviceMethod::Make make = *options.method.device->make;
  if (make == nullptr) return;
  device.reset();  // there may be room for one only
  device =
      make({options.method.device.options<offload::DeviceOptions>(), A, *preconditioner.hierarchy});
  describe_device();
}

/// Collective. In place of make_preconditioner() and move_to_device().
void Solver::State::set_up_on_device(const SetupObservers& observe) {
  const Options& options = record.options;
  const amg::ProblemInfo<double> info =
      placement->problem_info(problem, options, record.matrix.symmetric);
  near_null_space = info.near_null_space;
  device =
      (*options.method.device->set_up)({options.method.device.options<offload::DeviceOptions>(), A,
                                        options.amg, info, observe.level});
  describe_device();
}

/// Collective. What a device has, and what it has set up.
void Solver::State::describe_device() {
  record.device->max_bytes = mpi::max(A->comm(), static_cast<std::int64_t>(device->bytes()));
  record.device->ways = device->ways();
  const offload::OwnSetup* const own = device->own_setup();
  if (own == nullptr) return;
  record.levels = own->levels;
  record.precision = own->precision;
  const auto relative_sum = [&](GlobalIndex amg::LevelInfo::*count) {
    double sum = 0;
    for (const amg::LevelInfo& info : own->levels) sum += static_cast<double>(info.*count);
    return sum / static_cast<double>(own->levels.front().*count);
  };
  record.grid_complexity = relative_sum(&amg::LevelInfo::rows);
  record.operator_complexity = relative_sum(&amg::LevelInfo::nonzeros);
}

void Solver::State::set_up(const MatrixPointer& matrix, const run::MatrixSummary& summary,
                           const SetupObservers& observe) {
  const mpi::Comm& comm = matrix->comm();
  record.options = given;
  record.machine = run::describe_environment(comm);
  record.machine.placement_given = given.placement_is_given;
  record.matrix = summary;
  Options& options = record.options;
  offload::require_device(comm, *options.method.device);
  solver::choose_communication(comm, options);
  const double choosing = run::timed(comm, [&] {
    const solver::PresetContext context = {summary.symmetric, problem.knows_near_null_space()};
    const solver::NamedValues set = solver::choose_for_setup_on_device(options);
    record.preset = solver::apply_preset(*matrix, context, options);
    record.device = solver::choose_for_device(options);
    if (record.device)
      record.device->set.insert(record.device->set.begin(), set.begin(), set.end());
    // Nobody gave what the preset and the device agree on.
    for (const NamedValue& value : set) std::erase(record.preset.kept, value);
  });
  record.method = solver::choose_method(options, summary);
  solver::check_method(*record.method, options);
  record.unused = solver::unused_options(options, record.method);
  record.solver_was_chosen = options.method.solver.is_automatic();
  record.preconditioner = options.method.preconditioner.name();
  if (observe.chosen) observe.chosen(record);
  record.times.setup = choosing + booked(comm, record.setup_accounts, [&] {
                         placement.emplace(*matrix, options);
                         record.partition_decision = placement->partition_decision();
                         record.placement_gain = placement->placement_gain();
                         A = solver::matrix_of_solve(placement->there(matrix), options);
                         if (offload::sets_up(options.method.device)) {
                           set_up_on_device(observe);
                           return;
                         }
                         make_preconditioner(observe);
                         if (preconditioner.hierarchy != nullptr)
                           A = solver::matrix_as_chosen(A, *preconditioner.hierarchy, options);
                         move_to_device();
                       });
}

Solver::Solver(const MatrixPointer& A, const Options& options, const Problem& problem,
               const SetupObservers& observe)
    : state_(std::make_unique<State>(options, problem)) {
  if (!A) throw Error(ErrorCode::invalid_argument, "Solver: there is no matrix");
  check(A->comm(), options);
  solver::check_shape(*A);
  if (!options.only_named_are_given) state_->given.given = options.given_or_changed();
  const run::MatrixSummary summary = solver::summarize(*A, problem.matrix);
  state_->set_up(A, summary, observe);
}

Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

const SolveRecord& Solver::solve(std::span<const double> b, std::span<double> x,
                                 const solve::Observer& observe) {
  return solve_all(b, x, 1, [&](const solver::RhsGroup&) { return observe; });
}

const SolveRecord& Solver::solve_all(std::span<const double> B, std::span<double> X, int n_rhs,
                                     const solver::GroupObserver& observe) {
  State& s = *state_;
  const mpi::Comm& comm = s.A->comm();
  mpi::collectively(comm, [&] {
    if (n_rhs < 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("Solver: {} right-hand sides, at least 1 is needed", n_rhs));
    }
    const std::size_t wanted = static_cast<std::size_t>(layout().n_local()) * std::size_t(n_rhs);
    if (B.size() == wanted && X.size() == wanted) return;
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("Solver: b has {} and x {} numbers here, where {} of {} has {}",
                            B.size(), X.size(), counted(n_rhs, "column"),
                            counted(layout().n_local(), "row"), wanted));
  });
  if (!s.placement->moves()) return s.solve_all(B, X, n_rhs, observe);
  const std::vector<double> b = s.placement->there(B, n_rhs);
  std::vector<double> x = s.placement->there(X, n_rhs);
  s.solve_all(b, x, n_rhs, observe);
  s.placement->back(x, X, n_rhs);
  return s.record;
}

/// With the rows as A has them.
const SolveRecord& Solver::State::solve_all(std::span<const double> B, std::span<double> X,
                                            int n_rhs, const solver::GroupObserver& observe) {
  const mpi::Comm& comm = A->comm();
  record.rhs = solver::RhsKind::given;
  record.error.reset();
  record.n_rhs = n_rhs;
  record.at_once = device == nullptr && solver::solves_at_once(*record.method, n_rhs);
  record.collectives = solver::explain_collectives(*A, record.method, n_rhs);
  record.findings.clear();
  record.entries_back.clear();
  if (preconditioner.hierarchy != nullptr) {
    for (const auto& levels : preconditioner.hierarchy->entries_back_in_setup()) {
      record.entries_back.push_back({0, 0, levels});
    }
  }
  if (!was_looked_at) {
    record.findings =
        solver::find_before_solve(A, preconditioner.hierarchy, near_null_space, B, n_rhs, record);
    near_null_space = {};
    was_looked_at = true;
  }
  record.times.solve = booked(comm, record.solve_accounts, [&] {
    record.reports = solver::solve_all({A, preconditioner.map.get(), preconditioner.hierarchy,
                                        record.method, record.options.krylov, device.get()},
                                       B, X, n_rhs, observe, record.entries_back);
  });
  if (!record.entries_back.empty()) describe_hierarchy();
  record.worst = solver::worst_of(record.reports);
  solver::find_after_solve(record);
  record.memory = run::measure_memory(comm);
  return record;
}

void Solver::rebuild(const MatrixPointer& A, amg::Reuse reuse) {
  State& s = *state_;
  const mpi::Comm& comm = s.A->comm();
  mpi::collectively(comm, [&] {
    if (!A) throw Error(ErrorCode::invalid_argument, "Solver: there is no matrix");
    if (A->rows() == layout() && A->cols() == layout()) return;
    throw Error(ErrorCode::dimension_mismatch,
                "Solver: a rebuild needs a matrix that is laid out as the first");
  });
  const run::MatrixSummary summary = solver::summarize(*A, s.problem.matrix);
  SolveRecord& record = s.record;
  if (summary.symmetric != record.matrix.symmetric || summary.negative != record.matrix.negative) {
    auto fresh = std::make_unique<State>(s.given, s.problem);
    fresh->set_up(A, summary, {});
    state_ = std::move(fresh);
    return;
  }
  record.times.setup = booked(comm, record.setup_accounts, [&] {
    const MatrixPointer there = s.placement->there(A);
    const auto same_ghosts = std::equal(there->ghosts().begin(), there->ghosts().end(),
                                        s.A->ghosts().begin(), s.A->ghosts().end());
    mpi::collectively(comm, [&] {
      if (same_ghosts) return;
      throw Error(ErrorCode::dimension_mismatch,
                  "Solver: a rebuild needs a matrix with the pattern of the first");
    });
    const MatrixPointer next = matrix::with_blocks_where_full<double>(
        std::make_shared<const Matrix>(there->with_exchange_of(*s.A)), record.options.amg.unknowns);
    if (offload::sets_up(record.options.method.device)) {
      s.device->rebuild(next, reuse);
      s.A = next;
      s.describe_device();
      return;
    }
    (*record.options.method.preconditioner->rebuild)(s.preconditioner, next, reuse);
    if (s.preconditioner.hierarchy != nullptr) s.describe_hierarchy();
    s.A = next;
    s.move_to_device();
  });
  record.matrix = summary;
  s.was_looked_at = false;
}

const SolveRecord& Solver::record() const {
  return state_->record;
}

const comm::Layout& Solver::layout() const {
  return state_->placement->rows();
}

const MatrixPointer& Solver::matrix() const {
  return state_->A;
}

const amg::Hierarchy<double>* Solver::hierarchy() const {
  return state_->preconditioner.hierarchy;
}

const solve::Operator<double>* Solver::preconditioner() const {
  return state_->preconditioner.map.get();
}

}  // namespace nodewise
