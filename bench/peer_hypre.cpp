#include "peer_hypre.hpp"

#include <_hypre_parcsr_ls.h>
#include <_hypre_parcsr_mv.h>
#include <cmath>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_lobpcg.h>
#include <HYPRE_parcsr_ls.h>

#include "nodewise/amg/relax/jacobi.hpp"
#include "nodewise/base/error.hpp"

namespace nodewise::bench {

namespace {

// The numbers by which hypre's reference manual names these methods.
constexpr HYPRE_Int interpolation_multipass = 4;
constexpr HYPRE_Int relax_gaussian_elimination = 9;

void check(HYPRE_Int status, const char* call) {
  if (status == 0) return;
  char text[1024] = "";  // hypre writes a short description
  HYPRE_DescribeError(status, text);
  HYPRE_ClearAllErrors();
  throw Error(ErrorCode::invalid_argument, std::string(call) + ": " + text);
}

#define NODEWISE_HYPRE(call) check(call, #call)

struct Sweeps {
  HYPRE_Int down;
  HYPRE_Int up;
};

Sweeps relaxation_of(const Choice<amg::relax::SmootherMethod>& smoother) {
  const amg::SweepOrder order = amg::relax::order_of(smoother);
  const bool symmetric = order == amg::SweepOrder::symmetric;
  const bool both_ways = symmetric || order == amg::SweepOrder::coarse_fine_symmetric;
  const std::map<std::string, Sweeps> numbers = {
      {"l1_gauss_seidel", symmetric ? Sweeps{8, 8} : Sweeps{13, 14}},
      {"gauss_seidel", both_ways ? Sweeps{6, 6} : Sweeps{3, 4}},
      {"l1_jacobi", {18, 18}},
      {"jacobi", {0, 0}}};
  const auto found = numbers.find(smoother.name());
  if (found != numbers.end()) return found->second;
  throw Error(ErrorCode::unsupported, "hypre: this smoother is not compared");
}

void set_smoother(HYPRE_Solver amg, const amg::Options& options) {
  const auto [down, up] = relaxation_of(options.smoother);
  const amg::SweepCounts sweeps = amg::sweep_counts(options.cycle);
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, down, 1));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, up, 2));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleRelaxType(amg, relax_gaussian_elimination, 3));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleNumSweeps(amg, sweeps.pre_sweeps, 1));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleNumSweeps(amg, sweeps.post_sweeps, 2));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleNumSweeps(amg, 1, 3));
  const bool coarse_first = amg::goes_by_points(amg::relax::order_of(options.smoother));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetRelaxOrder(amg, coarse_first ? 1 : 0));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetRelaxWt(amg, amg::relax::jacobi_weight(options.smoother)));
}

HYPRE_Int coarsening_of(const amg::Options& options) {
  const auto& coarsening = amg::classical_options(options).coarsening;
  if (coarsening->hypre_coarsen_type) return *coarsening->hypre_coarsen_type;
  throw Error(ErrorCode::unsupported, "hypre has no such coarsening");
}

HYPRE_Int interpolation_of(const amg::Options& options) {
  const auto& given = amg::classical_options(options).interpolation;
  const Choice<amg::InterpolationMethod> formula =
      given.is_automatic() ? Choice<amg::InterpolationMethod>(options.method->interpolation)
                           : given;
  if (formula->hypre_interp_type) return *formula->hypre_interp_type;
  throw Error(ErrorCode::unsupported, "hypre has no such interpolation");
}

void set_hierarchy(HYPRE_Solver amg, const amg::Options& options) {
  const amg::ClassicalOptions& classical = amg::classical_options(options);
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCoarsenType(amg, coarsening_of(options)));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetStrongThreshold(amg, classical.strength_threshold));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxRowSum(amg, classical.max_row_sum));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetInterpType(amg, interpolation_of(options)));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetPMaxElmts(amg, classical.max_interpolation_entries));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetTruncFactor(amg, classical.interpolation_truncation));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetAggNumLevels(amg, classical.aggressive_levels));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetNumPaths(amg, classical.aggressive_paths));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetAggInterpType(amg, interpolation_multipass));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetAggPMaxElmts(amg, classical.max_interpolation_entries));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetAggTruncFactor(amg, classical.interpolation_truncation));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxLevels(amg, options.max_levels));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxCoarseSize(amg, options.max_coarse_rows));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetNumFunctions(amg, options.unknowns));  // interleaved, as ours
}

