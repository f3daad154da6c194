// Matrix Market files read on all ranks, plain and gzip, in pieces of any size.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/matrix_market.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_matrix_market_read_test {

using comm::Layout;
using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::TempFolder;
using test::test_comm;

const std::string banner = "%%MatrixMarket matrix ";

/// Reads a text as a plain and as a gzip file, with several piece sizes, and expects the same.
Entries read_all_ways(const std::string& text, ReadSummary* summary = nullptr) {
  const TempFolder folder;
  const std::string plain = folder.file("a.mtx", text);
  const std::string gzip = folder.gzip_file("a.mtx.gz", text);
  const auto read = [&](const std::string& path, std::size_t piece, ReadSummary& found) {
    ReadOptions options;
    options.piece_bytes = piece;
    return gather_entries(read_matrix_market<double>(test_comm(), path, options, &found));
  };
  ReadSummary first;
  const Entries entries = read(plain, default_piece_bytes, first);
  for (const std::string& path : {plain, gzip}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, default_piece_bytes}) {
      ReadSummary found;
      EXPECT_EQ(read(path, piece, found), entries) << path << " " << piece;
      EXPECT_EQ(found.entries, first.entries);
      EXPECT_EQ(found.duplicates, first.duplicates);
      EXPECT_EQ(found.format, first.format + (path == gzip ? ", gzip" : ""));
    }
  }
  if (summary) *summary = first;
  return entries;
}

TEST(ReadMatrixMarket, CoordinateRealGeneral) {
  ReadSummary summary;
  const Entries entries = read_all_ways(banner +
                                            "coordinate real general\n% comment\n3 4 4\n"
                                            "3 4 -1.5\n\n1 1 2\n% in between\n2 3 0\n1 2 1D-1",
                                        &summary);
  EXPECT_EQ(entries, (Entries{{0, 0, 2}, {0, 1, 0.1}, {1, 2, 0}, {2, 3, -1.5}}));
  EXPECT_EQ(summary.format, "Matrix Market, coordinate real general");
  EXPECT_EQ(summary.rows, 3);
  EXPECT_EQ(summary.cols, 4);
  EXPECT_EQ(summary.entries, 4);
  EXPECT_EQ(summary.nonzeros, 4);
  EXPECT_EQ(summary.duplicates, 0);
  EXPECT_FALSE(summary.symmetric);
}

TEST(ReadMatrixMarket, SymmetricMirrorsOnceAndKeepsTheDiagonal) {
  ReadSummary summary;
  EXPECT_EQ(read_all_ways(banner + "coordinate integer symmetric\r\n3 3 4\r\n1 1 4\r\n2 1 -1\r\n"
                                   "3 3 5\r\n3 2 7\r\n",
                          &summary),
            (Entries{{0, 0, 4}, {0, 1, -1}, {1, 0, -1}, {1, 2, 7}, {2, 1, 7}, {2, 2, 5}}));
  EXPECT_TRUE(summary.symmetric);
  EXPECT_EQ(summary.entries, 4);
  EXPECT_EQ(summary.nonzeros, 6);
}

TEST(ReadMatrixMarket, SkewSymmetricAndPattern) {
  EXPECT_EQ(read_all_ways(banner + "coordinate real skew-symmetric\n2 2 1\n2 1 3\n"),
            (Entries{{0, 1, -3}, {1, 0, 3}}));
  EXPECT_EQ(read_all_ways(banner + "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n"),
            (Entries{{0, 1, 1}, {1, 0, 1}, {1, 1, 1}}));
}

TEST(ReadMatrixMarket, ArraysInAllSymmetries) {
  EXPECT_EQ(read_all_ways(banner + "array real general\n2 3\n1\n2\n0\n4\n5\n6\n"),
            (Entries{{0, 0, 1}, {0, 2, 5}, {1, 0, 2}, {1, 1, 4}, {1, 2, 6}}));
  EXPECT_EQ(read_all_ways(banner + "array integer symmetric\n2 2\n1\n2\n3\n"),
            (Entries{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 3}}));
  EXPECT_EQ(read_all_ways(banner + "array real skew-symmetric\n3 3\n1\n2\n3\n"),
            (Entries{{0, 1, -1}, {0, 2, -2}, {1, 0, 1}, {1, 2, -3}, {2, 0, 2}, {2, 1, 3}}));
}

