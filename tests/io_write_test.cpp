// Files are written in parallel, read back the same, and appear complete or not at all.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/output_file.hpp"
#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/assemble.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_write_test {

using comm::Layout;
using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::TempFolder;
using test::test_comm;

/// 3 x 4 with the numbers that are hard to print.
template <class T>
matrix::DistMatrix<T> awkward(bool with_nan = false) {
  const Layout rows = Layout::uniform(test_comm(), 3);
  const Layout cols = Layout::uniform(test_comm(), 4);
  return matrix::matrix_from_rows<T>(rows, cols, [&](GlobalIndex row, auto&& emit) {
    if (row == 0) {
      emit(3, T(0.1));
      emit(0, std::numeric_limits<T>::denorm_min());
    } else if (row == 2) {
      emit(0, with_nan ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::max());
      emit(1, T(0));
      emit(2, T(-1) / T(3));
    }
  });
}

TEST(WriteMatrixMarket, IsTheSameTextOnAnyNumberOfRanks) {
  const TempFolder folder;
  write_matrix_market(folder.path("a.mtx"), awkward<double>());
  EXPECT_EQ(test::content_of(folder.path("a.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 5e-324\n1 4 0.1\n"
            "3 1 1.7976931348623157e+308\n3 2 0\n3 3 -0.3333333333333333\n");
  write_matrix_market(folder.path("f.mtx"), awkward<float>());
  EXPECT_EQ(test::content_of(folder.path("f.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1e-45\n1 4 0.1\n"
            "3 1 3.4028235e+38\n3 2 0\n3 3 -0.33333334\n");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.mtx", "f.mtx"}));
}

template <class T>
void expect_round_trip(const TempFolder& folder, const std::string& name) {
  for (const auto& A : {awkward<T>(), generate<T>(test_comm(), {"random", 300})}) {
    write_matrix(folder.path(name), A);
    ReadSummary summary;
    EXPECT_EQ(gather_entries(read_matrix<T>(test_comm(), folder.path(name), {}, &summary)),
              gather_entries(A));
    EXPECT_EQ(summary.duplicates, 0);
  }
}

TEST(WriteMatrix, RoundTripsInEveryFormat) {
  const TempFolder folder;
  for (const FileFormat& format : FileFormat::family()) {
    for (const std::string& ending : *format.endings) {
      const std::string name = "a" + ending;
      EXPECT_EQ(&format_of_name(name), &format);
      expect_round_trip<double>(folder, name);
      expect_round_trip<float>(folder, name);
      EXPECT_EQ(&format_of_content(*test_comm(), folder.path(name)), &format);
    }
  }
}

TEST(WriteVector, RoundTripsInEveryFormat) {
  const TempFolder folder;
  for (const GlobalIndex n : {GlobalIndex{1}, GlobalIndex{5}, GlobalIndex{100000}}) {
    const Layout layout = Layout::uniform(test_comm(), n);
    std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = hash_normal(static_cast<std::uint64_t>(layout.begin()) + i);
    }
    for (const char* name : {"x.mtx", "x.petsc"}) {
      write_vector<double>(folder.path(name), layout, x);
      EXPECT_EQ(read_vector<double>(layout, folder.path(name)), x) << name;
    }
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"x.mtx", "x.petsc"}));
}

TEST(WriteVectors, IsTheSameTextOnAnyNumberOfRanksAndReadsBack) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  std::vector<double> values;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
    values.insert(values.end(), {0.5 + static_cast<double>(i), -1e300 * static_cast<double>(i)});
  }
  write_vectors<double>(folder.path("x.mtx"), layout, values, 2);
  EXPECT_EQ(test::content_of(folder.path("x.mtx")),
            "%%MatrixMarket matrix array real general\n3 2\n0.5\n1.5\n2.5\n-0\n-1e+300\n-2e+300\n");
  const Vectors<double> read = read_vectors<double>(layout, folder.path("x.mtx"));
  EXPECT_EQ(read.n_vectors, 2);
  EXPECT_EQ(read.values, values);
  // One column may be a file of one vector; several have no place in a PETSc file.
  const std::vector<double> one(static_cast<std::size_t>(layout.n_local()), 1.0);
  write_vectors<double>(folder.path("x.petsc"), layout, one, 1);
  EXPECT_EQ(read_vector<double>(layout, folder.path("x.petsc")), one);
  const std::string text = expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    write_vectors<double>(folder.path("y.bin"), layout, values, 2);
  });
  EXPECT_NE(text.find("a PETSc file holds one vector"), std::string::npos) << text;
  if (layout.owns(1)) values.back() = std::numeric_limits<double>::quiet_NaN();
  expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                    [&] { write_vectors<double>(folder.path("x.mtx"), layout, values, 2); });
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"x.mtx", "x.petsc"}));
}