/// hypre has the first of the three ways only, with a lumping of its own. Its level l is where the
/// matrix of level l + 1 is made.
void set_sparsification(HYPRE_Solver amg, const amg::Options& options) {
  if (!options.sparsification->drops_entries) return;
  if (options.sparsification != "non_galerkin") {
    throw Error(ErrorCode::unsupported, "hypre has no such sparsification");
  }
  for (int level = 0; level + 1 < options.max_levels; ++level) {
    NODEWISE_HYPRE(HYPRE_BoomerAMGSetLevelNonGalerkinTol(
        amg, amg::drop_tolerance_of(options.sparsification, level + 1), level));
  }
}

HYPRE_Solver make_amg(const amg::Options& options, int nodal) {
  HYPRE_Solver amg = nullptr;
  NODEWISE_HYPRE(HYPRE_BoomerAMGCreate(&amg));
  set_hierarchy(amg, options);
  set_sparsification(amg, options);
  set_smoother(amg, options);
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetNodal(amg, nodal));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetCycleType(amg, 1));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxIter(amg, 1));  // one cycle: a preconditioner
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetTol(amg, 0.0));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetPrintLevel(amg, 0));
  return amg;
}

HYPRE_Solver make_cg(MPI_Comm comm, HYPRE_Solver amg) {
  HYPRE_Solver cg = nullptr;
  NODEWISE_HYPRE(HYPRE_ParCSRPCGCreate(comm, &cg));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetTwoNorm(cg, 1));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetRelChange(cg, 0));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetPrintLevel(cg, 0));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetLogging(cg, 0));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetPrecond(cg, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg));
  return cg;
}

using Csr = matrix::Csr<double>;

// Room for every row at once, so that nothing is moved while the rows are set.
void reserve_rows(HYPRE_IJMatrix ij, const Csr& on, const Csr& off) {
  std::vector<HYPRE_Int> n_on(static_cast<std::size_t>(on.n_rows)), n_off(n_on.size());
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    n_on[static_cast<std::size_t>(i)] = narrow<HYPRE_Int>(on.length(i));
    n_off[static_cast<std::size_t>(i)] = narrow<HYPRE_Int>(off.length(i));
  }
  NODEWISE_HYPRE(HYPRE_IJMatrixSetDiagOffdSizes(ij, n_on.data(), n_off.data()));
  NODEWISE_HYPRE(HYPRE_IJMatrixSetMaxOffProcElmts(ij, 0));
}

void set_rows(HYPRE_IJMatrix ij, const matrix::DistMatrix<double>& A) {
  std::vector<HYPRE_BigInt> cols;
  std::vector<double> vals;
  const auto append = [&](const Csr& rows, LocalIndex i, auto&& to_global) {
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      cols.push_back(narrow<HYPRE_BigInt>(to_global(rows.cols[at])));
      vals.push_back(rows.vals[at]);
    }
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    cols.clear();
    vals.clear();
    append(A.on(), i, [&](LocalIndex j) { return A.cols().to_global(j); });
    append(A.off(), i, [&](LocalIndex g) { return A.ghosts()[static_cast<std::size_t>(g)]; });
    const auto row = narrow<HYPRE_BigInt>(A.rows().to_global(i));
    auto n = static_cast<HYPRE_Int>(cols.size());
    NODEWISE_HYPRE(HYPRE_IJMatrixSetValues(ij, 1, &n, &row, cols.data(), vals.data()));
  }
}

HYPRE_IJMatrix make_matrix(const matrix::DistMatrix<double>& A) {
  const auto first = narrow<HYPRE_BigInt>(A.rows().begin());
  const auto last = narrow<HYPRE_BigInt>(A.rows().end() - 1);  // inclusive
  const auto first_col = narrow<HYPRE_BigInt>(A.cols().begin());
  const auto last_col = narrow<HYPRE_BigInt>(A.cols().end() - 1);
  HYPRE_IJMatrix ij = nullptr;
  NODEWISE_HYPRE(HYPRE_IJMatrixCreate(A.comm().get(), first, last, first_col, last_col, &ij));
  NODEWISE_HYPRE(HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR));
  reserve_rows(ij, A.on(), A.off());
  NODEWISE_HYPRE(HYPRE_IJMatrixInitialize(ij));
  set_rows(ij, A);
  NODEWISE_HYPRE(HYPRE_IJMatrixAssemble(ij));
  return ij;
}