TEST(ReadMatrixMarket, DuplicatesAreAddedAndCounted) {
  ReadSummary summary;
  EXPECT_EQ(read_all_ways(banner + "coordinate real general\n2 2 4\n1 1 1\n2 2 1\n1 1 2\n1 1 4\n",
                          &summary),
            (Entries{{0, 0, 7}, {1, 1, 1}}));
  EXPECT_EQ(summary.duplicates, 2);
  EXPECT_EQ(read_all_ways(banner + "coordinate real symmetric\n2 2 5\n1 1 1\n2 1 1\n1 1 2\n2 1 4\n"
                                   "2 1 8\n",
                          &summary),
            (Entries{{0, 0, 3}, {0, 1, 13}, {1, 0, 13}}));
  EXPECT_EQ(summary.duplicates, 3);
}

TEST(ReadMatrixMarket, TinyAndEmptyMatrices) {
  EXPECT_EQ(read_all_ways(banner + "coordinate real general\n1 1 1\n1 1 5"), (Entries{{0, 0, 5}}));
  EXPECT_TRUE(read_all_ways(banner + "coordinate real general\n3 3 0").empty());
  EXPECT_TRUE(read_all_ways(banner + "coordinate real general\n3 3 0\n\n%\n").empty());
  EXPECT_TRUE(read_all_ways(banner + "coordinate real general\n0 0 0\n").empty());
  EXPECT_TRUE(read_all_ways(banner + "array real skew-symmetric\n1 1\n").empty());
}

/// A matrix of 200 rows with about 2000 hashed entries, its lines of different lengths.
std::string hashed_text(int seed, Entries& entries) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 200; ++j) {
      const auto key = static_cast<std::uint64_t>(i * 200 + j);
      if (hash_uniform(key, static_cast<std::uint64_t>(seed)) > 0.05) continue;
      const double value = hash_normal(key, 3) * std::pow(10.0, static_cast<double>(key % 30));
      char number[64];
      snprintf(number, sizeof number, "%d %d %.17g\n", i + 1, j + 1, value);
      text += number;
      if (key % 17 == 0) text += "% a comment of some length\n";
      entries.emplace_back(i, j, value);
    }
  }
  return banner + "coordinate real general\n200 200 " + std::to_string(entries.size()) + "\n" +
         text;
}

TEST(ReadMatrixMarket, ManyEntriesWhereverTheBordersFall) {
  for (int seed = 0; seed < 3; ++seed) {
    Entries expected;
    const std::string text = hashed_text(seed, expected);
    ASSERT_GT(expected.size(), 1000u);
    EXPECT_EQ(read_all_ways(text), expected);
  }
}

TEST(ReadMatrixMarket, GivenLayoutsAndSinglePrecision) {
  const TempFolder folder;
  const std::string path =
      folder.file("a.mtx", banner + "coordinate real general\n3 3 2\n1 3 0.1\n3 1 2\n");
  const int p = test_comm()->size();
  const GlobalIndex shift = GlobalIndex{1} << 33;
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(p) + 1, shift + 3);
  starts[0] = shift;  // all rows on rank 0
  ReadOptions options;
  options.rows = Layout(test_comm(), starts);
  const auto A = read_matrix_market<float>(test_comm(), path, options);
  EXPECT_EQ(A.rows(), *options.rows);
  EXPECT_EQ(A.cols(), *options.rows);
  EXPECT_EQ(gather_entries(A), (Entries{{0, 2, static_cast<double>(0.1f)}, {2, 0, 2}}));
  options.rows = Layout::uniform(test_comm(), 4);
  const std::string text = expect_same_error(*test_comm(), ErrorCode::dimension_mismatch, [&] {
    read_matrix_market<double>(test_comm(), path, options);
  });
  EXPECT_EQ(text, path + ": the matrix has 3 rows, the layout 4");
}

