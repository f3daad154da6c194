// Nodewise beside hypre: the same matrix, right-hand side, choices and tolerance, in one process.
// Iterations are to be hypre's within one, operator complexities within 3 %.
//
// Both draw weights by which equal points are told apart, each its own. What those are worth is
// measured: Nodewise solves with up to five seeds, and hypre's figures are to be within those
// bounds of what these give. Where the weights do not matter they all give one number.
//
// The real matrices are not part of the repository: CMake's NODEWISE_MATRIX_DIR names the directory
// of their gzip'd Matrix Market files, and a matrix that is not there is skipped, which the output
// says.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "bench/peer_hypre.hpp"
#include "smoother_support.hpp"
#include "support.hpp"

namespace nodewise {
namespace {

using Matrix = matrix::DistMatrix<double>;

constexpr double tolerance = 1e-8;
constexpr int max_iterations = 1000;

/// What both are told, and where they are compared.
struct Choice {
  const char* name;
  std::string_view coarsening;
  std::string_view interpolation;
  int entries;  // most of a row of the interpolation; 0: all
  const char* smoother;
  amg::SweepOrder order;
  bool on_one_rank_only = false;
  int aggressive_levels = 0;
  int aggressive_paths = 1;
};

// hypre's coarsenings 10, 8, 6 and 0, interpolations 6, 0 and 8, relaxations 13 and 14, or 6; with
// C before F in its relaxation order 1, which on several ranks has an exchange more.
constexpr Choice choices[] = {
    {"HMIS, l1", "hmis", "extended_i", 4, "l1_gauss_seidel", amg::SweepOrder::forward_backward},
    {"HMIS, symmetric", "hmis", "extended_i", 4, "gauss_seidel", amg::SweepOrder::symmetric},
    {"PMIS, l1", "pmis", "extended_i", 4, "l1_gauss_seidel", amg::SweepOrder::forward_backward},
    {"HMIS, C before F", "hmis", "extended_i", 4, "l1_gauss_seidel", amg::SweepOrder::coarse_fine,
     true},
    {"HMIS, C before F, symmetric", "hmis", "extended_i", 4, "gauss_seidel",
     amg::SweepOrder::coarse_fine_symmetric, true},
    {"Falgout", "falgout", "modified_classical", 0, "l1_gauss_seidel",
     amg::SweepOrder::forward_backward, true},
    {"CLJP, modified classical", "cljp", "modified_classical", 0, "l1_gauss_seidel",
     amg::SweepOrder::forward_backward, true},
    {"CLJP, standard", "cljp", "standard", 4, "l1_gauss_seidel", amg::SweepOrder::forward_backward,
     true},
    {"HMIS, aggressive", "hmis", "extended_i", 4, "l1_gauss_seidel",
     amg::SweepOrder::forward_backward, true, 1, 1},
    {"CLJP, aggressive, two paths", "cljp", "extended_i", 4, "l1_gauss_seidel",
     amg::SweepOrder::forward_backward, true, 1, 2},
};

/// How far the two may be apart beyond what seeds explain.
struct Bounds {
  int iterations = 1;
  double of_iterations = 0;   // or that share of hypre's, where it is more
  double complexity = 0.03;   // relative
  double sparser = 0.03;      // where ours is the lower one
  bool may_be_fewer = false;  // iterations than hypre's, by any number
};

struct System {
  const char* name;
  int n = 0;               // of a model problem; 0: a file
  int seeds = 5;           // at most
  bool is_hard = false;    // hundreds of iterations: by the first choice alone
  bool has_units = false;  // rows of different size, which hypre's l1 terms depend on

