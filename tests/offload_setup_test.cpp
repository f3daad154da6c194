// Levels that are set up on a device, beside those of the host. `host` runs the kernels of a card.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/offload/setup_levels.hpp"

#include "collective_error.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace offload_setup_test {

using device::Host;
using testing::HasSubstr;
using Matrix = matrix::DistMatrix<double>;
using Pointer = std::shared_ptr<const Matrix>;
using Csr = kernels::Csr<double>;
using Given = std::vector<std::pair<const char*, const char*>>;

/// New memory of devices holds no numbers while one of these is there.
struct PoisonedMemory {
  PoisonedMemory() { device::detail::poisons_new_memory = true; }
  ~PoisonedMemory() { device::detail::poisons_new_memory = false; }
};

/// Every rank by itself: a device sets up for one rank.
std::shared_ptr<const mpi::Comm> alone() {
  return mpi::Comm::create(MPI_COMM_SELF);
}

Pointer problem(const char* name, int n, std::shared_ptr<const mpi::Comm> comm = alone()) {
  GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", name);
  options.n = n;
  return std::make_shared<const Matrix>(generate<double>(std::move(comm), options));
}

/// A graph's Laplacian with weights in units from `small` to one, plus `shift` times the diagonal.
/// Every 17th point has no neighbour; the first one has all the others where that is asked for.
Pointer random_spd(GlobalIndex n, bool has_hub, double small, double shift, std::uint64_t seed) {
  const auto weight = [=](GlobalIndex i, GlobalIndex j) -> double {
    if (i > j) std::swap(i, j);
    if (i == j || i % 17 == 5 || j % 17 == 5) return 0;
    const auto key = static_cast<std::uint64_t>(i * n + j);
    const double u = hash_uniform(key, seed);
    const bool is_there = (has_hub && i == 0) || j == i + 1 || u * static_cast<double>(n) < 4;
    return is_there ? std::pow(small, hash_uniform(key, seed + 1)) : 0;
  };
  const comm::Layout rows = comm::Layout::uniform(alone(), n);
  return std::make_shared<const Matrix>(
      matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, const auto& emit) {
        double sum = 0;
        for (GlobalIndex j = 0; j < n; ++j) {
          const double w = weight(i, j);
          sum += w;
          if (w != 0) emit(j, -w);
        }
        emit(i, sum * (1 + shift) + (sum == 0 ? 1 : 0));
      }));
}

/// Isolated parts whose rows sum up to zero, which end as points of nothing but rounding.
Pointer parts_without_boundary(GlobalIndex n_parts, GlobalIndex size) {
  const comm::Layout rows = comm::Layout::uniform(alone(), n_parts * size);
  return std::make_shared<const Matrix>(
      matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, const auto& emit) {
        double sum = 0;
        for (const GlobalIndex j : {i - 1, i + 1}) {
          if (j < 0 || j >= n_parts * size || j / size != i / size) continue;
          const double w = 0.1 + 0.01 * static_cast<double>(std::min(i, j) % 7);
          emit(j, -w);
          sum += w;
        }
        emit(i, sum);
      }));
}