HYPRE_IJVector make_vector(const comm::Layout& rows, std::span<const double> values) {
  const auto first = narrow<HYPRE_BigInt>(rows.begin());
  const auto last = narrow<HYPRE_BigInt>(rows.end() - 1);
  HYPRE_IJVector ij = nullptr;
  NODEWISE_HYPRE(HYPRE_IJVectorCreate(rows.comm().get(), first, last, &ij));
  NODEWISE_HYPRE(HYPRE_IJVectorSetObjectType(ij, HYPRE_PARCSR));
  NODEWISE_HYPRE(HYPRE_IJVectorInitialize(ij));
  if (!values.empty()) {  // without indices: this rank's values in order
    NODEWISE_HYPRE(HYPRE_IJVectorSetValues(ij, rows.n_local(), nullptr, values.data()));
  }
  NODEWISE_HYPRE(HYPRE_IJVectorAssemble(ij));
  return ij;
}

}  // namespace

HypreLibrary::HypreLibrary() {
  NODEWISE_HYPRE(HYPRE_Init());
}
HypreLibrary::~HypreLibrary() {
  HYPRE_Finalize();
}
std::string HypreLibrary::version() {
  return HYPRE_RELEASE_VERSION;
}

struct HypreSystem::Handles {
  std::shared_ptr<const mpi::Comm> comm;
  HYPRE_IJMatrix A_ij = nullptr;
  HYPRE_IJVector b_ij = nullptr;
  HYPRE_IJVector x_ij = nullptr;
  HYPRE_ParCSRMatrix A = nullptr;
  HYPRE_ParVector b = nullptr;
  HYPRE_ParVector x = nullptr;
  HYPRE_Solver amg = nullptr;
  HYPRE_Solver cg = nullptr;
};

HypreSystem::HypreSystem(const matrix::DistMatrix<double>& A, std::span<const double> b)
    : handles_(std::make_unique<Handles>()) {
  Handles& h = *handles_;
  h.comm = A.shared_comm();
  h.A_ij = make_matrix(A);
  h.b_ij = make_vector(A.rows(), b);
  h.x_ij = make_vector(A.rows(), {});
  NODEWISE_HYPRE(HYPRE_IJMatrixGetObject(h.A_ij, reinterpret_cast<void**>(&h.A)));
  NODEWISE_HYPRE(HYPRE_IJVectorGetObject(h.b_ij, reinterpret_cast<void**>(&h.b)));
  NODEWISE_HYPRE(HYPRE_IJVectorGetObject(h.x_ij, reinterpret_cast<void**>(&h.x)));
}

HypreSystem::~HypreSystem() {
  if (handles_->cg != nullptr) HYPRE_ParCSRPCGDestroy(handles_->cg);
  if (handles_->amg != nullptr) HYPRE_BoomerAMGDestroy(handles_->amg);
  HYPRE_IJVectorDestroy(handles_->x_ij);
  HYPRE_IJVectorDestroy(handles_->b_ij);
  HYPRE_IJMatrixDestroy(handles_->A_ij);
}

void HypreSystem::clear() {
  Handles& h = *handles_;
  if (h.cg != nullptr) NODEWISE_HYPRE(HYPRE_ParCSRPCGDestroy(h.cg));
  if (h.amg != nullptr) NODEWISE_HYPRE(HYPRE_BoomerAMGDestroy(h.amg));
  h.cg = nullptr;
  h.amg = nullptr;
}

void HypreSystem::setup(const amg::Options& options, int nodal) {
  clear();
  Handles& h = *handles_;
  h.amg = make_amg(options, nodal);
  h.cg = make_cg(h.comm->get(), h.amg);
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetup(h.cg, h.A, h.b, h.x));  // sets up the hierarchy, too
}

int HypreSystem::solve(double tolerance, int max_iterations) {
  Handles& h = *handles_;
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetTol(h.cg, tolerance));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSetMaxIter(h.cg, max_iterations));
  NODEWISE_HYPRE(HYPRE_ParVectorSetConstantValues(h.x, 0.0));
  NODEWISE_HYPRE(HYPRE_ParCSRPCGSolve(h.cg, h.A, h.b, h.x));
  HYPRE_Int iterations = 0;
  NODEWISE_HYPRE(HYPRE_ParCSRPCGGetNumIterations(h.cg, &iterations));
  return iterations;
}

int HypreSystem::solve_by_cycles(double tolerance, int max_iterations) {
  Handles& h = *handles_;
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetTol(h.amg, tolerance));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxIter(h.amg, max_iterations));
  NODEWISE_HYPRE(HYPRE_ParVectorSetConstantValues(h.x, 0.0));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSolve(h.amg, h.A, h.b, h.x));
  HYPRE_Int iterations = 0;
  NODEWISE_HYPRE(HYPRE_BoomerAMGGetNumIterations(h.amg, &iterations));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetTol(h.amg, 0.0));
  NODEWISE_HYPRE(HYPRE_BoomerAMGSetMaxIter(h.amg, 1));  // a preconditioner again
  return iterations;
}