  friend std::ostream& operator<<(std::ostream& out, const System& s) { return out << s.name; }
};

// Left out are hypre_ams_edge, which neither solves in a thousand iterations, nasa4704, which
// either solves in 900 on one rank and neither on four, and the larger of two beams.
constexpr System systems[] = {
    {"laplace27", 40},
    {"rotated_fe", 250},
    {"1138_bus"},
    {"evsl_stiff1"},
    {"bcsstk16"},
    {.name = "pyamg_bar", .has_units = true},
    {.name = "pyamg_ldg", .has_units = true},
    {"ibmpg1"},
    {"hypre_beam_tet_2475"},
    {.name = "s1rmq4m1", .has_units = true},
    {"fem_dg_24k"},
    {"fem_actii_poisson"},
    {"rail_79841"},
    {"fem_beam_16k", 0, 1, true},
    {"bcsstk18", 0, 1, true, true},
};

/// What a solve gave.
struct Figures {
  int iterations = 0;
  double complexity = 0;
};

std::shared_ptr<const Matrix> make_system(const System& system, const std::string& path) {
  if (system.n == 0) {
    return std::make_shared<const Matrix>(io::read_matrix<double>(test::test_comm(), path));
  }
  io::GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", system.name);
  options.n = system.n;
  return std::make_shared<const Matrix>(io::generate<double>(test::test_comm(), options));
}

std::vector<double> right_hand_side(const comm::Layout& layout) {
  std::vector<double> b;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
    b.push_back(hash_normal(static_cast<std::uint64_t>(i)));
  }
  return b;
}

double norm(const mpi::Comm& comm, const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(mpi::sum(comm, squares));
}

double true_residual(const Matrix& A, const std::vector<double>& x, const std::vector<double>& b) {
  std::vector<double> r(b.size());
  matrix::residual(A, std::span<const double>(x), std::span<const double>(b), std::span<double>(r));
  return norm(A.comm(), r) / norm(A.comm(), b);
}

amg::Options options_of(const Choice& choice) {
  amg::Options options;
  options.set("strength_measure", "opposite_sign");  // as hypre
  options.set("coarsening", choice.coarsening);
  options.set("interpolation", choice.interpolation);
  options.set("max_interpolation_entries", choice.entries);
  options.smoother = choice.smoother;
  amg::set_order(options, choice.order);
  options.set("aggressive_levels", choice.aggressive_levels);
  options.set("aggressive_paths", choice.aggressive_paths);
  return options;
}

Figures of_nodewise(const std::shared_ptr<const Matrix>& A, const std::vector<double>& b,
                    const amg::Options& options) {
  amg::ProblemInfo<double> symmetric;
  symmetric.symmetric = true;
  const amg::Hierarchy<double> hierarchy(A, options, std::move(symmetric));
  std::vector<double> x(b.size(), 0.0);
  solve::Options settings;
  settings.tolerance = tolerance;
  settings.max_iterations = max_iterations;
  const solve::Report report =
      solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, settings);
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  EXPECT_LE(true_residual(*A, x, b), tolerance);
  return {report.iterations, hierarchy.operator_complexity()};
}

/// hypre tests the residual of its recurrence: it is asked for less until the true one is small
/// enough.
Figures of_hypre(const Matrix& A, const std::vector<double>& b, bench::HypreSystem& system,
                 const amg::Options& options) {
  system.setup(options);
  std::vector<double> x(b.size());
  double asked = tolerance;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const int iterations = system.solve(asked, max_iterations);
    system.solution(x);
    const double residual = true_residual(A, x, b);
    if (residual <= tolerance) return {iterations, system.hierarchy().operator_complexity};
    asked *= 0.9 * tolerance / residual;
  }
  ADD_FAILURE() << "hypre does not get there";
  return {};
}

std::string text_of(const std::vector<Figures>& all) {
  std::string text;
  for (const Figures& f : all) text += (text.empty() ? "" : " ") + std::to_string(f.iterations);
  return text;
}

/// What is known to differ, and why.
Bounds bounds_of(const System& system, const Choice& choice) {
  const std::string name = system.name;
  const bool is_hmis = choice.coarsening == "hmis";
  // In hypre's second pass of Ruge-Stüben the mark that a point has been made coarse for another's
  // sake is left for the next point, which is then made coarse itself sooner.
  if (choice.coarsening == "falgout") return {.iterations = 2, .sparser = 0.25};
  if (system.is_hard) return {.of_iterations = 0.02};
  // hypre's coarse levels have 60 rows fewer, and it takes two iterations more.
  if (name == "rail_79841" && choice.aggressive_levels > 0) return {.may_be_fewer = true};
  // Of equal weights in a row Nodewise keeps those at both ends, and has sparser coarse levels.
  if (name == "laplace27" && is_hmis) return {.sparser = 0.08};
  // In hypre's first pass points that none depends on are fine before the others, and what they
  // depend on is wanted more: on one rank 980 coarse points instead of 1012, and with them hypre's
  // number of iterations. The shell's many such points make PMIS depend on its weights, too.
  if (name == "s1rmq4m1") return {.of_iterations = 0.06};
  // A thousand rows on four ranks: in the small levels each point counts.
  if (name == "1138_bus" && is_hmis) return {.complexity = 0.05, .sparser = 0.05};
  return {};
}