TEST(WriteVector, NamesMustTellTheFormat) {
  for (const char* name : {"x", "x.txt", "x.petsc.gz", "mtx"}) {
    const auto error = test::error_of([&] { format_of_name(name); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_EQ(std::string(error->what()),
              std::string(name) +
                  ": the name of an output file must end in .mtx or .mtx.gz (Matrix Market), "
                  ".petsc or .bin (PETSc binary)");
  }
}

TEST(OutputFile, AnErrorLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()), 1.0);
  if (layout.owns(2)) x.back() = std::numeric_limits<double>::infinity();
  for (const char* name : {"old.mtx", "old.petsc"}) {
    const std::string path = folder.file(name, "what was there");
    expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                      [&] { write_matrix(path, awkward<double>(true)); });
    const std::string text = expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                               [&] { write_vector<double>(path, layout, x); });
    EXPECT_NE(text.find(path + ": not written: row 3 holds inf"), std::string::npos) << text;
    EXPECT_EQ(test::content_of(path), "what was there");
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"old.mtx", "old.petsc"}));
}

TEST(OutputFile, AnErrorWhileWritingRemovesTheUnfinishedFile) {
  const TempFolder folder;
  const std::string path = folder.path("new.bin");
  const int last = test_comm()->size() - 1;
  const std::string text = expect_same_error(*test_comm(), ErrorCode::file_io, [&] {
    OutputFile file(test_comm(), path);
    mpi::collectively(*test_comm(), [&] {
      file.write_at(test_comm()->rank(), std::string("x"));
      // Nothing can be written before the beginning of a file.
      if (test_comm()->rank() == last) file.write_at(-5, std::string("x"));
    });
    file.commit();
  });
  EXPECT_NE(text.find(path + ": writing failed: Invalid argument"), std::string::npos) << text;
  MPI_Barrier(test_comm()->get());
  EXPECT_TRUE(folder.names().empty());
}

TEST(OutputFile, FoldersAndDevicesAreNotReplaced) {
  const TempFolder folder;
  const auto message = [&](const std::string& path) {
    return expect_same_error(*test_comm(), ErrorCode::file_io,
                             [&] { write_matrix_market(path, awkward<double>()); });
  };
  EXPECT_EQ(message("/dev/null"), "/dev/null: cannot be written: it is not a regular file");
  EXPECT_EQ(message(folder.path("")), folder.path("") + ": cannot be written: it is a folder");
  EXPECT_EQ(message(folder.path("none/x.mtx")),
            folder.path("none/x.mtx") + ": cannot be created: No such file or directory");
  EXPECT_TRUE(folder.names().empty());
}

TEST(WriteMatrix, AnEmptyMatrixReadsBack) {
  const TempFolder folder;
  const Layout none = Layout::uniform(test_comm(), 0);
  const auto A = matrix::matrix_from_rows<double>(none, none, [](GlobalIndex, auto&&) {});
  for (const char* name : {"a.mtx", "a.petsc"}) {
    write_matrix(folder.path(name), A);
    const auto B = read_matrix<double>(test_comm(), folder.path(name));
    EXPECT_EQ(B.rows().n_global(), 0);
    EXPECT_EQ(B.nnz_global(), 0);
  }
}

}  // namespace io_write_test
}  // namespace nodewise::io