HypreSystem::Eigenvalues HypreSystem::lowest_eigenvalues(int pairs, double residual,
                                                         int max_iterations, int seed) {
  Handles& h = *handles_;
  mv_InterfaceInterpreter interpreter;
  HYPRE_MatvecFunctions products;
  NODEWISE_HYPRE(HYPRE_ParCSRSetupInterpreter(&interpreter));
  NODEWISE_HYPRE(HYPRE_ParCSRSetupMatvec(&products));
  HYPRE_Solver lobpcg = nullptr;
  NODEWISE_HYPRE(HYPRE_LOBPCGCreate(&interpreter, &products, &lobpcg));
  NODEWISE_HYPRE(HYPRE_LOBPCGSetTol(lobpcg, residual));
  NODEWISE_HYPRE(HYPRE_LOBPCGSetMaxIter(lobpcg, max_iterations));
  NODEWISE_HYPRE(HYPRE_LOBPCGSetPrintLevel(lobpcg, 0));
  const auto solve = reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve);
  const auto is_set_up = [](HYPRE_Solver, HYPRE_Matrix, HYPRE_Vector, HYPRE_Vector) {
    return HYPRE_Int{0};
  };
  NODEWISE_HYPRE(HYPRE_LOBPCGSetPrecond(lobpcg, solve, is_set_up, h.amg));
  NODEWISE_HYPRE(HYPRE_LOBPCGSetup(lobpcg, reinterpret_cast<HYPRE_Matrix>(h.A),
                                   reinterpret_cast<HYPRE_Vector>(h.b),
                                   reinterpret_cast<HYPRE_Vector>(h.x)));
  mv_MultiVectorPtr vectors = mv_MultiVectorCreateFromSampleVector(&interpreter, pairs, h.x);
  mv_MultiVectorSetRandom(vectors, seed);
  Eigenvalues found;
  found.values.resize(static_cast<std::size_t>(pairs));
  HYPRE_LOBPCGSolve(lobpcg, nullptr, vectors, found.values.data());  // says so, where it ends early
  HYPRE_ClearAllErrors();
  found.iterations = HYPRE_LOBPCGIterations(lobpcg);
  mv_MultiVectorDestroy(vectors);
  NODEWISE_HYPRE(HYPRE_LOBPCGDestroy(lobpcg));
  return found;
}

void HypreSystem::solution(std::span<double> x) const {
  if (x.empty()) return;
  NODEWISE_HYPRE(
      HYPRE_IJVectorGetValues(handles_->x_ij, static_cast<HYPRE_Int>(x.size()), nullptr, x.data()));
}

double HypreSystem::relative_residual() const {
  const Handles& h = *handles_;
  double bb = 0, rr = 0;
  NODEWISE_HYPRE(HYPRE_ParVectorInnerProd(h.b, h.b, &bb));
  // b is overwritten by b - A x and restored after: no further vector, no other copy of b.
  NODEWISE_HYPRE(HYPRE_ParCSRMatrixMatvec(-1.0, h.A, h.x, 1.0, h.b));
  NODEWISE_HYPRE(HYPRE_ParVectorInnerProd(h.b, h.b, &rr));
  NODEWISE_HYPRE(HYPRE_ParCSRMatrixMatvec(1.0, h.A, h.x, 1.0, h.b));
  return std::sqrt(rr / bb);
}

