#include "petsc/preconditioner.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"

#include "petsc/errors.hpp"
#include "petsc/knowledge.hpp"

namespace nodewise::petsc {

namespace {

/// The most rows of a point that the library knows.
constexpr int max_unknowns = 64;

std::size_t hash_of_communication(mpi::CommSettings settings) {
  return hash_of(view(settings, mpi::setting_fields()));
}

}  // namespace

void Preconditioner::prepare(MPI_Comm user) {
  if (!comm_) comm_ = mpi::Comm::create(user, settings_.comm);
}

void Preconditioner::set_options(MPI_Comm user, const GivenOptions& given) {
  prepare(user);
  Settings settings = mpi::collectively(*comm_, [&] { return settings_of(given); });
  const auto communication = hash_of_communication(settings.comm);
  mpi::agree_on_same(*comm_, {}, {communication, "the options of communication"});
  if (given.values == given_) return;
  if (communication != hash_of_communication(settings_.comm)) {
    reset();
    comm_ = mpi::Comm::create(user, settings.comm);
  }
  settings_ = std::move(settings);
  given_ = given.values;
  options_changed_ = true;
}

void Preconditioner::set_coordinates(int dimensions, std::vector<double> values) {
  dimensions_ = dimensions;
  coordinates_ = std::move(values);
  options_changed_ = true;
}

solver::Problem Preconditioner::problem_of(Mat A) const {
  solver::Problem problem;
  problem.near_null_space = near_null_space_of(A);
  // Coordinates are for elasticity; of other problems the library makes nothing of them.
  if (problem.near_null_space.n_vectors == 0 && dimensions_ > 1 && block_size(A) == dimensions_) {
    problem.coordinates = coordinates_;
    problem.dimensions = dimensions_;
  }
  return problem;
}

solver::Options Preconditioner::options_for(Mat A) const {
  solver::Options options = settings_.solver;
  const auto set_unless_given = [&](const char* name, const std::string& value) {
    if (!options.has(name)) options.set(name, value);
  };
  const int unknowns = block_size(A);
  if (unknowns > 1 && unknowns <= max_unknowns) {
    set_unless_given("unknowns", std::to_string(unknowns));
  }
  // Which Krylov method this is for a PC does not know; some multiply what single precision leaves.
  set_unless_given("precision", "same");
  return options;
}

void Preconditioner::set_up_anew(Mat A) {
  solver_.reset();  // there may be room for one only
  matrix_.take(A, comm_);
  const solver::Options options = options_for(A);
  const solver::Problem problem = mpi::collectively(*comm_, [&] { return problem_of(A); });
  solver_.emplace(matrix_.matrix, options, problem);
  options_changed_ = false;
}

void Preconditioner::set_up(MPI_Comm user, Mat A, bool has_same_places) {
  prepare(user);
  const bool rebuilds =
      has_same_places && solver_ && !options_changed_ && settings_.reuse != Keeps::nothing;
  try {
    if (mpi::min(*comm_, std::int32_t{rebuilds}) == 0) return set_up_anew(A);
    matrix_.take_values(A);
    solver_->rebuild(matrix_.matrix, settings_.reuse == Keeps::splitting
                                         ? amg::Reuse::splitting
                                         : amg::Reuse::interpolation);
  } catch (...) {
    reset();  // PETSc takes the PC for set up, and would go on with the old one
    throw;
  }
}

void Preconditioner::require_set_up() const {
  if (!solver_) {
    throw Error(ErrorCode::invalid_argument,
                "the preconditioner cannot be applied: its last setup failed");
  }
}

void Preconditioner::apply(std::span<const double> B, std::span<double> X, int n) const {
  require_set_up();
  solver_->precondition(B, X, n);
}

void Preconditioner::require_symmetric() const {
  require_set_up();
  const std::string why = solver_->broken_symmetry();
  if (why.empty()) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("PCApplyTranspose: a preconditioner that is not its own transpose cannot "
                          "be transposed: {}",
                          why));
}

void Preconditioner::reset() {
  solver_.reset();
  matrix_ = {};
}

}  // namespace nodewise::petsc
