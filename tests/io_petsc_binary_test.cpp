// PETSc's binary format, byte by byte, and its errors on all ranks.
#include <gtest/gtest.h>

#include "nodewise/io/big_endian.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/io/read.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_petsc_binary_test {

using comm::Layout;
using test::Entries;
using test::expect_same_error;
using test::gather_entries;
using test::TempFolder;
using test::test_comm;

/// Numbers one behind the other, integers as Int.
template <class Int>
std::string bytes_of(const std::vector<std::int64_t>& integers,
                     const std::vector<double>& values = {}) {
  std::string text;
  char bytes[8];
  for (const std::int64_t number : integers) {
    store_big_endian(static_cast<Int>(number), bytes);
    text.append(bytes, sizeof(Int));
  }
  for (const double number : values) {
    store_big_endian(number, bytes);
    text.append(bytes, 8);
  }
  return text;
}

const std::vector<std::int64_t> small_integers = {1211216, 3, 4, 5, 2, 0, 3, 0, 3, 0, 1, 2};
const std::vector<double> small_values = {1.5, -2, 3, 0, 5};
const Entries small_entries = {{0, 0, 1.5}, {0, 3, -2}, {2, 0, 3}, {2, 1, 0}, {2, 2, 5}};

TEST(PetscBinary, BytesAreBigEndian) {
  EXPECT_EQ(bytes_of<std::int32_t>({1211216}), std::string("\x00\x12\x7b\x50", 4));
  EXPECT_EQ(bytes_of<std::int32_t>({-1}), "\xff\xff\xff\xff");
  EXPECT_EQ(bytes_of<std::int32_t>({}, {1.0}), std::string("\x3f\xf0\0\0\0\0\0\0", 8));
  EXPECT_EQ(load_big_endian<std::int64_t>("\x00\x00\x00\x01\x00\x00\x00\x02"),
            (std::int64_t{1} << 32) + 2);
}

TEST(PetscBinary, ReadsBothWidthsAndWritesTheSameBytes) {
  const TempFolder folder;
  const std::string narrow_bytes = bytes_of<std::int32_t>(small_integers, small_values);
  const std::string wide_bytes = bytes_of<std::int64_t>(small_integers, small_values);
  ReadSummary summary;
  // What follows in the file, here a second object, is left alone.
  const std::string narrow = folder.file("a.petsc", narrow_bytes + narrow_bytes);
  const auto A = read_matrix<double>(test_comm(), narrow, {}, &summary);
  EXPECT_EQ(gather_entries(A), small_entries);
  EXPECT_EQ(summary.format, "PETSc binary matrix, 32-bit integers");
  EXPECT_EQ(summary.entries, 5);
  const std::string wide = folder.file("w.petsc", wide_bytes);
  EXPECT_EQ(gather_entries(read_matrix<float>(test_comm(), wide, {}, &summary)), small_entries);
  EXPECT_EQ(summary.format, "PETSc binary matrix, 64-bit integers");
  write_petsc_matrix(narrow, A);
  EXPECT_EQ(test::content_of(narrow), narrow_bytes);
  write_petsc_matrix(wide, A, PetscIndex::bits64);
  EXPECT_EQ(test::content_of(wide), wide_bytes);
}

TEST(PetscBinary, VectorsInBothWidths) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  const std::string narrow = bytes_of<std::int32_t>({1211214, 3}, {1, 2, 4});
  const std::string wide = bytes_of<std::int64_t>({1211214, 3}, {1, 2, 4});
  for (const std::string& content : {narrow, wide}) {
    const std::string path = folder.file(content == wide ? "w.bin" : "n.bin", content);
    const std::vector<double> x = read_vector<double>(layout, path);
    for (LocalIndex i = 0; i < layout.n_local(); ++i) {
      EXPECT_EQ(x[static_cast<std::size_t>(i)], static_cast<double>(1 << layout.to_global(i)));
    }
    write_petsc_vector<double>(path, layout, x,
                               content == wide ? PetscIndex::bits64 : PetscIndex::bits32);
    EXPECT_EQ(test::content_of(path), content);
  }
}