namespace {

/// Collective.
PeerLevel level_of(hypre_ParCSRMatrix* A, const mpi::Comm& comm) {
  std::int64_t active = hypre_ParCSRMatrixNumRows(A) > 0 ? 1 : 0, messages = 0;
  if (hypre_ParCSRCommPkg* package = hypre_ParCSRMatrixCommPkg(A)) {
    for (HYPRE_Int k = 0; k < hypre_ParCSRCommPkgNumSends(package); ++k) {
      const int to = hypre_ParCSRCommPkgSendProc(package, k);
      messages += comm.topology().same_node(comm.rank(), to) ? 0 : 1;
    }
  }
  return {narrow<int>(mpi::sum(comm, active)), mpi::sum(comm, messages)};
}

/// Local.
std::vector<matrix::Triplet<double>> rows_of(hypre_ParCSRMatrix* A) {
  std::vector<matrix::Triplet<double>> rows;
  const auto append = [&](hypre_CSRMatrix* part, HYPRE_Int i, auto&& to_global) {
    const GlobalIndex row = hypre_ParCSRMatrixFirstRowIndex(A) + i;
    for (HYPRE_Int k = hypre_CSRMatrixI(part)[i]; k < hypre_CSRMatrixI(part)[i + 1]; ++k) {
      rows.push_back({row, to_global(hypre_CSRMatrixJ(part)[k]), hypre_CSRMatrixData(part)[k]});
    }
  };
  for (HYPRE_Int i = 0; i < hypre_ParCSRMatrixNumRows(A); ++i) {
    append(hypre_ParCSRMatrixDiag(A), i,
           [&](HYPRE_Int j) -> GlobalIndex { return hypre_ParCSRMatrixFirstColDiag(A) + j; });
    append(hypre_ParCSRMatrixOffd(A), i,
           [&](HYPRE_Int j) -> GlobalIndex { return hypre_ParCSRMatrixColMapOffd(A)[j]; });
  }
  return rows;
}

hypre_ParCSRMatrix* object_of(HYPRE_IJMatrix ij) {
  void* object = nullptr;
  NODEWISE_HYPRE(HYPRE_IJMatrixGetObject(ij, &object));
  return static_cast<hypre_ParCSRMatrix*>(object);
}

}  // namespace

HypreSystem::Hierarchy HypreSystem::hierarchy() const {
  auto* data = reinterpret_cast<hypre_ParAMGData*>(handles_->amg);
  Hierarchy result;
  result.levels = hypre_ParAMGDataNumLevels(data);
  double rows = 0, nonzeros = 0, fine_rows = 1, fine_nonzeros = 1;
  for (int level = 0; level < result.levels; ++level) {
    hypre_ParCSRMatrix* A = hypre_ParAMGDataAArray(data)[level];
    NODEWISE_HYPRE(hypre_ParCSRMatrixSetDNumNonzeros(A));
    rows += static_cast<double>(hypre_ParCSRMatrixGlobalNumRows(A));
    nonzeros += hypre_ParCSRMatrixDNumNonzeros(A);
    result.nonzeros.push_back(hypre_ParCSRMatrixDNumNonzeros(A));
    result.by_level.push_back(level_of(A, *handles_->comm));
    if (level == 0) {
      fine_rows = rows;
      fine_nonzeros = nonzeros;
    }
  }
  result.grid_complexity = rows / fine_rows;
  result.operator_complexity = nonzeros / fine_nonzeros;
  return result;
}

std::vector<matrix::Triplet<double>> HypreSystem::rows_of_level(int level) const {
  return rows_of(hypre_ParAMGDataAArray(reinterpret_cast<hypre_ParAMGData*>(handles_->amg))[level]);
}

std::vector<matrix::Triplet<double>> left_by_hypre(const HypreNonGalerkin& step) {
  HYPRE_IJMatrix coarse_ij = make_matrix(step.coarse);
  HYPRE_IJMatrix AP_ij = make_matrix(step.AP);
  hypre_ParCSRMatrix* coarse = object_of(coarse_ij);
  // The step frees the matrix that it takes; what is left is another.
  NODEWISE_HYPRE(HYPRE_IJMatrixSetObjectType(coarse_ij, -1));
  NODEWISE_HYPRE(HYPRE_IJMatrixDestroy(coarse_ij));
  NODEWISE_HYPRE(hypre_MatvecCommPkgCreate(coarse));
  std::vector<HYPRE_Int> is_coarse(static_cast<std::size_t>(step.AP.n_local()), -1);
  for (const LocalIndex i : step.coarse_rows) is_coarse[static_cast<std::size_t>(i)] = 1;
  constexpr HYPRE_Int collapses_on_both_sides = 1, beta = 1;  // as hypre's setup has them
  constexpr double lumped_part = 0.5;
  NODEWISE_HYPRE(hypre_BoomerAMGBuildNonGalerkinCoarseOperator(
      &coarse, object_of(AP_ij), step.strong_threshold, step.max_row_sum, 1, nullptr,
      is_coarse.data(), step.tolerance, collapses_on_both_sides, lumped_part, beta));
  auto rows = rows_of(coarse);
  NODEWISE_HYPRE(hypre_ParCSRMatrixDestroy(coarse));
  NODEWISE_HYPRE(HYPRE_IJMatrixDestroy(AP_ij));
  return rows;
}

}  // namespace nodewise::bench