/// Whether hypre's figures are as far from those with the seeds as the bounds allow.
bool is_near(const Figures& hypre, const std::vector<Figures>& ours, const Bounds& bounds) {
  const double apart = std::max<double>(bounds.iterations, bounds.of_iterations * hypre.iterations);
  const auto [fewest, most] = std::ranges::minmax(ours, {}, &Figures::iterations);
  const auto [least, largest] = std::ranges::minmax(ours, {}, &Figures::complexity);
  return hypre.iterations + apart >= fewest.iterations &&
         (bounds.may_be_fewer || hypre.iterations - apart <= most.iterations) &&
         hypre.complexity * (1 + bounds.complexity) >= least.complexity &&
         hypre.complexity * (1 - bounds.sparser) <= largest.complexity;
}

class BesideHypre : public testing::TestWithParam<System> {
 protected:
  static void SetUpTestSuite() { library_.emplace(); }
  static void TearDownTestSuite() { library_.reset(); }

 private:
  static std::optional<bench::HypreLibrary> library_;
};
std::optional<bench::HypreLibrary> BesideHypre::library_;

bool is_compared(const System& system, const Choice& choice) {
  if (choice.on_one_rank_only && test::test_comm()->size() > 1) return false;
  return !system.is_hard || &choice == &choices[0];
}

/// Collective. Solves by both and compares them.
void compare(const System& system, const Choice& choice, const std::shared_ptr<const Matrix>& A,
             const std::vector<double>& b, bench::HypreSystem& peer) {
  SCOPED_TRACE(choice.name);
  amg::Options options = options_of(choice);
  const Figures hypre = of_hypre(*A, b, peer, options);
  Bounds bounds = bounds_of(system, choice);
  // On several ranks hypre's l1 terms are plain sums; on one there are none.
  bounds.may_be_fewer |= system.has_units &&
                         nodewise::Choice<amg::relax::SmootherMethod>(choice.smoother)->is_l1() &&
                         A->comm().size() > 1;
  // More seeds widen what is allowed: none is tried once hypre's figures are within it.
  std::vector<Figures> ours;
  bool near = false;
  for (int seed = 0; seed < system.seeds && !near; ++seed) {
    options.seed = seed;
    ours.push_back(of_nodewise(A, b, options));
    near = is_near(hypre, ours, bounds);
  }
  if (A->comm().is_root()) {
    std::printf("  %-20s %-27s iterations %s, hypre %d; complexity %.3f, hypre %.3f\n", system.name,
                choice.name, text_of(ours).c_str(), hypre.iterations, ours.front().complexity,
                hypre.complexity);
  }
  EXPECT_TRUE(near);
}

TEST_P(BesideHypre, TakesAsManyIterationsAndAsMuchMemory) {
  const System& system = GetParam();
  const std::string path = std::string(NODEWISE_MATRIX_DIR) + "/" + system.name + ".mtx.gz";
  if (system.n == 0 && !std::filesystem::exists(path)) {
    GTEST_SKIP() << "NOT TESTED: there is no " << path
                 << "; NODEWISE_MATRIX_DIR names the directory of the matrices";
  }
  const std::shared_ptr<const Matrix> A = make_system(system, path);
  const std::vector<double> b = right_hand_side(A->rows());
  bench::HypreSystem peer(*A, b);
  for (const Choice& choice : choices) {
    if (is_compared(system, choice)) compare(system, choice, A, b, peer);
  }
}

/// V(1,1)-cycles alone for a right-hand side of ones, relaxed as in the choice of that name.
struct Cycles {
  System system;
  const char* relaxation;
  int entries = 0;
  bool is_falgout = false;  // with modified classical interpolation
  int apart = 1;            // at most
};

void compare_cycles(const Cycles& cycles) {
  const Choice& choice =
      *std::ranges::find(choices, std::string_view(cycles.relaxation), &Choice::name);
  amg::Options options = options_of(choice);
  options.set("max_interpolation_entries", cycles.entries);
  if (cycles.is_falgout) {
    options.set("coarsening", "falgout");
    options.set("interpolation", "modified_classical");
  }
  const std::shared_ptr<const Matrix> A = make_system(cycles.system, "");
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  bench::HypreSystem peer(*A, b);
  peer.setup(options);
  const int of_hypre = peer.solve_by_cycles(tolerance, max_iterations);
  EXPECT_LE(peer.relative_residual(), tolerance);
  amg::ProblemInfo<double> symmetric;
  symmetric.symmetric = true;
  const amg::Hierarchy<double> hierarchy(A, options, std::move(symmetric));
  std::vector<double> x(b.size(), 0.0);
  const solve::Report report =
      solve::stationary<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  EXPECT_LE(true_residual(*A, x, b), tolerance);
  std::printf("  %-10s n = %-4d %-27s%s %d entries: cycles %d, hypre %d\n", cycles.system.name,
              cycles.system.n, choice.name, cycles.is_falgout ? ", Falgout" : "", cycles.entries,
              report.iterations, of_hypre);
  EXPECT_LE(std::abs(report.iterations - of_hypre), cycles.apart);
}