amg::Options options_of(const Given& given) {
  amg::Options options;
  options.set("method", "aggregation");
  options.set("smoother", "chebyshev");
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

double largest_of_row(const Csr& A, LocalIndex i) {
  double largest = 0;
  for (auto k = A.begin(i); k < A.end(i); ++k) {
    largest = std::max(largest, std::abs(A.vals[static_cast<std::size_t>(k)]));
  }
  return largest;
}

/// A row of round-off becomes zero, and one of zeros that of a unit matrix.
bool is_zero_or_one(const Csr& A, LocalIndex i) {
  if (A.length(i) != 1) return false;
  const double value = A.vals[static_cast<std::size_t>(A.begin(i))];
  return value == 0 || value == 1;
}

void expect_same(const char* what, const Csr& made, const Csr& expected, double of_radii) {
  SCOPED_TRACE(what);
  ASSERT_EQ(made.n_rows, expected.n_rows);
  ASSERT_EQ(made.n_cols, expected.n_cols);
  ASSERT_TRUE(std::equal(made.row_ptr.begin(), made.row_ptr.end(), expected.row_ptr.begin(),
                         expected.row_ptr.end()));
  ASSERT_TRUE(
      std::equal(made.cols.begin(), made.cols.end(), expected.cols.begin(), expected.cols.end()));
  double largest = 0;
  for (const double value : expected.vals) largest = std::max(largest, std::abs(value));
  for (LocalIndex i = 0; i < made.n_rows; ++i) {
    if (is_zero_or_one(made, i) && is_zero_or_one(expected, i)) continue;
    const double bound = 1e-12 * largest_of_row(expected, i) + of_radii * largest;
    for (auto k = static_cast<std::size_t>(made.begin(i));
         k < static_cast<std::size_t>(made.end(i)); ++k) {
      ASSERT_NEAR(made.vals[k], expected.vals[k], bound) << "row " << i;
    }
  }
}

template <class T>
std::vector<T> read(device::Queue<Host>& queue, const device::Buffer<T, Host>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.get(queue, std::span<T>(values));
  return values;
}

/// A setup on the device beside the hierarchy of the host, with the same options.
class Both {
 public:
  Both(const Pointer& A, const amg::Options& options, amg::ProblemInfo<double> info = {})
      : options_(options), info_(std::move(info)), host_(A, options, info_), primitives_(queue_) {
    amg::Options completed = options;
    amg::examine(*A, info_, completed);
    const amg::LevelObserver observe;
    levels_.emplace(primitives_, offload::SetupCall{{}, A, completed, info_, observe});
  }

  amg::Hierarchy<double>& host() { return host_; }
  offload::SetUpLevels<Host>& device() { return *levels_; }

  /// Aggregates of values that the levels no longer have are not to be compared.
  void expect_equal(bool of_first_values = true) {
    const auto& levels = levels_->levels();
    ASSERT_EQ(levels.size(), host_.levels().size());
    double of_radii = 0;  // what the radii above change, relative to the largest entry
    for (std::size_t l = 0; l < levels.size(); ++l) {
      SCOPED_TRACE("level " + std::to_string(l) + " of " + std::to_string(levels.size()));
      const amg::LevelInfo& info = host_.levels()[l];
      EXPECT_EQ(levels_->info()[l].rows, info.rows);
      EXPECT_EQ(levels_->info()[l].nonzeros, info.nonzeros);
      EXPECT_EQ(levels_->info()[l].interpolation_nonzeros, info.interpolation_nonzeros);
      const Pointer A = host_.matrix(l);
      expect_same("A", download(levels[l].A), A->on(), of_radii);
      if (host_.interpolation(l) == nullptr) {
        EXPECT_FALSE(levels[l].has_next);
        continue;
      }
      ASSERT_TRUE(levels[l].has_next);
      if (options_.method->has_coarse_points) {
        expect_same_coarse_points(host_.coarse_rows(l), levels[l].splitting);
      } else if (of_first_values) {
        expect_same_aggregates(*A, levels[l].aggregates);
      }
      of_radii += 10 * difference_of_radii(*A, levels[l].spectral_radius, l);
      const Matrix& P = *host_.interpolation(l);
      expect_same("P", download(levels[l].P), P.on(), of_radii);
      expect_same("R", download(levels[l].R), matrix::transpose(P).on(), of_radii);
    }
  }

 private:
  Csr download(const device::CsrMatrix<double, Host>& A) {
    return device::download<double, Host>(queue_, A);
  }
  /// Lanczos makes much of the last bits where new directions are short, as on coarse levels; with
  /// these the weight of the prolongation's smoothing differs.
  double difference_of_radii(const Matrix& A, double radius, std::size_t l) {
    if (radius == 0) return 0;
    amg::SpectrumOptions spectrum = amg::spectrum_options(true, options_);
    if (!options_.smoother->needs_spectral_radius) spectrum.steps = amg::steps_for_smoothing;
    const double expected = amg::spectral_radius(A, spectrum);
    EXPECT_GT(radius, 0);
    if (l == 0) EXPECT_NEAR(radius, expected, 1e-6 * expected);
    if (options_.method->has_coarse_points) return 0;  // they are not smoothed
    return std::abs(radius - expected) / expected;
  }
  void expect_same_coarse_points(std::span<const LocalIndex> expected,
                                 const device::Splitting<Host>& made) {
    EXPECT_EQ(made.n_coarse, std::ssize(expected));
    const auto numbers = read(queue_, made.numbers);
    LocalIndex next = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool is_coarse = std::binary_search(expected.begin(), expected.end(), i);
      EXPECT_EQ(numbers[i] >= 0, is_coarse) << i;
      if (is_coarse) EXPECT_EQ(numbers[i], next++);
    }
  }
  void expect_same_aggregates(const Matrix& A, const device::Aggregates<Host>& made) {
    const auto& own = options_.method.options<amg::AggregationOptions>();
    const auto strength = amg::aggregate::symmetric_strength(A, amg::aggregation_threshold(1, own));
    const auto expected = amg::aggregate_points(A, strength, {}, true, options_);
    EXPECT_EQ(made.count, expected.layout.n_global());
    const auto of_point = read(queue_, made.of_point);
    EXPECT_TRUE(std::equal(of_point.begin(), of_point.end(), expected.of_point.begin(),
                           expected.of_point.end()));
  }

  amg::Options options_;
  amg::ProblemInfo<double> info_;
  amg::Hierarchy<double> host_;
  device::Queue<Host> queue_;
  device::Primitives<Host> primitives_;
  std::optional<offload::SetUpLevels<Host>> levels_;
};

