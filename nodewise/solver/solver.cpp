#include "nodewise/solver/solver.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/network_probe.hpp"
#include "nodewise/run/timed.hpp"
#include "nodewise/solver/apply_preset.hpp"
#include "nodewise/solver/collective_choice.hpp"
#include "nodewise/solver/find.hpp"
#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/prepared_system.hpp"
#include "nodewise/solver/row_placement.hpp"
#include "nodewise/solver/unused_options.hpp"
#include "nodewise/solver/ways_out.hpp"

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
  void choose(const Matrix& A, const solver::PresetChoice* named);
  void set_up_by_some_way(const MatrixPointer& there, const SetupObservers& observe);
  void take_next_way(const Matrix& A);
  bool goes_on_otherwise();
  void solve_once(std::span<const double> B, std::span<double> X, int n_rhs,
                  const solver::GroupObserver& observe);
  amg::ProblemInfo<double> problem_info();
  void describe_levels();
  void describe_hierarchy();
  void describe_device();
  const SolveRecord& solve_all(std::span<const double> B, std::span<double> X, int n_rhs,
                               const solver::GroupObserver& observe);
  void precondition(std::span<const double> B, std::span<double> X, int n_rhs) const;

  Options given;
  Problem problem;
  SolveRecord record;
  std::vector<solver::PresetChoice> ways_out;  // what `auto` tries next
  std::optional<solver::RowPlacement> placement;
  solver::PreparedSystem system;
  amg::NearNullSpace<double> near_null_space;  // until the first solve
  bool was_looked_at = false;                  // for findings
};

void Solver::State::describe_hierarchy() {
  const amg::Hierarchy<double>& hierarchy = *system.preconditioner.hierarchy;
  record.levels.assign(hierarchy.levels().begin(), hierarchy.levels().end());
  record.grid_complexity = hierarchy.grid_complexity();
  record.operator_complexity = hierarchy.operator_complexity();
  record.precision = hierarchy.precision();
}

/// Collective. What multigrid is told, of which the search for findings needs a part.
amg::ProblemInfo<double> Solver::State::problem_info() {
  if (!record.options.method.preconditioner->is_multigrid) return {};
  amg::ProblemInfo<double> info =
      placement->problem_info(problem, record.options, record.matrix.symmetric);
  near_null_space = info.near_null_space;
  return info;
}

/// Collective.
void Solver::State::describe_levels() {
  record.levels.clear();
  record.grid_complexity = record.operator_complexity = 0;
  record.precision = {};
  record.preconditioner_text = system.preconditioner.text;
  if (system.preconditioner.hierarchy != nullptr) describe_hierarchy();
  if (system.device != nullptr) describe_device();
}

/// Collective. What a device has, and what it has set up.
void Solver::State::describe_device() {
  record.device->max_bytes =
      mpi::max(system.A->comm(), static_cast<std::int64_t>(system.device->bytes()));
  record.device->ways = system.device->ways();
  const offload::OwnSetup* const own = system.device->own_setup();
  if (own == nullptr) return;
  record.levels = own->levels;
  record.precision = own->precision;
  record.grid_complexity = amg::complexity(own->levels, &amg::LevelInfo::rows);
  record.operator_complexity = amg::complexity(own->levels, &amg::LevelInfo::nonzeros);
}

/// Collective. Puts together the options of a preset, or of the one that is found, and what follows
/// from them.
void Solver::State::choose(const Matrix& A, const solver::PresetChoice* named) {
  record.options = given;
  Options& options = record.options;
  if (named != nullptr) options.method.preset.choose(*named->preset->name);
  solver::choose_communication(A.comm(), options);
  const solver::PresetContext context = {.symmetric = record.matrix.symmetric,
                                         .knows_near_null_space = problem.knows_near_null_space(),
                                         .may_leave_multigrid = true};
  const solver::NamedValues set = solver::choose_for_setup_on_device(options);
  record.preset = solver::apply_preset(A, context, options);
  record.device = solver::choose_for_device(options);
  if (record.device) record.device->set.insert(record.device->set.begin(), set.begin(), set.end());
  // Nobody gave what the preset and the device agree on.
  for (const NamedValue& value : set) std::erase(record.preset.kept, value);
  record.method = solver::choose_method(options, record.matrix);
  solver::check_method(*record.method, options);
  record.unused = solver::unused_options(options, record.method);
  record.solver_was_chosen = options.method.solver.is_automatic();
  record.preconditioner = options.method.preconditioner.name();
  if (problem.fields.count > 0 && !options.method.preconditioner->facts.takes_fields) {
    throw Error(ErrorCode::invalid_argument,
                "the field of each row is given, which is for `preconditioner fields`");
  }
}

