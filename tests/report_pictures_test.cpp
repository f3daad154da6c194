// Pictures of levels and predictions of a solve, against counts made of all entries in one process.
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/comm/route/route.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/predict/solve_prediction.hpp"
#include "nodewise/report/level_pictures.hpp"

#include "amg_virtual_support.hpp"
#include "model_support.hpp"
#include "problem_support.hpp"
#include "support.hpp"

namespace nodewise::report {
namespace report_pictures_test {

using Matrix = matrix::DistMatrix<double>;
using test::DenseMatrix;
using Square = std::vector<std::int64_t>;

/// The bin of each number, dealt one after the other.
std::vector<std::size_t> dealt(std::int64_t n) {
  const std::int64_t bins = std::min<std::int64_t>(n, 128);
  std::vector<std::size_t> all;
  for (std::int64_t b = 0; b < bins; ++b) {
    const std::int64_t length = n / bins + (b < n % bins ? 1 : 0);
    all.insert(all.end(), static_cast<std::size_t>(length), static_cast<std::size_t>(b));
  }
  return all;
}

std::int64_t sum(const Square& square) {
  return std::accumulate(square.begin(), square.end(), std::int64_t{0});
}

/// What a product's direct messages are, from the zeros of the whole matrix.
void expect_direct_traffic(const LevelPicture& picture, const DenseMatrix& values,
                           const comm::Layout& rows) {
  const mpi::Topology& topology = rows.comm().topology();
  const std::vector<std::size_t> bin = dealt(topology.n_nodes());
  const std::size_t bins = bin.back() + 1;
  Square messages(bins * bins), bytes(bins * bins);
  for (int to = 0; to < topology.n_ranks(); ++to) {
    std::vector<std::int64_t> entries(static_cast<std::size_t>(topology.n_ranks()));
    for (GlobalIndex j = 0; j < values.cols(); ++j) {
      bool needed = false;
      for (GlobalIndex i = rows.begin(to); i < rows.end(to); ++i) needed |= values(i, j) != 0;
      if (needed) ++entries[static_cast<std::size_t>(rows.owner(j))];
    }
    for (int from = 0; from < topology.n_ranks(); ++from) {
      const std::int64_t sent = entries[static_cast<std::size_t>(from)];
      if (from == to || sent == 0) continue;
      const std::size_t place = bin[static_cast<std::size_t>(topology.node(from))] * bins +
                                bin[static_cast<std::size_t>(topology.node(to))];
      ++messages[place];
      bytes[place] += 8 * sent;
    }
  }
  EXPECT_EQ(picture.messages, messages);
  EXPECT_EQ(picture.bytes, bytes);
}

void expect_entries(const LevelPicture& picture, const DenseMatrix& values) {
  const std::vector<std::size_t> bin = dealt(values.rows());
  const std::size_t bins = bin.back() + 1;
  Square entries(bins * bins);
  for (GlobalIndex i = 0; i < values.rows(); ++i) {
    for (GlobalIndex j = 0; j < values.cols(); ++j) {
      if (values(i, j) == 0) continue;
      ++entries[bin[static_cast<std::size_t>(i)] * bins + bin[static_cast<std::size_t>(j)]];
    }
  }
  EXPECT_EQ(picture.row_bins, static_cast<int>(bins));
  EXPECT_EQ(picture.entries, entries);
}

std::shared_ptr<const Matrix> small_problem(const std::shared_ptr<const mpi::Comm>& comm) {
  io::GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", "rotated_fe");
  options.n = 17;  // 289 rows: bins of two and of three
  return std::make_shared<const Matrix>(io::generate<double>(comm, options));
}

amg::Options several_levels() {
  amg::Options options;
  options.set("max_coarse_rows", "10");
  return options;
}

void expect_sums(const LevelPicture& picture, const amg::LevelInfo& info) {
  EXPECT_EQ(picture.rows, info.rows);
  EXPECT_EQ(sum(picture.entries), info.nonzeros);
  EXPECT_EQ(sum(picture.messages), info.traffic.messages_on_node + info.traffic.messages_off_node);
  EXPECT_EQ(sum(picture.bytes), 8 * (info.traffic.entries_on_node + info.traffic.entries_off_node));
}

/// What crosses between nodes is beside the diagonal, as there are fewer nodes than bins.
std::int64_t beside_diagonal(const Square& square, int bins) {
  std::int64_t result = sum(square);
  for (int k = 0; k < bins; ++k) result -= square[static_cast<std::size_t>(k * (bins + 1))];
  return result;
}

TEST(Bins, AreEvenAndAscend) {
  for (const std::int64_t n : {1, 2, 127, 128, 129, 255, 256, 300, 10007}) {
    const std::vector<std::size_t> expected = dealt(n);
    const Bins bins(n);
    ASSERT_EQ(bins.count(), static_cast<int>(expected.back()) + 1);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(bins[i], static_cast<int>(expected[static_cast<std::size_t>(i)]))
          << i << " of " << n;
    }
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Bins(most)[most - 1], 127);
  EXPECT_EQ(Bins(most)[0], 0);
}

TEST(LevelPictures, HaveTheEntriesAndMessagesOfTheWholeMatrix) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = small_problem(comm);
    const std::vector<LevelPicture> one = level_pictures(*A, nullptr);
    ASSERT_EQ(one.size(), 1U);
    const DenseMatrix whole = test::gathered(*A);
    expect_entries(one.front(), whole);
    expect_direct_traffic(one.front(), whole, A->rows());