std::vector<std::pair<std::string, Pointer>> problems() {
  return {{"laplace7", problem("laplace7", 13)},
          {"laplace27", problem("laplace27", 12)},
          {"rotated_fe", problem("rotated_fe", 41)},
          {"random", random_spd(700, false, 1e-3, 0.01, 1)},
          {"random with a hub", random_spd(900, true, 1e-1, 0.01, 2)},
          {"parts", parts_without_boundary(70, 9)}};
}

TEST(OffloadSetup, MakesTheLevelsOfTheHost) {
  const PoisonedMemory poisoned;
  for (const auto& [name, A] : problems()) {
    SCOPED_TRACE(name);
    Both(A, options_of({})).expect_equal();
  }
}

TEST(OffloadSetup, FollowsTheOptionsOfAggregation) {
  const PoisonedMemory poisoned;
  for (const Given& given :
       std::vector<Given>{{{"aggregation_distance", "1"}},
                          {{"aggregation_distance", "3"}},
                          {{"aggregation_threshold", "0"}},
                          {{"aggregation_threshold", "0.2"}},
                          {{"prolongation_sweeps", "0"}},
                          {{"prolongation_sweeps", "2"}},
                          {{"prolongation_weight", "1"}},
                          {{"smoother", "l1_jacobi"}},
                          {{"max_levels", "2"}},
                          {{"max_coarse_rows", "10"}},
                          {{"max_levels", "1"}, {"coarse_solve", "relaxation"}},
                          {{"seed", "5"}}}) {
    SCOPED_TRACE(std::string(given.back().first) + " " + given.back().second);
    for (const char* name : {"laplace7", "rotated_fe"}) {
      Both(problem(name, name[0] == 'l' ? 9 : 30), options_of(given)).expect_equal();
    }
  }
}