// On one rank, where the sweeps are the same in either order, and the levels but for two: of equal
// weights Nodewise keeps those at both ends of a row, and after Falgout's splitting of the rotated
// problem the levels from the third on have other rows than hypre's (at 300 it takes 45 cycles,
// hypre 37).
TEST(CyclesBesideHypre, AreAsManyInEitherOrderOfRelaxation) {
  if (test::test_comm()->size() > 1) GTEST_SKIP() << "on one rank only";
  const bench::HypreLibrary library;
  for (const Choice& choice : choices) {
    if (choice.coarsening != "hmis" || choice.aggressive_levels > 0) continue;
    compare_cycles({{"laplace27", 30}, choice.name});
    compare_cycles({{"rotated_fe", 200}, choice.name});
    compare_cycles({{"rotated_fe", 200}, choice.name, 4});
  }
  constexpr System cube{"laplace27", 30};
  constexpr System square{"rotated_fe", 500};
  for (const Cycles& cycles : {Cycles{cube, "Falgout"}, Cycles{cube, "HMIS, C before F", 0, true},
                               Cycles{square, "HMIS, C before F", 0, true, 2},
                               Cycles{square, "HMIS, C before F, symmetric", 0, true}}) {
    compare_cycles(cycles);
  }
}

std::string test_name(const testing::TestParamInfo<System>& info) {
  return std::string("of_") + info.param.name;
}

/// Collective. Nonzeros of the levels of both, the finest first.
std::string entries_text(std::span<const amg::LevelInfo> ours,
                         const bench::HypreSystem::Hierarchy& hypre) {
  std::string text;
  for (std::size_t l = 0; l < std::max(ours.size(), hypre.nonzeros.size()); ++l) {
    text += " " + (l < ours.size() ? std::to_string(ours[l].nonzeros) : "-") + "/" +
            (l < hypre.nonzeros.size() ? std::to_string(static_cast<GlobalIndex>(hypre.nonzeros[l]))
                                       : "-");
  }
  return text;
}

// Lumping `strong` is not hypre's. What goes is the same: on the rotated problem the first coarse
// levels have the same entries. The levels of laplace27 differ as they do without (bounds_of).
TEST(NonGalerkinBesideHypre, TakesNoMoreIterationsAndDropsTheSame) {
  if (test::test_comm()->size() > 1) GTEST_SKIP() << "on one rank only";
  const bench::HypreLibrary library;
  for (const System& system : {System{"laplace27", 40}, System{"rotated_fe", 250}}) {
    const std::shared_ptr<const Matrix> A = make_system(system, "");
    const std::vector<double> b = right_hand_side(A->rows());
    bench::HypreSystem peer(*A, b);
    for (const char* list : {"0.01", "0.1", "0,0.1", "0,0,0,0.1", "0,0,0,0.01,0.1,1"}) {
      SCOPED_TRACE(testing::Message() << system.name << ", " << list);
      amg::Options options = options_of(choices[1]);
      options.set("sparsification", "non_galerkin");
      options.set("lumping", "strong");
      options.set("drop_tolerance", list);
      const Figures hypre = of_hypre(*A, b, peer, options);
      const Figures ours = of_nodewise(A, b, options);
      const amg::Hierarchy<double> hierarchy(A, options);
      const auto theirs = peer.hierarchy();
      std::printf("  %-10s %-18s iterations %d, hypre %d; entries%s\n", system.name, list,
                  ours.iterations, hypre.iterations,
                  entries_text(hierarchy.levels(), theirs).c_str());
      EXPECT_LE(ours.iterations, hypre.iterations + 1);
      for (std::size_t l = 1; system.name == std::string("rotated_fe") && l < 3; ++l) {
        const auto entries = static_cast<double>(hierarchy.levels()[l].nonzeros);
        EXPECT_NEAR(entries, theirs.nonzeros.at(l), 0.03 * entries);
      }
    }
  }
}

/// How far this rank's rows are from hypre's.
struct RowsApart {
  GlobalIndex n_apart = 0;  // entries that one has and the other has not
  double difference = 0, largest = 0;
};

