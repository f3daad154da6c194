// The PC type nodewise beside PCGAMG and hypre's BoomerAMG, in one program and by PETSc's own
// conjugate gradients: iterations, messages, and times of setup and solve, taken in turns.
#include <ctime>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "measure.hpp"
#include "mpi_counter.hpp"
#include "petsc_matrix.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace5:500", "laplace27:50", "rotated_fe:500", "beam:10"};
  int repeats = 7;
  double tolerance = 1e-8;
  bool cpu = false;
};

struct Entrant {
  std::string name, options;
  std::vector<double> setup_s = {}, solve_s = {}, again_s = {};
  PetscInt iterations = 0;
  bool converged = false;
  std::int64_t setup_messages = 0, solve_messages = 0, solve_bytes = 0;
};

/// Point to point, or messages would not be seen.
std::vector<Entrant> entrants() {
  return {
      {"nodewise", "-pc_type nodewise -pc_nodewise_transport point_to_point"},
      {"nodewise, aggregation",
       "-pc_type nodewise -pc_nodewise_transport point_to_point -pc_nodewise_method aggregation"},
      {"gamg", "-pc_type gamg"},
      {"hypre, PETSc's defaults", "-pc_type hypre"},
      {"hypre, HMIS",
       "-pc_type hypre -pc_hypre_boomeramg_coarsen_type HMIS -pc_hypre_boomeramg_interp_type "
       "ext+i -pc_hypre_boomeramg_P_max 4 -pc_hypre_boomeramg_relax_type_all "
       "l1scaled-SOR/Jacobi"}};
}

/// A system in PETSc, with the modes of elasticity where it has any.
class PetscSystem {
 public:
  PetscSystem(const std::shared_ptr<const mpi::Comm>& comm, const Problem& problem)
      : A_(make_matrix(comm, problem)) {
    const io::GalleryOptions options{.problem = problem.name, .n = problem.n};
    const int unknowns = options.problem->unknowns;
    copy_ = make_petsc_matrix(*A_, unknowns);
    NODEWISE_PETSC(MatCreateVecs(copy_, &x_, &b_));
    put(b_, make_rhs(A_->rows()));
    if (unknowns > 1) set_modes(io::point_coordinates(A_->rows(), options));
  }
  ~PetscSystem() {
    VecDestroy(&x_);
    VecDestroy(&b_);
    MatDestroy(&copy_);
  }
  PetscSystem(const PetscSystem&) = delete;
  PetscSystem& operator=(const PetscSystem&) = delete;

  const mpi::Comm& comm() const { return A_->comm(); }
  Mat matrix() const { return copy_; }
  Vec b() const { return b_; }
  Vec x() const { return x_; }
  GlobalIndex rows() const { return A_->rows().n_global(); }
  /// Collective. The matrix has new values for PETSc, which are the old ones.
  void touch() {
    NODEWISE_PETSC(MatScale(copy_, 2));
    NODEWISE_PETSC(MatScale(copy_, 0.5));
  }

 private:
  static void put(Vec v, const std::vector<double>& values) {
    double* here = nullptr;
    NODEWISE_PETSC(VecGetArray(v, &here));
    std::copy(values.begin(), values.end(), here);
    NODEWISE_PETSC(VecRestoreArray(v, &here));
  }
  void set_modes(const std::vector<double>& points) {
    Vec coordinates = nullptr;
    MatNullSpace modes = nullptr;
    NODEWISE_PETSC(MatCreateVecs(copy_, &coordinates, nullptr));
    put(coordinates, points);
    NODEWISE_PETSC(MatNullSpaceCreateRigidBody(coordinates, &modes));
    NODEWISE_PETSC(MatSetNearNullSpace(copy_, modes));
    NODEWISE_PETSC(MatNullSpaceDestroy(&modes));
    NODEWISE_PETSC(VecDestroy(&coordinates));
  }

  std::shared_ptr<const Matrix> A_;
  Mat copy_ = nullptr;
  Vec x_ = nullptr, b_ = nullptr;
};