TEST(ReadMatrixMarket, HugeSizesAreRefusedBeforeAnythingIsAllocated) {
  const TempFolder folder;
  const std::string n = "1000000000000000";
  const std::string path = folder.file(
      "a.mtx", banner + "coordinate real general\n" + n + " " + n + " 1\n" + n + " 1 1\n");
  const std::string text = expect_same_error(*test_comm(), ErrorCode::index_overflow, [&] {
    read_matrix_market<double>(test_comm(), path);
  });
  EXPECT_EQ(text.find(path + ": " + n + " rows: rows of a rank"), 0u) << text;
  // Fits the indices of every rank, not the memory of the node.
  const GlobalIndex rows = GlobalIndex{2147483647} * test_comm()->size();
  const double bytes = 24.0 * static_cast<double>(rows);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= there) GTEST_SKIP() << "this machine could hold the matrix";
  const std::string large = folder.file(
      "b.mtx", banner + "coordinate real general\n" + std::to_string(rows) + " 5 1\n1 1 1\n");
  expect_same_error(*test_comm(), ErrorCode::out_of_memory,
                    [&] { read_matrix_market<double>(test_comm(), large); });
}

TEST(ReadVectorMarket, ArrayAndCoordinateInAnyLayout) {
  const TempFolder folder;
  std::string array = banner + "array real general\n% b\n11 1\n";
  for (int i = 0; i < 11; ++i) array += std::to_string(i * i) + ".5\n";
  const std::string sparse = banner + "coordinate real general\n11 1 3\n11 1 2\n3 1 1\n11 1 0.5\n";
  const int p = test_comm()->size();
  std::vector<GlobalIndex> reversed(static_cast<std::size_t>(p) + 1, 11);
  for (int r = 0; r <= p; ++r) reversed[static_cast<std::size_t>(r)] = r == 0 ? 0 : 11 * r / p / 2;
  reversed.back() = 11;
  for (const Layout& layout : {Layout::uniform(test_comm(), 11), Layout(test_comm(), reversed)}) {
    for (const std::string& path : {folder.file("b.mtx", array), folder.gzip_file("b.gz", array)}) {
      const std::vector<double> b = read_vector_market<double>(layout, path);
      ASSERT_EQ(b.size(), static_cast<std::size_t>(layout.n_local()));
      for (LocalIndex i = 0; i < layout.n_local(); ++i) {
        const auto g = static_cast<double>(layout.to_global(i));
        EXPECT_EQ(b[static_cast<std::size_t>(i)], g * g + 0.5);
      }
    }
    const std::vector<float> c = read_vector_market<float>(layout, folder.file("c.mtx", sparse));
    ASSERT_EQ(c.size(), static_cast<std::size_t>(layout.n_local()));
    for (LocalIndex i = 0; i < layout.n_local(); ++i) {
      const GlobalIndex g = layout.to_global(i);
      EXPECT_EQ(c[static_cast<std::size_t>(i)], g == 2 ? 1.0f : g == 10 ? 2.5f : 0.0f);
    }
  }
}

TEST(ReadVectorMarket, RefusesOtherShapes) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  const auto message = [&](ErrorCode code, const std::string& content) {
    const std::string path = folder.file("b.mtx", content);
    const std::string text =
        expect_same_error(*test_comm(), code, [&] { read_vector_market<float>(layout, path); });
    EXPECT_EQ(text.substr(0, path.size()), path);
    return text.substr(path.size());
  };
  EXPECT_EQ(message(ErrorCode::dimension_mismatch, banner + "array real general\n3 2\n"),
            " is 3 x 2, but one column is needed");
  EXPECT_EQ(
      message(ErrorCode::dimension_mismatch, banner + "array real general\n4 1\n1\n1\n1\n1\n"),
      " is 4 x 1, but needs 3 rows");
  EXPECT_EQ(message(ErrorCode::file_format, banner + "array real general\n3 1\n1\n1\n"),
            ", line 4: the file ends after 2 of the 3 entries announced on line 2");
}