void Solver::State::set_up(const MatrixPointer& matrix, const run::MatrixSummary& summary,
                           const SetupObservers& observe) {
  const mpi::Comm& comm = matrix->comm();
  record.machine = run::describe_environment(comm);
  record.machine.placement_given = given.placement_is_given;
  record.matrix = summary;
  if (const auto& machine = given.amg.machine) routing::weigh_sparse_exchanges(comm, *machine);
  offload::require_device(comm, *given.method.device);
  const double choosing = run::timed(comm, [&] { choose(*matrix, nullptr); });
  ways_out = std::exchange(record.preset.ways_out, {});
  if (observe.chosen) observe.chosen(record);
  record.times.setup = choosing + booked(comm, record.setup_accounts, [&] {
                         placement.emplace(*matrix, record.options);
                         record.partition_decision = placement->partition_decision();
                         record.placement_gain = placement->placement_gain();
                         set_up_by_some_way(placement->there(matrix), observe);
                         describe_levels();
                       });
}

/// Collective. By the preset that was chosen or, where its preconditioner refuses the matrix, by
/// those after it.
void Solver::State::set_up_by_some_way(const MatrixPointer& there, const SetupObservers& observe) {
  for (;;) {
    try {
      solver::PreparedSystem next;
      next.set_up(there, problem_info(), record.options, observe.level,
                  placement->fields(problem.fields));
      system = std::move(next);
      return;
    } catch (const Error& error) {
      const bool may_suit_another = error.code() == ErrorCode::unsuitable_matrix ||
                                    error.code() == ErrorCode::out_of_memory ||
                                    error.code() == ErrorCode::unsupported;
      if (!may_suit_another || ways_out.empty()) throw;
      solver::Attempt attempt = {record.preset.name, record.preconditioner, {}, error.what()};
      record.attempts.push_back(std::move(attempt));
    }
    take_next_way(*there);
    if (observe.chosen) observe.chosen(record);
  }
}

/// Collective. The options of the next preset that is left.
void Solver::State::take_next_way(const Matrix& A) {
  const solver::PresetChoice way = ways_out.front();
  ways_out.erase(ways_out.begin());
  choose(A, &way);
  record.preset.rule = "auto";
  record.preset.reason =
      way.reason.empty() ? solver::why_given_up(record.attempts.back()) : way.reason;
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
  const mpi::Comm& comm = s.system.A->comm();
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

/// Collective. With the rows as the system has them.
void Solver::State::solve_once(std::span<const double> B, std::span<double> X, int n_rhs,
                               const solver::GroupObserver& observe) {
  const mpi::Comm& comm = system.A->comm();
  record.at_once = system.device == nullptr && solver::solves_at_once(*record.method, n_rhs);
  record.collectives = solver::explain_collectives(*system.A, record.method, n_rhs);
  record.findings.clear();
  record.entries_back.clear();
  if (system.preconditioner.hierarchy != nullptr) {
    for (const auto& levels : system.preconditioner.hierarchy->entries_back_in_setup()) {
      record.entries_back.push_back({0, 0, levels});
    }
  }
  if (!was_looked_at) {
    record.findings = solver::find_before_solve(system.A, system.preconditioner.hierarchy,
                                                near_null_space, B, n_rhs, record);
    near_null_space = {};
    was_looked_at = true;
  }
  const solve::Options krylov = ways_out.empty()
                                    ? record.options.krylov
                                    : solver::impatient(record.options.krylov, *record.method);
  record.times.solve += booked(comm, record.solve_accounts, [&] {
    record.reports = solver::solve_all({system.A, system.map(), system.preconditioner.hierarchy,
                                        record.method, krylov, system.device.get()},
                                       B, X, n_rhs, observe, record.entries_back);
  });
  if (!record.entries_back.empty()) describe_hierarchy();
  record.worst = solver::worst_of(record.reports);
}

/// Collective. Whether a solve that failed is to be made by another preset, which is then set up;
/// where none can be, all stays as it is.
bool Solver::State::goes_on_otherwise() {
  constexpr int most = 2;  // solves that fail, so that none takes much longer than the first
  const auto failed = std::count_if(record.attempts.begin(), record.attempts.end(),
                                    [](const solver::Attempt& a) { return !a.method.empty(); });
  if (failed >= most || ways_out.empty() ||
      !solver::may_do_otherwise(record.report(), record.options)) {
    return false;
  }
  const SolveRecord before = record;
  const solve::Report& report = before.report();
  record.attempts.push_back({before.preset.name, before.preconditioner, before.method.name(),
                             solve::to_string(report.outcome), report.iterations,
                             report.true_relative_residual});
  try {
    take_next_way(*system.A);
    record.times.setup += booked(system.A->comm(), record.setup_accounts, [&] {
      set_up_by_some_way(system.A, {});
      describe_levels();
    });
    was_looked_at = false;
    return true;
  } catch (const Error& error) {
    std::vector<solver::Attempt> attempts = std::move(record.attempts);
    attempts.push_back({record.preset.name, record.preconditioner, {}, error.what()});
    record = before;
    record.attempts = std::move(attempts);
    return false;
  }
}

/// With the rows as the system has them.
const SolveRecord& Solver::State::solve_all(std::span<const double> B, std::span<double> X,
                                            int n_rhs, const solver::GroupObserver& observe) {
  const mpi::Comm& comm = system.A->comm();
  record.rhs = solver::RhsKind::given;
  record.error.reset();
  record.n_rhs = n_rhs;
  record.times.solve = 0;
  std::vector<double> first_guess;
  if (!ways_out.empty()) {
    first_guess = mpi::collectively(comm, [&] { return std::vector<double>(X.begin(), X.end()); });
  }
  solve_once(B, X, n_rhs, observe);
  while (!record.converged() && goes_on_otherwise()) {
    std::copy(first_guess.begin(), first_guess.end(), X.begin());
    solve_once(B, X, n_rhs, observe);
  }
  solver::find_after_solve(record);
  record.memory = mpi::measure_memory(comm);
  return record;
}

/// With the rows as the system has them.
void Solver::State::precondition(std::span<const double> B, std::span<double> X, int n_rhs) const {
  const solve::Operator<double>* const M = system.map();
  if (M == nullptr) {
    std::copy(B.begin(), B.end(), X.begin());
  } else if (n_rhs == 1) {
    M->apply(B, X);
  } else {
    std::vector<double> work(2 * static_cast<std::size_t>(system.A->n_local()));
    M->apply_block(B, X, n_rhs, work);
  }
}

void Solver::precondition(std::span<const double> B, std::span<double> X, int n_rhs) const {
  const State& s = *state_;
  const auto n = static_cast<std::size_t>(layout().n_local());
  if (n_rhs < 1 || B.size() != n * static_cast<std::size_t>(n_rhs) || X.size() != B.size()) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("Solver: vectors of {} and {} numbers here, where {} of {} are to be "
                            "preconditioned",
                            B.size(), X.size(), counted(n_rhs, "column"),
                            counted(layout().n_local(), "row")));
  }
  if (offload::sets_up(s.record.options.method.device)) {
    throw Error(ErrorCode::unsupported,
                "the levels are on a device, which solves and does not "
                "precondition for others");
  }
  if (!s.placement->moves()) return s.precondition(B, X, n_rhs);
  const std::vector<double> b = s.placement->there(B, n_rhs);
  std::vector<double> x(b.size());
  s.precondition(b, x, n_rhs);
  s.placement->back(x, X, n_rhs);
}