amg::Options classical_options_of(const Given& given) {
  amg::Options options;
  options.set("method", "classical");
  options.set("coarsening", "pmis");
  options.set("smoother", "chebyshev");
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

TEST(OffloadSetup, MakesTheLevelsOfClassicalCoarseningToo) {
  const PoisonedMemory poisoned;
  for (const auto& [name, A] : problems()) {
    SCOPED_TRACE(name);
    Both(A, classical_options_of({})).expect_equal();
  }
  for (const Given& given : std::vector<Given>{{{"strength_threshold", "0.5"}},
                                               {{"strength_measure", "absolute"}},
                                               {{"max_row_sum", "1"}},
                                               {{"max_row_sum", "0.4"}},
                                               {{"max_interpolation_entries", "0"}},
                                               {{"max_interpolation_entries", "2"}},
                                               {{"interpolation_truncation", "0.2"}},
                                               {{"isolated_couplings", "lumped"}},
                                               {{"smoother", "l1_jacobi"}},
                                               {{"seed", "5"}}}) {
    SCOPED_TRACE(std::string(given.back().first) + " " + given.back().second);
    Both(problem("rotated_fe", 30), classical_options_of(given)).expect_equal();
    Both(random_spd(500, true, 1e-2, 0.3, 3), classical_options_of(given)).expect_equal();
  }
}

TEST(OffloadSetup, TakesAVectorOfTheNearNullSpace) {
  const Pointer A = problem("laplace27", 10);
  amg::ProblemInfo<double> info;
  info.near_null_space.n_vectors = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(A->n_local()); ++i) {
    info.near_null_space.values.push_back(i < 200 ? 0
                                                  : 1e200 * (1 + 0.3 * std::sin(0.1 * double(i))));
  }
  const PoisonedMemory poisoned;
  Both(A, options_of({}), info).expect_equal();
}

TEST(OffloadSetup, SetsUpMatricesOfAFewRows) {
  const PoisonedMemory poisoned;
  for (const GlobalIndex n : {1, 2, 3, 120}) {
    SCOPED_TRACE(n);
    const comm::Layout rows = comm::Layout::uniform(alone(), n);
    const Pointer A = std::make_shared<const Matrix>(make_operator(rows, laplace).matrix());
    Both(A, options_of({})).expect_equal();
    // Nothing is connected: there is one level.
    const Pointer D =
        std::make_shared<const Matrix>(make_operator(rows, [](GlobalIndex i, GlobalIndex j) {
                                         return i == j ? 2.0 + double(i) : 0;
                                       }).matrix());
    Both(D, options_of({})).expect_equal();
  }
}

Pointer with_other_values(const Matrix& A) {
  Array<double> on = A.on().vals;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (auto k = static_cast<std::size_t>(A.on().begin(i));
         k < static_cast<std::size_t>(A.on().end(i)); ++k) {
      const LocalIndex j = A.on().cols[k];
      on[k] *= i == j ? 1.3 : 1 + 0.2 * std::cos(double(i + j));
    }
  }
  return std::make_shared<const Matrix>(A.with_values(std::move(on), Array<double>(A.off().vals)));
}

TEST(OffloadSetup, IsMadeAgainForOtherValues) {
  const PoisonedMemory poisoned;
  for (const char* name : {"laplace27", "laplace7"}) {
    SCOPED_TRACE(name);
    const Pointer A = problem(name, 11);
    const Pointer B = with_other_values(*A);
    Both both(A, options_of({}));
    for (const Pointer& next : {B, A, B}) {
      both.host().rebuild(next);
      both.device().rebuild(*next, amg::Reuse::interpolation);
      both.expect_equal(false);
    }
    both.host().rebuild(A, amg::Reuse::splitting);
    both.device().rebuild(*A, amg::Reuse::splitting);
    both.expect_equal(false);
    both.host().rebuild(B);
    both.device().rebuild(*B, amg::Reuse::interpolation);
    both.expect_equal(false);
  }
}

TEST(OffloadSetup, OfClassicalCoarseningIsMadeAgainForOtherValues) {
  const PoisonedMemory poisoned;
  const Pointer A = problem("laplace27", 9);
  const Pointer B = with_other_values(*A);
  Both both(A, classical_options_of({}));
  for (const amg::Reuse reuse : {amg::Reuse::interpolation, amg::Reuse::splitting}) {
    for (const Pointer& next : {B, A}) {
      both.host().rebuild(next, reuse);
      both.device().rebuild(*next, reuse);
      both.expect_equal(false);
    }
  }
}