/// Value (i, c) of the vectors in the files of the next test.
double vector_value(GlobalIndex i, int c) {
  return static_cast<double>(10 * i + c) + 0.25;
}

TEST(ReadVectorsMarket, ArrayAndCoordinateInAnyLayout) {
  const TempFolder folder;
  for (const int k : {1, 2, 6}) {
    const std::string shape = "11 " + std::to_string(k);
    std::string array = banner + "array real general\n" + shape + "\n";
    std::string sparse =
        banner + "coordinate real general\n" + shape + " " + std::to_string(2 * k) + "\n";
    for (int c = 0; c < k; ++c) {
      for (int i = 0; i < 11; ++i) array += std::to_string(vector_value(i, c)) + "\n";
      const std::string column = " " + std::to_string(c + 1) + " ";
      sparse += "11" + column + "1.5\n3" + column + "-2\n";
    }
    const std::string paths[] = {folder.file("B.mtx", array), folder.gzip_file("B.gz", array)};
    const std::string sparse_path = folder.file("C.mtx", sparse);
    const int p = test_comm()->size();
    std::vector<GlobalIndex> uneven(static_cast<std::size_t>(p) + 1, 11);
    for (int r = 0; r < p; ++r) uneven[static_cast<std::size_t>(r)] = 11 * r / p / 2;
    for (const Layout& layout : {Layout::uniform(test_comm(), 11), Layout(test_comm(), uneven)}) {
      const auto n = static_cast<std::size_t>(layout.n_local());
      for (const std::string& path : paths) {
        const auto B = read_vectors_market<double>(layout, path);
        EXPECT_EQ(B.n_vectors, k);
        ASSERT_EQ(B.values.size(), n * static_cast<std::size_t>(k));
        for (std::size_t at = 0; at < B.values.size(); ++at) {
          const auto row = layout.to_global(static_cast<LocalIndex>(at) / k);
          EXPECT_EQ(B.values[at], vector_value(row, static_cast<int>(at) % k));
        }
      }
      const auto C = read_vectors_market<float>(layout, sparse_path);
      ASSERT_EQ(C.values.size(), n * static_cast<std::size_t>(k));
      for (std::size_t at = 0; at < C.values.size(); ++at) {
        const auto row = layout.to_global(static_cast<LocalIndex>(at) / k);
        EXPECT_EQ(C.values[at], row == 10 ? 1.5f : row == 2 ? -2.0f : 0.0f);
      }
    }
  }
}

TEST(ReadVectorsMarket, RefusesOtherShapes) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  const auto message = [&](const std::string& content) {
    const std::string path = folder.file("b.mtx", content);
    return expect_same_error(*test_comm(), ErrorCode::dimension_mismatch,
                             [&] { read_vectors_market<double>(layout, path); })
        .substr(path.size());
  };
  EXPECT_EQ(message(banner + "array real general\n4 2\n"), " is 4 x 2, but needs 3 rows");
  EXPECT_EQ(message(banner + "array real general\n3 1001\n"),
            " is 3 x 1001, but 1 to 1000 columns can be read");
}

TEST(ReadOptions, KeepRowsOfAGroupTogether) {
  const TempFolder folder;
  for (const int n : {0, 1, 11, 24}) {
    const std::string size = std::to_string(n) + " " + std::to_string(n) + " 0\n";
    const auto A = read_matrix_market<double>(
        test_comm(), folder.file("A.mtx", banner + "coordinate real general\n" + size),
        {.together = 3});
    EXPECT_EQ(A.rows().n_global(), n);
    EXPECT_TRUE(A.rows() == A.cols());
    GlobalIndex longest = 0;
    GlobalIndex shortest = n;
    for (int r = 0; r < test_comm()->size(); ++r) {
      EXPECT_EQ(A.rows().begin(r) % 3, 0);
      longest = std::max(longest, A.rows().end(r) - A.rows().begin(r));
      shortest = std::min(shortest, A.rows().end(r) - A.rows().begin(r));
    }
    EXPECT_LE(longest - shortest, 5);  // a group, and what is left over
  }
}

}  // namespace io_matrix_market_read_test
}  // namespace nodewise::io