RowsApart rows_apart(const Matrix& A, const std::vector<matrix::Triplet<double>>& theirs) {
  std::map<std::pair<GlobalIndex, GlobalIndex>, double> left;
  for (const matrix::Triplet<double>& entry : theirs) left[{entry.row, entry.col}] = entry.value;
  RowsApart rows;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    matrix::for_each_in_row(A, i, [&](GlobalIndex column, double value) {
      rows.largest = std::max(rows.largest, std::abs(value));
      const auto found = left.find({A.rows().to_global(i), column});
      if (found == left.end()) {
        ++rows.n_apart;
        return;
      }
      rows.difference = std::max(rows.difference, std::abs(value - found->second));
      left.erase(found);
    });
  }
  rows.n_apart += static_cast<GlobalIndex>(left.size());
  return rows;
}

/// Where coarse matrices lose entries as hypre drops them.
struct SparserChoice {
  System system;
  const char* coarsening;
  int entries;  // most of a row of the interpolation; 0: all
  /// Whether the levels have the same entries: hypre's weights are of no account, and there are no
  /// equal ones of which either keeps its own.
  bool same_levels;
};

/// Collective. Compares iterations, and the entries of the levels.
void compare_sparser(const SparserChoice& choice, const std::string& list,
                     const std::shared_ptr<const Matrix>& A, const std::vector<double>& b,
                     bench::HypreSystem& peer) {
  SCOPED_TRACE(testing::Message() << choice.system.name << ", " << choice.coarsening << ", "
                                  << choice.entries << ", " << list);
  amg::Options options = options_of(choices[1]);
  options.set("coarsening", choice.coarsening);
  options.set("max_interpolation_entries", choice.entries);
  options.set("sparsification", "non_galerkin");
  options.set("lumping", "hypre");
  options.set("drop_tolerance", list);
  const Figures hypre = of_hypre(*A, b, peer, options);
  const Figures ours = of_nodewise(A, b, options);
  const amg::Hierarchy<double> hierarchy(A, options);
  const auto theirs = peer.hierarchy();
  std::printf("  %-10s %s, %d entries, %-18s iterations %d, hypre %d; entries%s\n",
              choice.system.name, choice.coarsening, choice.entries, list.c_str(), ours.iterations,
              hypre.iterations, entries_text(hierarchy.levels(), theirs).c_str());
  EXPECT_LE(std::abs(ours.iterations - hypre.iterations), 1);
  const std::size_t last = hierarchy.levels().size() - 1;  // is solved, and loses nothing here
  for (std::size_t l = 1; l < (choice.same_levels ? last : 2); ++l) {
    const auto entries = static_cast<double>(hierarchy.levels()[l].nonzeros);
    const double apart = choice.same_levels ? 0 : 0.03 * entries;
    EXPECT_NEAR(entries, theirs.nonzeros.at(l), apart) << "level " << l;
    if (!choice.same_levels) continue;
    const RowsApart rows =
        rows_apart(*hierarchy.matrix(l), peer.rows_of_level(static_cast<int>(l)));
    EXPECT_EQ(rows.n_apart, 0) << "level " << l;
    EXPECT_LE(rows.difference, 1e-10 * rows.largest) << "level " << l;
  }
}

// With PMIS the levels depend on the weights that each draws, and differ from the second on as they
// do without; with HMIS on one rank they do not. Of equal couplings of laplace27 either keeps its
// own in a row of four, so that rows are whole there.
TEST(NonGalerkinBesideHypre, LeavesTheSameLevels) {
  if (test::test_comm()->size() > 1) GTEST_SKIP() << "on one rank only";
  const bench::HypreLibrary library;
  constexpr System cube{"laplace27", 22}, square{"rotated_fe", 125};
  for (const System& system : {cube, square}) {
    const std::shared_ptr<const Matrix> A = make_system(system, "");
    const std::vector<double> b = right_hand_side(A->rows());
    bench::HypreSystem peer(*A, b);
    for (const char* list : {"0.01", "0.1", "1", "0,0.1", "0,0,0,0.1", "0,0,0,0.01,0.1,1"}) {
      compare_sparser({system, "hmis", 0, true}, list, A, b, peer);
      compare_sparser({system, "pmis", 4, false}, list, A, b, peer);
      if (system.n == square.n) compare_sparser({system, "hmis", 4, true}, list, A, b, peer);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, BesideHypre, testing::ValuesIn(systems), test_name);

}  // namespace
}  // namespace nodewise
