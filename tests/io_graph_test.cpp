// Grounded Laplacians of graphs.
#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/io/graph.hpp"
#include "nodewise/io/matrix_market.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_graph_test {

using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::TempFolder;
using test::test_comm;

matrix::DistMatrix<double> adjacency(const std::string& text) {
  const TempFolder folder;
  return read_matrix_market<double>(
      test_comm(), folder.file("w.mtx", "%%MatrixMarket matrix coordinate " + text));
}

TEST(GroundedLaplacian, SumsTheWeightsAndLeavesTheLastVertexOut) {
  // A square with a diagonal, a loop and a stored zero.
  const auto W =
      adjacency("integer symmetric\n4 4 7\n2 1 1\n3 2 2\n4 3 3\n4 1 4\n3 1 5\n2 2 9\n4 2 0\n");
  const auto L = grounded_laplacian(W);
  EXPECT_EQ(L.rows().n_global(), 3);
  EXPECT_EQ(L.rows(), L.cols());
  EXPECT_EQ(gather_entries(L), (Entries{{0, 0, 10},
                                        {0, 1, -1},
                                        {0, 2, -5},
                                        {1, 0, -1},
                                        {1, 1, 3},
                                        {1, 2, -2},
                                        {2, 0, -5},
                                        {2, 1, -2},
                                        {2, 2, 10}}));
}

TEST(GroundedLaplacian, OfAPathIsTheOneDimensionalLaplacian) {
  std::string text = "pattern symmetric\n30 30 29\n";
  for (int i = 1; i < 30; ++i) text += std::to_string(i + 1) + " " + std::to_string(i) + "\n";
  Entries expected;
  for (GlobalIndex i = 0; i < 29; ++i) {
    if (i > 0) expected.emplace_back(i, i - 1, -1);
    expected.emplace_back(i, i, i == 0 ? 1 : 2);
    if (i < 28) expected.emplace_back(i, i + 1, -1);
  }
  EXPECT_EQ(gather_entries(grounded_laplacian(adjacency(text))), expected);
}

TEST(GroundedLaplacian, RefusesWhatIsNoUndirectedGraph) {
  const auto message = [](ErrorCode code, const std::string& text) {
    const auto W = adjacency(text);
    const std::string found = expect_same_error(*test_comm(), code, [&] { grounded_laplacian(W); });
    return found.substr(found.find("graph:"));
  };
  EXPECT_EQ(message(ErrorCode::unsuitable_matrix, "real symmetric\n3 3 2\n2 1 1\n3 2 -0.5\n"),
            "graph: the edge (2, 3) has the negative weight -0.5");
  EXPECT_EQ(message(ErrorCode::unsuitable_matrix, "real general\n3 3 3\n1 2 1\n2 1 1\n1 3 1\n"),
            "graph: the adjacency matrix is not symmetric: entries (1, 3) and (3, 1) differ");
  EXPECT_EQ(message(ErrorCode::unsuitable_matrix, "real general\n2 2 2\n1 2 1\n2 1 3\n"),
            "graph: the adjacency matrix is not symmetric: entries (1, 2) and (2, 1) differ");
  EXPECT_EQ(message(ErrorCode::dimension_mismatch, "real general\n2 3 1\n1 2 1\n"),
            "graph: an adjacency matrix is square with at least two rows, this is 2 x 3");
  EXPECT_EQ(message(ErrorCode::dimension_mismatch, "real general\n1 1 1\n1 1 1\n"),
            "graph: an adjacency matrix is square with at least two rows, this is 1 x 1");
}

}  // namespace io_graph_test
}  // namespace nodewise::io
