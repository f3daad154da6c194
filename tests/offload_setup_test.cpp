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
#include "offload_setup_support.hpp"

namespace nodewise::test {
namespace offload_setup_test {

using device::Host;
using testing::HasSubstr;
using namespace set_up_on_device;
using Matrix = matrix::DistMatrix<double>;
using Pointer = std::shared_ptr<const Matrix>;
using Csr = kernels::Csr<double>;

amg::Options aggregation_options_of(const Given& given) {
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

/// Collective.
void expect_same(const char* what, const Csr& made, const Csr& expected, double of_radii) {
  SCOPED_TRACE(what);
  double largest = 0;
  for (const double value : expected.vals) largest = std::max(largest, std::abs(value));
  largest = mpi::max(*test_comm(), largest);
  ASSERT_EQ(made.n_rows, expected.n_rows);
  ASSERT_EQ(made.n_cols, expected.n_cols);
  ASSERT_TRUE(std::equal(made.row_ptr.begin(), made.row_ptr.end(), expected.row_ptr.begin(),
                         expected.row_ptr.end()));
  ASSERT_TRUE(
      std::equal(made.cols.begin(), made.cols.end(), expected.cols.begin(), expected.cols.end()));
  for (LocalIndex i = 0; i < made.n_rows; ++i) {
    if (is_zero_or_one(made, i) && is_zero_or_one(expected, i)) continue;
    const double bound = 1e-12 * largest_of_row(expected, i) + of_radii * largest;
    for (auto k = static_cast<std::size_t>(made.begin(i));
         k < static_cast<std::size_t>(made.end(i)); ++k) {
      ASSERT_NEAR(made.vals[k], expected.vals[k], bound) << "row " << i;
    }
  }
}

/// A rank's rows with the columns of a device: its own, then ghosts.
Csr with_ghosts(const Matrix& A) {
  Csr all(A.n_local(), A.n_local() == 0 ? 0 : A.on().n_cols + A.off().n_cols);
  all.n_cols = A.on().n_cols + A.off().n_cols;
  for (LocalIndex i = 0; i < all.n_rows; ++i) {
    for (const Csr* part : {&A.on(), &A.off()}) {
      for (auto k = static_cast<std::size_t>(part->begin(i));
           k < static_cast<std::size_t>(part->end(i)); ++k) {
        all.cols.push_back(part->cols[k] + (part == &A.on() ? 0 : A.on().n_cols));
        all.vals.push_back(part->vals[k]);
      }
    }
    all.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(all.cols.size());
  }
  return all;
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
      : options_(options), info_(std::move(info)), host_(A, options, info_) {
    amg::Options completed = options;
    amg::examine(*A, info_, completed);
    const amg::LevelObserver observe;
    levels_.emplace(card_, primitives_, offload::SetupCall{{}, A, completed, info_, observe});
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
      expect_same_traffic(levels_->info()[l], info);
      const Pointer A = host_.matrix(l);
      expect_same_entries("A", levels[l].A, *A, of_radii);
      if (host_.interpolation(l) == nullptr) {
        EXPECT_FALSE(levels[l].has_next);
        continue;
      }
      ASSERT_TRUE(levels[l].has_next);
      if (options_.method->has_coarse_points) {
        expect_same_coarse_points(static_cast<std::size_t>(A->n_local()), host_.coarse_rows(l),
                                  *levels[l].coarse_points);
      } else if (of_first_values) {
        expect_same_aggregates(*A, *levels[l].aggregates);
      }
      of_radii += 10 * difference_of_radii(*A, levels[l].spectral_radius, l);
      const Matrix& P = *host_.interpolation(l);
      expect_same_entries("P", *levels[l].P, P, of_radii);
      expect_same_entries("R", *levels[l].R, matrix::transpose(P), of_radii);
    }
  }

 private:
  void expect_same_entries(const char* what, const offload::DistCsr<Host>& made,
                           const Matrix& expected, double of_radii) {
    EXPECT_TRUE(std::equal(made.ghosts.begin(), made.ghosts.end(), expected.ghosts().begin(),
                           expected.ghosts().end()))
        << what;
    expect_same(what, device::download<double, Host>(card_.queue, made.local),
                with_ghosts(expected), of_radii);
  }
  static void expect_same_traffic(const amg::LevelInfo& made, const amg::LevelInfo& expected) {
    EXPECT_EQ(made.active_ranks, expected.active_ranks);
    EXPECT_EQ(made.max_messages, expected.max_messages);
    EXPECT_EQ(made.traffic.messages_on_node, expected.traffic.messages_on_node);
    EXPECT_EQ(made.traffic.messages_off_node, expected.traffic.messages_off_node);
    EXPECT_EQ(made.traffic.entries_on_node, expected.traffic.entries_on_node);
    EXPECT_EQ(made.traffic.entries_off_node, expected.traffic.entries_off_node);
    EXPECT_EQ(made.routes.solve.name(), expected.routes.solve.name());
    EXPECT_EQ(made.routes.setup.name(), expected.routes.setup.name());
  }
  /// Lanczos makes much of the last bits where new directions are short, as on coarse levels; with
  /// these the weight of the prolongation's smoothing differs.
  double difference_of_radii(const Matrix& A, double radius, std::size_t l) {
    if (radius == 0) return 0;
    amg::SpectrumOptions spectrum = amg::spectrum_options(true, options_);
    if (!options_.smoother->needs_spectral_radius) spectrum.steps = amg::steps_for_smoothing;
    const double expected = amg::spectral_radius(A, spectrum);
    EXPECT_GT(radius, 0);
    if (l == 0) {
      EXPECT_NEAR(radius, expected, 1e-6 * expected);
    }
    if (options_.method->has_coarse_points) return 0;  // they are not smoothed
    return std::abs(radius - expected) / expected;
  }
  void expect_same_coarse_points(std::size_t n_local, std::span<const LocalIndex> expected,
                                 const offload::CoarsePoints<Host>& made) {
    EXPECT_EQ(made.layout.n_local(), std::ssize(expected));
    const auto numbers = read(card_.queue, made.numbers);  // behind them those of ghosts
    GlobalIndex next = made.layout.begin();
    for (std::size_t i = 0; i < n_local; ++i) {
      const bool is_coarse = std::binary_search(expected.begin(), expected.end(), i);
      EXPECT_EQ(numbers[i] >= 0, is_coarse) << i;
      if (is_coarse) {
        EXPECT_EQ(numbers[i], next++);
      }
    }
  }
  void expect_same_aggregates(const Matrix& A, const offload::Aggregates<Host>& made) {
    const auto& own = options_.method.options<amg::AggregationOptions>();
    const auto strength = amg::aggregate::symmetric_strength(A, amg::aggregation_threshold(1, own));
    const auto expected = amg::aggregate_points(A, strength, {}, true, options_);
    EXPECT_EQ(made.layout, expected.layout);
    auto of_point = read(card_.queue, made.of_point);
    of_point.resize(expected.of_point.size());  // without ghosts
    EXPECT_EQ(of_point, expected.of_point);
  }

  amg::Options options_;
  amg::ProblemInfo<double> info_;
  amg::Hierarchy<double> host_;
  offload::Card<Host> card_;
  device::Primitives<Host> primitives_{card_.queue};
  std::optional<offload::SetUpLevels<Host>> levels_;
};

TEST(OffloadSetup, MakesTheLevelsOfTheHost) {
  const PoisonedMemory poisoned;
  for (const auto& [name, A] : problems(test_comm())) {
    SCOPED_TRACE(name);
    Both(A, aggregation_options_of({})).expect_equal();
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
                          {{"prolongation_weight", "0.7"}, {"scale_prolongation_weight", "false"}},
                          {{"smoother", "l1_jacobi"}},
                          {{"max_levels", "2"}},
                          {{"max_coarse_rows", "10"}},
                          {{"max_levels", "1"}, {"coarse_solve", "relaxation"}},
                          {{"seed", "5"}}}) {
    SCOPED_TRACE(std::string(given.back().first) + " " + given.back().second);
    for (const char* name : {"laplace7", "rotated_fe"}) {
      Both(problem_on(test_comm(), name, name[0] == 'l' ? 9 : 30), aggregation_options_of(given))
          .expect_equal();
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
  for (const auto& [name, A] : problems(test_comm())) {
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
    Both(problem_on(test_comm(), "rotated_fe", 30), classical_options_of(given)).expect_equal();
    Both(random_spd(test_comm(), 500, true, 1e-2, 0.3, 3), classical_options_of(given))
        .expect_equal();
  }
}

TEST(OffloadSetup, TakesAVectorOfTheNearNullSpace) {
  const Pointer A = problem_on(test_comm(), "laplace27", 10);
  amg::ProblemInfo<double> info;
  info.near_null_space.n_vectors = 1;
  for (GlobalIndex i = A->rows().begin(); i < A->rows().end(); ++i) {
    const double value = i < 200 ? 0 : 1e200 * (1 + 0.3 * std::sin(0.1 * double(i)));
    info.near_null_space.values.push_back(value);
  }
  const PoisonedMemory poisoned;
  Both(A, aggregation_options_of({}), info).expect_equal();
}

TEST(OffloadSetup, SetsUpMatricesOfAFewRows) {
  const PoisonedMemory poisoned;
  for (const GlobalIndex n : {1, 2, 3, 120}) {
    SCOPED_TRACE(n);
    const comm::Layout rows = comm::Layout::uniform(test_comm(), n);
    const Pointer A = std::make_shared<const Matrix>(make_operator(rows, laplace).matrix());
    Both(A, aggregation_options_of({})).expect_equal();
    // Nothing is connected: there is one level.
    const Pointer D =
        std::make_shared<const Matrix>(make_operator(rows, [](GlobalIndex i, GlobalIndex j) {
                                         return i == j ? 2.0 + double(i) : 0;
                                       }).matrix());
    Both(D, aggregation_options_of({})).expect_equal();
  }
}

TEST(OffloadSetup, IsMadeAgainForOtherValues) {
  const PoisonedMemory poisoned;
  for (const char* name : {"laplace27", "laplace7"}) {
    SCOPED_TRACE(name);
    const Pointer A = problem_on(test_comm(), name, 11);
    const Pointer B = with_other_values(*A);
    Both both(A, aggregation_options_of({}));
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
  const Pointer A = problem_on(test_comm(), "laplace27", 9);
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

}  // namespace offload_setup_test
}  // namespace nodewise::test