KSP make_solver(const PetscSystem& system, const Entrant& entrant, double tolerance) {
  static int number = 0;  // options are kept by prefix
  const std::string prefix = "entrant" + std::to_string(number++) + "_";
  NODEWISE_PETSC(PetscOptionsPrefixPush(nullptr, prefix.c_str()));
  NODEWISE_PETSC(PetscOptionsInsertString(nullptr, entrant.options.c_str()));
  NODEWISE_PETSC(PetscOptionsPrefixPop(nullptr));
  KSP ksp = nullptr;
  NODEWISE_PETSC(KSPCreate(system.comm().get(), &ksp));
  NODEWISE_PETSC(KSPSetOptionsPrefix(ksp, prefix.c_str()));
  NODEWISE_PETSC(KSPSetOperators(ksp, system.matrix(), system.matrix()));
  NODEWISE_PETSC(KSPSetType(ksp, KSPCG));
  NODEWISE_PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  NODEWISE_PETSC(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  NODEWISE_PETSC(KSPSetFromOptions(ksp));
  return ksp;
}

/// Collective. The time of `work` by the clock, or what this program computed in it.
template <class Work>
double seconds(const mpi::Comm& comm, bool of_cpu, Work&& work) {
  const std::clock_t begin = std::clock();
  const double by_the_clock = timed(comm, std::forward<Work>(work));
  const auto ticks = static_cast<double>(std::clock() - begin);
  return of_cpu ? mpi::max(comm, ticks / static_cast<double>(CLOCKS_PER_SEC)) : by_the_clock;
}

/// Collective. One setup, one solve, and the second of two setups for new values.
void measure(PetscSystem& system, Entrant& entrant, const Arguments& arguments, bool counts) {
  const mpi::Comm& comm = system.comm();
  KSP ksp = make_solver(system, entrant, arguments.tolerance);
  const auto set_up = [&] { NODEWISE_PETSC(KSPSetUp(ksp)); };
  const auto set_up_again = [&] {
    system.touch();
    NODEWISE_PETSC(KSPSetOperators(ksp, system.matrix(), system.matrix()));
    return seconds(comm, arguments.cpu, set_up);
  };
  const auto solve = [&] {
    NODEWISE_PETSC(KSPSolve(ksp, system.b(), system.x()));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    NODEWISE_PETSC(KSPGetConvergedReason(ksp, &reason));
    NODEWISE_PETSC(KSPGetIterationNumber(ksp, &entrant.iterations));
    entrant.converged = reason > 0;
  };
  if (counts) {
    const std::vector<int> nodes(static_cast<std::size_t>(comm.size()), 0);
    const test::MpiCalls of_setup = test::counted(nodes, set_up);
    solve();  // what the first one alone has to do
    const test::MpiCalls of_solve = test::counted(nodes, solve);
    entrant.setup_messages = mpi::sum(comm, of_setup.messages());
    entrant.solve_messages = mpi::sum(comm, of_solve.messages());
    entrant.solve_bytes = mpi::sum(comm, of_solve.bytes());
  } else {
    entrant.setup_s.push_back(seconds(comm, arguments.cpu, set_up));
    entrant.solve_s.push_back(seconds(comm, arguments.cpu, solve));
    set_up_again();  // the first one plans
    entrant.again_s.push_back(set_up_again());
  }
  NODEWISE_PETSC(KSPDestroy(&ksp));
}

std::string times(const std::vector<double>& mine, const std::vector<double>& first) {
  return fmt::format("{} | {}", seconds_text(spread(mine)),
                     to_text(spread(ratios(mine, first)), 2));
}

void print(const std::string& problem, const PetscSystem& system,
           const std::vector<Entrant>& entrants) {
  std::cout << fmt::format("\n**{}**, {} rows, {} ranks:\n\n", problem, system.rows(),
                           system.comm().size())
            << "| preconditioner | iterations | setup, s | / nodewise | new values, s | / nodewise "
               "| solve, s | / nodewise | messages of setup | an iteration | kB an iteration |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n";
  const Entrant& first = entrants.front();
  for (const Entrant& e : entrants) {
    const auto iterations = static_cast<double>(e.iterations);
    std::cout << fmt::format("| {} | {}{} | {} | {} | {} | {} | {:.0f} | {:.0f} |\n", e.name,
                             e.iterations, e.converged ? "" : ", NOT converged",
                             times(e.setup_s, first.setup_s), times(e.again_s, first.again_s),
                             times(e.solve_s, first.solve_s), e.setup_messages,
                             static_cast<double>(e.solve_messages) / iterations,
                             static_cast<double>(e.solve_bytes) / iterations / 1000);
  }
}

void compare(const std::shared_ptr<const mpi::Comm>& comm, const Arguments& arguments) {
  if (comm->is_root()) {
    std::cout
        << "Messages that go by persistent requests are not counted: all of gamg's solve, and "
           "PETSc's own products.\n";
  }
  for (const std::string& problem : arguments.problems) {
    PetscSystem system(comm, parse_problem(problem));
    std::vector<Entrant> all = entrants();
    for (Entrant& entrant : all) measure(system, entrant, arguments, true);
    for (int r = 0; r < arguments.repeats; ++r) {
      for (Entrant& entrant : all) measure(system, entrant, arguments, false);
    }
    if (comm->is_root()) print(problem, system, all);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the PC type nodewise with PETSc's gamg and hypre; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--repeats", arguments.repeats, "rounds, in which all take their turns")
      ->check(CLI::PositiveNumber);
  app.add_flag("--cpu", arguments.cpu,
               "processor time in place of the clock's, for one rank on a machine that others use");
  app.add_option("--tolerance", arguments.tolerance, "of the residual")->check(CLI::Range(0., 1.));
  return run_program(app, argc, argv, [&] {
    NODEWISE_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
    NODEWISE_PETSC(PetscOptionsSetValue(nullptr, "-dll_append", NODEWISE_PETSC_LIBRARY));
    NODEWISE_PETSC(PetscInitializeNoArguments());
    compare(mpi::Comm::create(MPI_COMM_WORLD), arguments);
    NODEWISE_PETSC(PetscFinalize());
  });
}