SolverOptions solver_options(const Given& given) {
  SolverOptions options;
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

Given join(Given a, const Given& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

double relative_residual(const Matrix& A, const std::vector<double>& b,
                         const std::vector<double>& x) {
  std::vector<double> r(b.size());
  matrix::residual<double>(A, x, b, r);
  double above = 0, below = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    above += r[i] * r[i];
    below += b[i] * b[i];
  }
  return std::sqrt(above / below);
}

const Given on_device = {{"device", "host"}, {"device_setup", "device"}};
const Given aggregation = {{"method", "aggregation"}, {"aggregates", "independent_set"}};
const Given classical = {{"method", "classical"}, {"coarsening", "pmis"}};

void expect_as_set_up_on_the_host(const Pointer& A, const Given& given) {
  const PoisonedMemory poisoned;
  const std::vector<double> b = hashed_vector(A->rows(), 7);
  std::vector<double> x(b.size()), y(b.size());
  Solver host(A, solver_options(join({{"device", "host"}}, given)));
  const int iterations = host.solve(b, x).iterations();
  Solver device(A, solver_options(join(on_device, given)));
  const auto& record = device.solve(b, y);
  EXPECT_EQ(device.hierarchy(), nullptr);
  EXPECT_TRUE(record.converged()) << record.report().diagnosis;
  EXPECT_NEAR(record.iterations(), iterations, 1);
  EXPECT_LE(relative_residual(*A, b, y), 1e-8);
  ASSERT_EQ(record.levels.size(), host.record().levels.size());
  EXPECT_EQ(record.levels.back().coarse_solver, host.record().levels.back().coarse_solver);
  EXPECT_DOUBLE_EQ(record.operator_complexity, host.record().operator_complexity);
  EXPECT_DOUBLE_EQ(record.grid_complexity, host.record().grid_complexity);
  EXPECT_GT(record.device->max_bytes, 0);
}

TEST(OffloadSetup, SolvesAsWithLevelsOfTheHost) {
  for (const auto& [name, A] : problems()) {
    if (name == "parts") continue;  // singular
    for (const char* precision : {"same", "single"}) {
      for (const char* smoother : {"chebyshev", "l1_jacobi", "jacobi"}) {
        SCOPED_TRACE(name + ", " + precision + ", " + smoother);
        for (const Given& method : {aggregation, classical}) {
          expect_as_set_up_on_the_host(
              A, join(method,
                      {{"precision", precision}, {"smoother", smoother}, {"preset", "default"}}));
        }
      }
    }
  }
}

TEST(OffloadSetup, SmoothesALastLevelThatIsNotSolved) {
  expect_as_set_up_on_the_host(
      problem("laplace7", 9),
      join(aggregation, {{"coarse_solve", "relaxation"}, {"max_levels", "2"}}));
}

TEST(OffloadSetup, ChoosesThePrecisionOfTheHost) {
  for (const char* name : {"laplace7", "rotated_fe"}) {
    const Pointer A = problem(name, 20);
    const Given given = join(aggregation, {{"device", "host"}, {"precision", "auto"}});
    const Solver host(A, solver_options(given));
    const Solver device(A, solver_options(join(given, {{"device_setup", "device"}})));
    EXPECT_EQ(device.record().precision.single, host.record().precision.single);
    EXPECT_EQ(device.record().precision.reason, host.record().precision.reason);
  }
}

TEST(OffloadSetup, SaysWhatItTookByItself) {
  Solver solver(problem("laplace7", 6), solver_options(on_device));
  const auto& set = solver.record().device->set;
  const auto has = [&](const char* name, const char* value) {
    return std::find(set.begin(), set.end(), NamedValue(name, value)) != set.end();
  };
  EXPECT_TRUE(has("method", "aggregation"));
  EXPECT_TRUE(has("aggregates", "independent_set"));
  const auto& preset = solver.record().preset;  // agrees, and has the rest
  EXPECT_EQ(preset.name, "card");
  EXPECT_THAT(preset.reason, HasSubstr("; solved on a device"));
  EXPECT_TRUE(preset.kept.empty());
  EXPECT_EQ(preset.set,
            (std::vector<NamedValue>{{"smoother", "chebyshev"}, {"precision", "single"}}));
}

TEST(OffloadSetup, IsRebuiltByItsSolver) {
  const Pointer A = problem("laplace27", 9);
  const Pointer B = with_other_values(*A);
  Solver solver(A, solver_options(on_device));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size());
  const int before = solver.solve(b, x).iterations();
  for (const Pointer& next : {B, A}) {
    std::fill(x.begin(), x.end(), 0.0);
    solver.rebuild(next);
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_LE(relative_residual(*next, b, x), 1e-8);
  }
  EXPECT_EQ(solver.record().iterations(), before);
  const Pointer other = problem("laplace7", 9);
  EXPECT_THROW(solver.rebuild(other), Error);
}