void Solver::set_krylov(const Choice<solve::KrylovMethod>& method, const solve::Options& krylov) {
  SolveRecord& record = state_->record;
  Options next = record.options;
  next.method.solver = method;
  next.krylov = krylov;
  const mpi::Comm& comm = state_->system.A->comm();
  check(comm, next);
  const Choice<solve::KrylovMethod> chosen = solver::choose_method(next, record.matrix);
  mpi::collectively(comm, [&] {
    solver::check_method(*chosen, next);
    if (state_->system.device != nullptr && !chosen->runs_on_devices) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("`solver {}` does not run on `device {}`", chosen.name(),
                              next.method.device.name()));
    }
  });
  state_->ways_out.clear();
  record.options = std::move(next);
  record.method = chosen;
  record.solver_was_chosen = method.is_automatic();
}

std::string Solver::broken_symmetry() const {
  const solve::Operator<double>* const M = preconditioner();
  if (M == nullptr) return {};  // the identity
  if (!M->is_fixed()) return "its cycle is another map for every vector";
  if (!record().matrix.symmetric) return "the matrix is not symmetric";
  const std::string broken = M->broken_symmetry();
  return broken.empty() ? broken : "it is not symmetric, with " + broken;
}

void Solver::rebuild(const MatrixPointer& A, amg::Reuse reuse) {
  State& s = *state_;
  const mpi::Comm& comm = s.system.A->comm();
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
                                        s.system.A->ghosts().begin(), s.system.A->ghosts().end());
    mpi::collectively(comm, [&] {
      if (same_ghosts) return;
      throw Error(ErrorCode::dimension_mismatch,
                  "Solver: a rebuild needs a matrix with the pattern of the first");
    });
    const MatrixPointer next = matrix::with_blocks_where_full<double>(
        std::make_shared<const Matrix>(there->with_exchange_of(*s.system.A)),
        record.options.amg.unknowns);
    s.system.rebuild(next, record.options, reuse);
    s.describe_levels();
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
  return state_->system.A;
}

const amg::Hierarchy<double>* Solver::hierarchy() const {
  return state_->system.preconditioner.hierarchy;
}

const solve::Operator<double>* Solver::preconditioner() const {
  return state_->system.map();
}

}  // namespace nodewise
