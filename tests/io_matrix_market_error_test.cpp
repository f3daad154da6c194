// Every rank throws the same error, with the line of the whole file; of several the first.
#include <unistd.h>

#include <gtest/gtest.h>

#include "nodewise/io/matrix_market.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_matrix_market_error_test {

using test::expect_same_error;
using test::TempFolder;
using test::test_comm;

/// The lines of a correct file of 60 entries with some comments and blank lines between them.
std::vector<std::string> correct_lines() {
  std::vector<std::string> lines = {"%%MatrixMarket matrix coordinate real general", "% comment",
                                    "20 20 60"};
  for (int k = 0; k < 60; ++k) {
    if (k % 7 == 3) lines.push_back(k % 2 == 0 ? "% between" : "");
    lines.push_back(std::to_string(k % 20 + 1) + " " + std::to_string(k / 3 + 1) + " 0." +
                    std::string(static_cast<std::size_t>(k % 11), '4') + "1");
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines, const std::string& end = "\n") {
  std::string text;
  for (const std::string& line : lines) text += line + end;
  return text;
}

/// Expects the message, behind the path, from the plain and from the gzip file.
void expect_message(const std::string& content, const std::string& message) {
  const TempFolder folder;
  const std::string plain = folder.file("a.mtx", content);
  const std::string gzip = folder.gzip_file("a.mtx.gz", content);
  for (const auto& file :
       {std::pair{plain, std::size_t{5}}, {plain, default_piece_bytes}, {gzip, std::size_t{5}}}) {
    const std::string& path = file.first;
    ReadOptions options;
    options.piece_bytes = file.second;
    EXPECT_EQ(expect_same_error(*test_comm(), ErrorCode::file_format,
                                [&] { read_matrix_market<double>(test_comm(), path, options); }),
              path + message);
  }
}

TEST(MatrixMarketErrors, TheFileTheyStartFromIsCorrect) {
  const TempFolder folder;
  for (const char* end : {"\n", "\r\n"}) {
    const std::string path = folder.file("a.mtx", join(correct_lines(), end));
    EXPECT_EQ(read_matrix_market<double>(test_comm(), path).nnz_global(), 60);
  }
}

TEST(MatrixMarketErrors, NameTheLineWhereverItIs) {
  const std::size_t n = correct_lines().size();
  for (const std::size_t line : {std::size_t{4}, n / 3, n / 2, n}) {
    std::vector<std::string> lines = correct_lines();
    lines[line - 1] = "5 21 1";
    expect_message(join(lines),
                   ", line " + std::to_string(line) + ": column index 21 is outside 1 .. 20");
    lines[line - 1] = "0 1 1";
    expect_message(join(lines, "\r\n"),
                   ", line " + std::to_string(line) + ": row index 0 is outside 1 .. 20");
    lines[line - 1] = "1 1 nan";
    expect_message(join(lines),
                   ", line " + std::to_string(line) + ": the value 'nan' is not finite");
    lines[line - 1] = "1 1";
    expect_message(join(lines),
                   ", line " + std::to_string(line) + ": expected 'row column value', found '1 1'");
  }
}

TEST(MatrixMarketErrors, OfSeveralTheLowestLineIsReported) {
  std::vector<std::string> lines = correct_lines();
  const std::size_t n = lines.size();
  lines.push_back("1 1 1");  // one too many, at the end
  for (std::size_t line = n; line > 4; line -= 9) {
    lines[line - 1] = "wrong";
    expect_message(join(lines), ", line " + std::to_string(line) +
                                    ": expected 'row column value', found 'wrong'");
    if (line < 14) break;
  }
}

TEST(MatrixMarketErrors, TooFewAndTooManyEntries) {
  std::vector<std::string> lines = correct_lines();
  lines.push_back("% the end");
  const std::string last = std::to_string(lines.size());
  lines[2] = "20 20 61";
  expect_message(join(lines), ", line " + last +
                                  ": the file ends after 60 of the 61 entries announced on line 3");
  lines[2] = "20 20 9000000000000000000";
  expect_message(join(lines), ", line " + last +
                                  ": the file ends after 60 of the "
                                  "9000000000000000000 entries announced on line 3");
  // Entry number k + 1 stands behind k entries, k / 7 or so lines without one, and the header.
  for (const int announced : {0, 1, 17, 31, 59}) {
    lines[2] = "20 20 " + std::to_string(announced);
    std::size_t at = 3;
    for (int seen = 0; at < lines.size(); ++at) {
      const bool entry = !lines[at].empty() && lines[at][0] != '%';
      if (entry && seen++ == announced) break;
    }
    expect_message(join(lines), ", line " + std::to_string(at + 1) + ": more entries than the " +
                                    std::to_string(announced) + " announced on line 3");
  }
}

TEST(MatrixMarketErrors, ATruncatedLastLineIsNotAccepted) {
  const std::string text = join(correct_lines());
  // Without the last entry's value, and without the last entry.
  expect_message(text.substr(0, text.rfind(' ')),
                 ", line 72: expected 'row column value', found '20 20'");
  expect_message(text.substr(0, text.rfind("20 20")),
                 ", line 71: the file ends after 59 of the 60 entries announced on line 3");
}

TEST(MatrixMarketErrors, LongLines) {
  std::vector<std::string> lines = correct_lines();
  lines[38] = "% " + std::string(max_line_bytes - 2, 'x');
  const TempFolder folder;
  EXPECT_EQ(
      read_matrix_market<double>(test_comm(), folder.file("ok.mtx", join(lines))).nnz_global(), 60);
  lines[38] += "x";
  expect_message(join(lines), ", line 39: the line is longer than 65536 bytes");
  lines[38] = std::string(5 * max_line_bytes, ' ');
  expect_message(join(lines), ", line 39: the line is longer than 65536 bytes");
  lines[1] = "%" + std::string(max_line_bytes, 'x');
  expect_message(join(lines), ", line 2: the line is longer than 65536 bytes");
}

TEST(MatrixMarketErrors, Headers) {
  expect_message("MatrixMarket\n",
                 ", line 1: a Matrix Market file begins with '%%MatrixMarket', this with "
                 "'MatrixMarket'");
  expect_message("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
                 ", line 1: complex matrices are not supported");
  expect_message("%%MatrixMarket matrix coordinate real general\n%\n\n",
                 ", line 3: the file ends before the size line");
  expect_message("%%MatrixMarket matrix coordinate real symmetric\n%\n3 3 2\n1 1 1\n1 2 1\n",
                 ", line 5: entry (1, 2) is above the diagonal, but a symmetric file holds the "
                 "lower triangle only");
}

std::string error_of_path(const std::string& path, ErrorCode code) {
  return expect_same_error(*test_comm(), code,
                           [&] { read_matrix_market<double>(test_comm(), path); });
}

TEST(MatrixMarketErrors, FilesThatCannotBeRead) {
  const TempFolder folder;
  EXPECT_EQ(error_of_path(folder.path("none.mtx"), ErrorCode::file_not_found),
            folder.path("none.mtx") + ": cannot be opened: No such file or directory");
  EXPECT_EQ(error_of_path(folder.path(""), ErrorCode::file_not_found),
            folder.path("") + ": cannot be opened: it is a folder");
  EXPECT_EQ(error_of_path("/dev/null", ErrorCode::file_not_found),
            "/dev/null: cannot be opened: it is not a regular file");
  const std::string empty = folder.file("empty.mtx", "");
  EXPECT_EQ(error_of_path(empty, ErrorCode::file_format), empty + ": the file is empty");
  if (geteuid() != 0) {  // root may read everything
    const std::string locked = folder.file("locked.mtx", join(correct_lines()));
    std::filesystem::permissions(locked, std::filesystem::perms::none);
    EXPECT_EQ(error_of_path(locked, ErrorCode::file_not_found),
              locked + ": cannot be opened: Permission denied");
  }
}

TEST(MatrixMarketErrors, GzipTruncatedOrCorrupt) {
  const TempFolder folder;
  std::vector<std::string> lines = correct_lines();
  for (int k = 0; k < 5000; ++k) {
    lines.push_back("1 1 0." + std::to_string(k * 7919LL * k % 1000003));
  }
  lines[2] = "20 20 5060";
  const std::string whole = test::content_of(folder.gzip_file("a.gz", join(lines)));
  ASSERT_GT(whole.size(), 5000u);
  const std::string cut = folder.file("cut.gz", whole.substr(0, whole.size() / 2));
  const std::string text = error_of_path(cut, ErrorCode::file_io);
  EXPECT_EQ(text.find(cut + ", line "), 0u) << text;
  EXPECT_NE(text.find(": the gzip data end too early"), std::string::npos) << text;
  std::string damaged = whole;
  for (std::size_t k = damaged.size() / 2; k < damaged.size() / 2 + 40; ++k) damaged[k] ^= 0x55;
  // What the damage makes of the text may break the format before zlib sees it.
  EXPECT_ANY_THROW(read_matrix_market<double>(test_comm(), folder.file("bad.gz", damaged)));
  std::string checksum = whole;
  checksum[checksum.size() - 6] ^= 1;
  const std::string wrong = folder.file("crc.gz", checksum);
  EXPECT_EQ(error_of_path(wrong, ErrorCode::file_io),
            wrong + ", line " + std::to_string(lines.size() + 1) +
                ": the gzip data are corrupt: incorrect data check");
  // Members one behind the other are one text, and what follows the last one is ignored.
  const std::string text_a = join(lines).substr(0, 1000);
  const std::string text_b = join(lines).substr(1000);
  const std::string two = folder.file(
      "two.gz", test::content_of(folder.gzip_file("1.gz", text_a)) +
                    test::content_of(folder.gzip_file("2.gz", text_b)) + std::string(100, '\0'));
  ReadSummary summary;
  read_matrix_market<double>(test_comm(), two, {}, &summary);
  EXPECT_EQ(summary.entries, 5060);
  const std::string head = folder.file("head.gz", whole.substr(0, 12));
  EXPECT_EQ(error_of_path(head, ErrorCode::file_io),
            head + ", line 1: the gzip data end too early");
}

}  // namespace io_matrix_market_error_test
}  // namespace nodewise::io