TEST(PetscBinary, TheSameMatrixFromEveryFormat) {
  const TempFolder folder;
  const auto A = generate<double>(test_comm(), {"rotated_fe", 17});
  write_matrix(folder.path("a.mtx"), A);
  write_matrix(folder.path("a.petsc"), A);
  const std::string gzip = folder.gzip_file("a.gz", test::content_of(folder.path("a.mtx")));
  for (const std::string& path : {folder.path("a.mtx"), folder.path("a.petsc"), gzip}) {
    const auto B = read_matrix<double>(test_comm(), path);
    EXPECT_EQ(B.rows(), A.rows());
    EXPECT_TRUE(
        std::equal(B.ghosts().begin(), B.ghosts().end(), A.ghosts().begin(), A.ghosts().end()));
    EXPECT_EQ(B.on().row_ptr, A.on().row_ptr) << path;
    EXPECT_EQ(B.on().cols, A.on().cols);
    EXPECT_EQ(B.on().vals, A.on().vals);
    EXPECT_EQ(B.off().row_ptr, A.off().row_ptr);
    EXPECT_EQ(B.off().cols, A.off().cols);
    EXPECT_EQ(B.off().vals, A.off().vals);
  }
}

struct Refusal {
  std::string content;
  ErrorCode code;
  const char* message;
};

TEST(PetscBinary, SaysWhatIsWrong) {
  const auto changed = [](std::size_t place, std::int64_t number) {
    std::vector<std::int64_t> integers = small_integers;
    integers[place] = number;
    return bytes_of<std::int32_t>(integers, small_values);
  };
  const std::string good = bytes_of<std::int32_t>(small_integers, small_values);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Refusal refusals[] = {
      {changed(0, 1211214), ErrorCode::file_format, "the file holds a vector, not a matrix"},
      {changed(0, 1211213), ErrorCode::file_format, "this is not a PETSc binary matrix or vector"},
      {"", ErrorCode::file_format, "the file is empty"},
      {changed(3, -1), ErrorCode::file_format, "dense matrices are not supported"},
      {changed(1, -3), ErrorCode::file_format, "the sizes -3 x 4 with 5 nonzeros are not possible"},
      {good.substr(0, 10), ErrorCode::file_io, "the file ends too early"},
      {good.substr(0, good.size() - 1), ErrorCode::file_io, "the file ends after 87 of 88 bytes"},
      {changed(1, 2000000000), ErrorCode::file_io, "the file ends after 88 of 8000000076 bytes"},
      {changed(5, -2), ErrorCode::file_format, "row 1, counted from 0, has length -2"},
      {changed(6, 2), ErrorCode::file_format, "the rows have 4 entries, but 5 are announced"},
      {changed(8, 4), ErrorCode::file_format,
       "row 0, column 4 (counted from 0): the last column is 3"},
      {changed(11, -1), ErrorCode::file_format,
       "row 2, column -1 (counted from 0): the last column is 3"},
      {bytes_of<std::int32_t>(small_integers, {1, 2, 3, nan, 5}), ErrorCode::file_format,
       "row 2, column 1 (counted from 0): the value nan is not finite"}};
  const TempFolder folder;
  for (const Refusal& refusal : refusals) {
    const std::string path = folder.file("a.petsc", refusal.content);
    EXPECT_EQ(expect_same_error(*test_comm(), refusal.code,
                                [&] { read_petsc_matrix<double>(test_comm(), path); }),
              path + ": " + refusal.message);
  }
}

TEST(PetscBinary, VectorErrors) {
  const TempFolder folder;
  const Layout layout = Layout::uniform(test_comm(), 3);
  const auto message = [&](ErrorCode code, const std::string& content) {
    const std::string path = folder.file("x.bin", content);
    return expect_same_error(*test_comm(), code, [&] { read_vector<double>(layout, path); })
        .substr(path.size());
  };
  EXPECT_EQ(message(ErrorCode::dimension_mismatch, bytes_of<std::int32_t>({1211214, 2}, {1, 2})),
            ": the vector has 2 elements, 3 are needed");
  EXPECT_EQ(message(ErrorCode::file_io, bytes_of<std::int32_t>({1211214, 3}, {1, 2})),
            ": the file ends after 24 of 32 bytes");
  EXPECT_EQ(message(ErrorCode::file_format, bytes_of<std::int32_t>(small_integers, small_values)),
            ": the file holds a matrix, not a vector");
  EXPECT_EQ(message(ErrorCode::file_format,
                    bytes_of<std::int32_t>({1211214, 3},
                                           {1, std::numeric_limits<double>::infinity(), 2})),
            ": element 1: the value inf is not finite");
}

}  // namespace io_petsc_binary_test
}  // namespace nodewise::io
