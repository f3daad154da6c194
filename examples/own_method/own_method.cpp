// A smoother and a coarsening of one's own, used by their names like those of the library.
//   mpirun -n 2 ./own_method [points in each direction]
//
// A method is a descriptor: its name, a line of help, what is true of it and its functions. Added
// to its family before anything chooses it, it is an option's value like any other: in
// options.set("smoother", "jacobi_pair"), in errors that list what there is, and in reports.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/nodewise.hpp"

namespace {

namespace amg = nodewise::amg;
namespace relax = nodewise::amg::relax;
using nodewise::LocalIndex;
using nodewise::Offset;
using nodewise::matrix::DistMatrix;

// ---- A smoother: two steps of Jacobi with different weights, a polynomial of degree two. ----

/// The options that are the smoother's own; their names are flat, so that they begin with its.
struct JacobiPairOptions {
  double pair_first = 0.554;  // the roots of a Chebyshev polynomial on [2/3, 2]
  double pair_second = 1.160;
};

std::span<const nodewise::Field<JacobiPairOptions>> jacobi_pair_fields() {
  static const std::vector<nodewise::Field<JacobiPairOptions>> fields = {
      nodewise::field("pair_first", &JacobiPairOptions::pair_first, "Weight of the first step", 0.0,
                      2.0),
      nodewise::field("pair_second", &JacobiPairOptions::pair_second, "Weight of the second step",
                      0.0, 2.0)};
  return fields;
}

/// x += w D^-1 (b - A x), by one weight and by the other. Symmetric, the same on any number of
/// ranks.
template <class T>
class JacobiPair final : public relax::Relaxation<T> {
 public:
  JacobiPair(const DistMatrix<T>& A, const JacobiPairOptions& options)
      : relax::Relaxation<T>(A),
        inverse_(nodewise::matrix::diagonal(A)),
        residual_(inverse_.size()),
        first_(static_cast<T>(options.pair_first)),
        second_(static_cast<T>(options.pair_second)) {
    for (T& d : inverse_) d = d == T{} ? T{} : 1 / d;  // rows with a zero diagonal are left alone
  }

  void first_sweep(std::span<const T> b, std::span<T> x) const override {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = first_ * inverse_[i] * b[i];
    step(second_, b, x);
  }
  void sweep(relax::Direction, std::span<const T> b, std::span<T> x) const override {
    step(first_, b, x);
    step(second_, b, x);
  }
  std::size_t memory_bytes() const override {
    return (inverse_.size() + residual_.size()) * sizeof(T);
  }

 private:
  /// Collective: one exchange, in the product.
  void step(T weight, std::span<const T> b, std::span<T> x) const {
    nodewise::matrix::residual(this->A_, std::span<const T>(x), b, std::span<T>(residual_));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += weight * inverse_[i] * residual_[i];
  }

  nodewise::Array<T> inverse_;
  mutable std::vector<T> residual_;
  T first_, second_;
};

template <class T>
std::unique_ptr<const relax::Relaxation<T>> make_pair_of_steps(
    const DistMatrix<T>& A, const nodewise::Choice<relax::SmootherMethod>& smoother,
    const relax::MatrixFacts& /*facts*/) {
  return std::make_unique<JacobiPair<T>>(A, smoother.options<JacobiPairOptions>());
}

const relax::SmootherMethod& jacobi_pair() {
  static const relax::SmootherMethod method = {
      {"jacobi_pair", "two steps of Jacobi with different weights", "",
       nodewise::own_options(jacobi_pair_fields)},
      {
          .l1_terms = relax::L1Terms::none,
          .is_safe_where_indefinite = false,
          .blocks = relax::BlockUse::never,
          .needs_spectral_radius = false,
          .is_hybrid = false,
          .safe_form = "",
          .order = nullptr,
          .exchanges =
              [](const nodewise::Choice<relax::SmootherMethod>&) {
                return relax::SweepExchanges{.exchanges = 2, .exchanges_from_zero = 1, .passes = 2};
              },
          .work = [](const relax::SweepQuery&) -> nodewise::Answer<relax::SweepWork> {
            return nodewise::Unanswered{"jacobi_pair does not say what it moves"};
          },
          .in_double = make_pair_of_steps<double>,
          .in_float = make_pair_of_steps<float>,
      }};
  return method;
}

// ---- A coarsening: each rank goes through its rows and takes what no coarse point covers yet.
// ----

/// Local. Calls f(column) for the rank's own points that point i depends on strongly.
template <class T, class F>
void for_strong_neighbours(const DistMatrix<T>& A, const amg::Strength& strength, LocalIndex i,
                           F&& f) {
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (strength.on[p]) f(static_cast<std::size_t>(A.on().cols[p]));
  }
}

/// Sends nothing: a point is coarse unless one of this rank's coarse points before it is a strong
/// neighbour, from which it can be interpolated.
template <class T>
amg::coarsen::Splitting split_greedily(const amg::SplittingCall<T>& call) {
  const auto n = static_cast<std::size_t>(call.A.n_local());
  amg::coarsen::Splitting splitting(n, amg::coarsen::fine);
  for (std::size_t i = 0; i < n; ++i) {
    bool depends = false, is_covered = false;
    for_strong_neighbours(call.A, call.strength, static_cast<LocalIndex>(i), [&](std::size_t j) {
      depends = true;
      is_covered = is_covered || splitting[j] == amg::coarsen::coarse;
    });
    if (depends && !is_covered) splitting[i] = amg::coarsen::coarse;
  }
  return splitting;
}

const amg::CoarseningMethod& greedy_coarsening() {
  static const amg::CoarseningMethod method = {
      {"greedy", "each rank takes its points in their order, unless one before covers them", ""},
      false,  // ranks do not look at each other: another splitting on another number of them
      nodewise::Unanswered{"greedy does not say what it sends"},
      split_greedily<double>,
      split_greedily<float>};
  return method;
}

bool solve(int n) {
  relax::SmootherMethod::family().add(jacobi_pair());
  amg::CoarseningMethod::family().add(greedy_coarsening());

  const auto comm = nodewise::Comm::create(MPI_COMM_WORLD);
  nodewise::GalleryOptions problem;
  problem.n = n;
  const auto A = nodewise::shared(nodewise::generate<double>(comm, problem));

  nodewise::SolverOptions options;
  options.set("coarsening", "greedy");
  options.set("smoother", "jacobi_pair");
  options.set("pair_first", "0.6");
  nodewise::Solver solver(A, options);

  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const auto result = solver.solve(b, x);
  if (comm->is_root()) {
    std::printf("coarsening %s, smoother %s, pair_first %s: %zu levels, %s after %d iterations\n",
                result.options.get("coarsening").c_str(), result.options.get("smoother").c_str(),
                result.options.get("pair_first").c_str(), result.levels.size(),
                nodewise::solve::to_string(result.report().outcome), result.iterations());
    const std::string json = nodewise::report::solve_json(result);
    std::printf("%s\n", json.find("\"smoother\": \"jacobi_pair\"") != std::string::npos
                            ? "the report names them"
                            : "the report does NOT name them");
  }
  return result.converged();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = solve(argc > 1 ? std::atoi(argv[1]) : 16) ? 0 : 1;
  } catch (const nodewise::Error& error) {  // the same on every rank
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