    const amg::Hierarchy<double> hierarchy(A, several_levels());
    const std::vector<LevelPicture> all = level_pictures(*A, &hierarchy);
    ASSERT_EQ(all.size(), hierarchy.levels().size());
    ASSERT_GE(all.size(), 3U);
    for (std::size_t l = 0; l < all.size(); ++l) {
      SCOPED_TRACE(l);
      expect_entries(all[l], test::gathered(*hierarchy.matrix(l)));
      expect_sums(all[l], hierarchy.levels()[l]);
    }
  }
}

TEST(LevelPictures, CountEveryStageOfEveryRoute) {
  for (const auto& map : test::node_maps(test::test_comm()->size())) {
    for (const comm::Route route : test::all_routes) {
      SCOPED_TRACE(map.name + " " + route.name());
      const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
      amg::Options options = several_levels();
      options.set("route", route.name());
      options.set("setup_route", "direct");
      const auto A = small_problem(comm);
      const amg::Hierarchy<double> hierarchy(A, options);
      const std::vector<LevelPicture> all = level_pictures(*A, &hierarchy);
      for (std::size_t l = 0; l < all.size(); ++l) {
        const amg::LevelInfo& info = hierarchy.levels()[l];
        expect_sums(all[l], info);
        EXPECT_EQ(beside_diagonal(all[l].messages, all[l].node_bins),
                  info.traffic.messages_off_node);
        EXPECT_EQ(beside_diagonal(all[l].bytes, all[l].node_bins),
                  8 * info.traffic.entries_off_node);
      }
    }
  }
}

TEST(LevelPictures, AreOfLevelsOnFewerRanksAndInSinglePrecision) {
  const auto A = small_problem(test::test_comm());
  amg::Options options = several_levels();
  options.set("redistribution", "rows");
  options.set("precision", "single");
  const amg::Hierarchy<double> hierarchy(A, options);
  const std::vector<LevelPicture> all = level_pictures(*A, &hierarchy);
  for (std::size_t l = 0; l < all.size(); ++l) expect_sums(all[l], hierarchy.levels()[l]);
}

TEST(LevelPictures, JoinNodesInBins) {
  std::vector<int> nodes(300);
  std::iota(nodes.begin(), nodes.end(), 0);
  const mpi::Topology topology(nodes);
  const std::vector<std::size_t> bin = dealt(300);
  LevelPicture picture;
  picture.node_bins = 128;
  picture.messages = picture.bytes = Square(128 * 128);
  comm::Plan plan;
  plan.n_owned = 3;
  comm::Stage stage;
  stage.send_ranks = {0, 9, 299};
  stage.send_offsets = {0, 3, 4, 6};
  stage.send_entries = {0, 1, 2, 0, 1, 2};
  plan.stages = {stage, stage};
  add_traffic(plan, topology, 10, picture);
  Square messages(128 * 128), bytes(128 * 128);
  const std::size_t row = bin[10] * 128;
  messages[row + bin[0]] += 2;
  messages[row + bin[9]] += 2;
  messages[row + bin[299]] += 2;
  bytes[row + bin[0]] += 48;
  bytes[row + bin[9]] += 16;
  bytes[row + bin[299]] += 32;
  EXPECT_EQ(picture.messages, messages);
  EXPECT_EQ(picture.bytes, bytes);
}

/// The Laplacian of 12 x 12 points: a rank of whole grid lines sends 12 values to each neighbour,
/// which takes 1 s and 12 s between nodes of the round machine.
TEST(SolvePrediction, IsTheFormulaOfTheMessages) {
  std::vector<int> nodes(static_cast<std::size_t>(test::test_comm()->size()));
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  io::GalleryOptions of;
  set_option(of, io::gallery_fields(), "problem", "laplace5");
  of.n = 12;
  const auto A = std::make_shared<const Matrix>(io::generate<double>(comm, of));
  amg::Options options = several_levels();
  options.set("cycle", "v");
  const amg::Hierarchy<double> hierarchy(A, options);
  const predict::SolvePrediction prediction =
      predict::predict_solve(*A, &hierarchy, true, test::round_machine());
  EXPECT_EQ(prediction.machine, "round");
  EXPECT_EQ(prediction.not_predicted, "");
  ASSERT_EQ(prediction.levels.size(), hierarchy.levels().size());
  const int neighbours = std::min(comm->size() - 1, 2);
  if (12 % comm->size() == 0) {
    EXPECT_EQ(prediction.krylov_product_s, 13 * neighbours);
  }
  EXPECT_EQ(prediction.krylov_product_s, prediction.levels.front().product_s);
  EXPECT_EQ(prediction.levels.front().visits.transfers, 1);
  EXPECT_EQ(prediction.levels.back().visits.transfers, 0);
  EXPECT_EQ(prediction.levels.back().prolongation_s, 0);
}

TEST(SolvePrediction, SaysWhyACycleIsNotPredicted) {
  const auto A = small_problem(test::test_comm());
  amg::Options options = several_levels();
  options.set("cycle", "additive");
  const amg::Hierarchy<double> hierarchy(A, options);
  const predict::SolvePrediction prediction =
      predict::predict_solve(*A, &hierarchy, true, test::round_machine());
  EXPECT_TRUE(prediction.levels.empty());
  EXPECT_NE(prediction.not_predicted.find("additive"), std::string::npos);
}

}  // namespace report_pictures_test
}  // namespace nodewise::report