TEST(OffloadSetup, RefusesWhatItHasNotAndNamesWhatItHas) {
  const Pointer A = problem("laplace7", 6);
  const auto refusal = [&](const Given& given) {
    return expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
      const Solver solver(A, solver_options(join(on_device, given)));
    });
  };
  amg::Options air;
  air.set("method", "air");
  const std::string text = expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                             [&] { offload::check_for_setup(air, {}, 1); });
  EXPECT_THAT(text, HasSubstr("method classical or aggregation"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"coarsening", "hmis"}}),
              HasSubstr("coarsening pmis"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"interpolation", "direct"}}),
              HasSubstr("interpolation extended_i"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"aggressive_levels", "1"}}),
              HasSubstr("aggressive_levels 0"));
  EXPECT_THAT(refusal({{"aggregates", "standard"}}), HasSubstr("aggregates independent_set"));
  EXPECT_THAT(refusal({{"aggregates", "auto"}}), HasSubstr("aggregates independent_set"));
  EXPECT_THAT(refusal({{"unknowns", "3"}}), HasSubstr("device_setup host"));
  EXPECT_THAT(refusal({{"candidate_sweeps", "2"}}), HasSubstr("candidate_sweeps 0"));
  EXPECT_THAT(refusal({{"filter_prolongation", "true"}}), HasSubstr("filter_prolongation false"));
  EXPECT_THAT(refusal({{"sparsification", "non_galerkin"}}), HasSubstr("sparsification none"));
  EXPECT_THAT(refusal({{"smoother", "gauss_seidel"}}), HasSubstr("l1_jacobi"));
}

TEST(OffloadSetup, RefusesSeveralRanks) {
  if (test_comm()->size() == 1) GTEST_SKIP() << "for several ranks";
  const Pointer A = problem("laplace7", 8, test_comm());
  const std::string text = expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    const Solver solver(A, solver_options(on_device));
  });
  EXPECT_THAT(text, HasSubstr("device_setup host"));
}

TEST(OffloadSetup, RefusesMatricesAsTheHostDoes) {
  const comm::Layout rows = comm::Layout::uniform(alone(), 30);
  const auto expect_refused = [&](const Entry& entry) {
    const Pointer A = std::make_shared<const Matrix>(make_operator(rows, entry).matrix());
    EXPECT_THROW(Solver(A, solver_options(join(on_device, {{"solver", "cg"}}))), Error);
  };
  expect_refused(
      [](GlobalIndex i, GlobalIndex j) { return i == 3 || j == 3 ? 0.0 : laplace(i, j); });
  expect_refused([](GlobalIndex i, GlobalIndex j) {
    return i == 3 && j == 3 ? std::numeric_limits<double>::infinity() : laplace(i, j);
  });
  expect_refused([](GlobalIndex i, GlobalIndex j) { return i == j + 1 ? -0.5 : laplace(i, j); });
}

}  // namespace offload_setup_test
}  // namespace nodewise::test
