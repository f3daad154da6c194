// The text of Matrix Market files, line by line; nothing here communicates.
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/io/entry_lines.hpp"
#include "nodewise/io/matrix_market_parse.hpp"

#include "collective_error.hpp"

namespace nodewise::io {
namespace io_matrix_market_parse_test {

using test::error_of;

/// Gives out a text in pieces of at most `most` bytes.
LineReader::Source text_source(const std::string& text, std::size_t most) {
  return [text, most, at = std::size_t{0}](std::span<char> into) mutable {
    const std::size_t count = std::min({most, into.size(), text.size() - at});
    std::memcpy(into.data(), text.data() + at, count);
    at += count;
    return count;
  };
}

std::vector<std::string> lines_of(const std::string& text, std::size_t piece, std::size_t most) {
  LineReader reader(text_source(text, most), piece);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(reader.offset(), static_cast<Offset>(text.size()));
  EXPECT_EQ(reader.lines(), static_cast<std::int64_t>(lines.size()));
  return lines;
}

TEST(LineReader, CutsTheSameLinesWhateverThePieces) {
  const std::string text = "first\n\n  third\r\nlast without an end";
  const std::vector<std::string> expected = {"first", "", "  third\r", "last without an end"};
  for (const std::size_t piece : {1, 2, 3, 5, 7, 64, 1 << 20}) {
    EXPECT_EQ(lines_of(text, piece, 1000), expected) << piece;
    EXPECT_EQ(lines_of(text, piece, 2), expected) << piece;
  }
  EXPECT_TRUE(lines_of("", 16, 16).empty());
  EXPECT_EQ(lines_of("\n", 16, 16), std::vector<std::string>{""});
}

TEST(LineReader, RefusesALineThatIsTooLong) {
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) {
    const std::string longest(max_line_bytes, 'x');
    EXPECT_EQ(lines_of("a\n" + longest + "\nb", piece, 1 << 20).size(), 3u);
    for (const char* tail : {"", "\nb"}) {
      LineReader reader(text_source("a\n" + longest + "x" + tail, 1 << 20), piece);
      std::string_view line;
      EXPECT_TRUE(reader.next(line));
      const auto error = error_of([&] { reader.next(line); });
      ASSERT_TRUE(error);
      EXPECT_STREQ(error->what(), "the line is longer than 65536 bytes");
      EXPECT_EQ(reader.lines(), 2);
    }
  }
}

MarketHeader header_of(const std::string& text) {
  LineReader reader(text_source(text, 7), 16);
  return parse_market_header(reader);
}

TEST(MarketHeader, IsReadInAnyCaseWithCommentsAndBlankLines) {
  const std::string text =
      "%%matrixMARKET Matrix COORDINATE Real General \r\n% comment\n\n   % another\n \t\r\n"
      "  +3\t4  5 \r\n";
  const MarketHeader header = header_of(text + "1 1 1\n");
  EXPECT_EQ(header.format, MarketFormat::coordinate);
  EXPECT_EQ(header.field, MarketField::real);
  EXPECT_EQ(header.symmetry, MarketSymmetry::general);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 4);
  EXPECT_EQ(header.entries, 5);
  EXPECT_EQ(header.lines, 6);
  EXPECT_EQ(header.bytes, static_cast<Offset>(text.size()));
}

TEST(MarketHeader, CountsTheEntriesOfArrays) {
  EXPECT_EQ(header_of("%%MatrixMarket matrix array real general\n3 5").entries, 15);
  EXPECT_EQ(header_of("%%MatrixMarket matrix array integer symmetric\n4 4").entries, 10);
  EXPECT_EQ(header_of("%%MatrixMarket matrix array real skew-symmetric\n4 4").entries, 6);
  EXPECT_EQ(header_of("%%MatrixMarket matrix array real skew-symmetric\n0 0").entries, 0);
  EXPECT_EQ(header_of("%%MatrixMarket matrix array real symmetric\n3037000499 3037000499").entries,
            GlobalIndex{3037000499} * 3037000500 / 2);
}

TEST(MarketHeader, KeepsSizesBeyond32Bits) {
  const MarketHeader header = header_of(
      "%%MatrixMarket matrix coordinate real general\n9223372036854775807 5000000000 6000000000");
  EXPECT_EQ(header.rows, std::numeric_limits<GlobalIndex>::max());
  EXPECT_EQ(header.cols, 5000000000);
  EXPECT_EQ(header.entries, 6000000000);
}

struct Refusal {
  const char* text;
  const char* message;
  ErrorCode code = ErrorCode::file_format;
};

TEST(MarketHeader, RefusesWhatItDoesNotUnderstand) {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const Refusal refusals[] = {
      {"", "the file is empty"},
      {"1 1 1\n", "a Matrix Market file begins with '%%MatrixMarket', this with '1 1 1'"},
      {"\x01\xff\n", "a Matrix Market file begins with '%%MatrixMarket', this with '?\?'"},
      {"%%MatrixMarket\n", "the object '' is not supported, only 'matrix'"},
      {"%%MatrixMarket vector array real general\n",
       "the object 'vector' is not supported, only 'matrix'"},
      {"%%MatrixMarket matrix block real general\n",
       "the format 'block' is none of coordinate, array"},
      {"%%MatrixMarket matrix coordinate quaternion general\n",
       "the field 'quaternion' is none of real, integer, pattern"},
      {"%%MatrixMarket matrix coordinate complex general\n", "complex matrices are not supported"},
      {"%%MatrixMarket matrix coordinate real Hermitian\n", "hermitian matrices are not supported"},
      {"%%MatrixMarket matrix coordinate real\n",
       "the symmetry '' is none of general, symmetric, skew-symmetric"},
      {"%%MatrixMarket matrix coordinate real general now\n",
       "the header has more than five words"},
      {"%%MatrixMarket matrix array pattern general\n", "a pattern cannot be in array format"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
       "a pattern cannot be skew-symmetric"},
      {"%%MatrixMarket matrix coordinate real general\n% only comments\n",
       "the file ends before the size line"},
      {"%%MatrixMarket matrix coordinate real general\n3 3\n",
       "expected the size line 'rows columns entries', found '3 3'"},
      {"%%MatrixMarket matrix coordinate real general\n3 3 1 1\n",
       "expected the size line 'rows columns entries', found '3 3 1 1'"},
      {"%%MatrixMarket matrix coordinate real general\n-3 3 1\n",
       "expected the size line 'rows columns entries', found '-3 3 1'"},
      {"%%MatrixMarket matrix coordinate real general\n3 3 1.0\n",
       "expected the size line 'rows columns entries', found '3 3 1.0'"},
      {"%%MatrixMarket matrix array real general\n3 3 9\n",
       "expected the size line 'rows columns', found '3 3 9'"},
      {"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n",
       "a symmetric matrix must be square, this is 3 x 4"},
      {"%%MatrixMarket matrix coordinate real general\n3 9223372036854775808 1\n",
       "the size 9223372036854775808 does not fit in 64 bits", ErrorCode::index_overflow},
      {"%%MatrixMarket matrix array real general\n9999999999 9999999999\n",
       "the 9999999999 x 9999999999 entries of the array do not fit in 64 bits",
       ErrorCode::index_overflow}};
  for (const Refusal& refusal : refusals) {
    const auto error = error_of([&] { header_of(refusal.text); });
    ASSERT_TRUE(error) << refusal.text;
    EXPECT_STREQ(error->what(), refusal.message);
    EXPECT_EQ(error->code(), refusal.code) << refusal.text;
  }
}

MarketHeader header(MarketField field, MarketSymmetry symmetry = MarketSymmetry::general) {
  MarketHeader h;
  h.field = field;
  h.symmetry = symmetry;
  h.rows = 5;
  h.cols = symmetry == MarketSymmetry::general ? 7 : 5;
  return h;
}

TEST(MarketEntry, AcceptsEveryWayToWriteANumber) {
  const std::pair<const char*, double> values[] = {
      {"1", 1},           {"+2.5", 2.5},
      {"-0", -0.0},       {".5", 0.5},
      {"3.", 3},          {"1e3", 1000},
      {"1E+3", 1000},     {"1.5D+02", 150},
      {"-2.5d-1", -0.25}, {"+1.0D0", 1},
      {"1e-400", 0},      {"4.9406564584124654e-324", 5e-324},
      {"0.1", 0.1},       {"1e308", 1e308},
      {"007", 7},         {"123456789012345678901", 123456789012345678901.0}};
  for (const auto& [text, expected] : values) {
    const std::string line = std::string(" \t5  +7\t") + text + " \r";
    const MarketEntry entry = parse_market_entry(header(MarketField::real), line);
    EXPECT_EQ(entry.row, 4);
    EXPECT_EQ(entry.col, 6);
    EXPECT_EQ(entry.value, expected) << text;
    EXPECT_EQ(parse_market_value(header(MarketField::real), text), expected);
  }
  EXPECT_EQ(parse_market_entry(header(MarketField::integer), "1 1 -12").value, -12);
  EXPECT_EQ(parse_market_entry(header(MarketField::pattern), "2 3\r").value, 1);
}

TEST(MarketEntry, SaysWhatIsWrong) {
  const auto expect = [](const MarketHeader& h, const char* line, const char* message) {
    const auto error = error_of([&] { parse_market_entry(h, line); });
    ASSERT_TRUE(error) << line;
    EXPECT_STREQ(error->what(), message);
    EXPECT_EQ(error->code(), ErrorCode::file_format);
  };
  const MarketHeader real = header(MarketField::real);
  for (const char* line : {"1 2", "1", "1 2 x", "1 2 3 4", "1.0 2 3", "1 2.5", "1 2 1e", "1 2 --1",
                           "1 2 +-1", "1 2 1.0D", "1 2 1.0D+", "1 2 0x10", "1 2 1,5", "a b c",
                           "1 2 1d1d1", "1 2 .", "1 - 2 3", "+ 1 2"}) {
    expect(real, line, ("expected 'row column value', found '" + std::string(line) + "'").c_str());
  }
  expect(header(MarketField::pattern), "1 2 3", "expected 'row column', found '1 2 3'");
  expect(header(MarketField::integer), "1 2 3.5",
         "expected 'row column whole-number', found '1 2 3.5'");
  expect(real, "1 2 \x07\x80 0123456789012345678901234567890123456789",
         "expected 'row column value', found '1 2 ?? 012345678901234567890123456789012...'");
  expect(real, "0 1 1", "row index 0 is outside 1 .. 5");
  expect(real, "6 1 1", "row index 6 is outside 1 .. 5");
  expect(real, "-1 1 1", "row index -1 is outside 1 .. 5");
  expect(real, "5 8 1", "column index 8 is outside 1 .. 7");
  expect(real, "5 99999999999999999999 1", "column index 99999999999999999999 is outside 1 .. 7");
  for (const char* value : {"nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1D999"}) {
    expect(real, ("1 1 " + std::string(value)).c_str(),
           ("the value '" + std::string(value) + "' is not finite").c_str());
  }
  expect(header(MarketField::real, MarketSymmetry::symmetric), "1 2 1",
         "entry (1, 2) is above the diagonal, but a symmetric file holds the lower triangle only");
  expect(header(MarketField::real, MarketSymmetry::skew_symmetric), "2 2 3",
         "diagonal entry (2, 2) of a skew-symmetric matrix is 3, not 0");
  EXPECT_EQ(
      parse_market_entry(header(MarketField::real, MarketSymmetry::skew_symmetric), "2 2 0").value,
      0);
}

TEST(ArrayPosition, WalksColumnByColumn) {
  for (const auto symmetry :
       {MarketSymmetry::general, MarketSymmetry::symmetric, MarketSymmetry::skew_symmetric}) {
    for (GlobalIndex n = 1; n <= 6; ++n) {
      MarketHeader h;
      h.symmetry = symmetry;
      h.rows = n;
      h.cols = symmetry == MarketSymmetry::general ? 4 : n;
      std::vector<std::pair<GlobalIndex, GlobalIndex>> expected;
      for (GlobalIndex j = 0; j < h.cols; ++j) {
        const GlobalIndex first = symmetry == MarketSymmetry::general     ? 0
                                  : symmetry == MarketSymmetry::symmetric ? j
                                                                          : j + 1;
        for (GlobalIndex i = first; i < n; ++i) expected.emplace_back(i, j);
      }
      for (std::size_t start = 0; start < expected.size(); ++start) {
        ArrayPosition position(h, static_cast<GlobalIndex>(start));
        for (std::size_t k = start; k < expected.size(); ++k, position.advance()) {
          EXPECT_EQ(position.row(), expected[k].first);
          EXPECT_EQ(position.col(), expected[k].second);
        }
      }
    }
  }
}

TEST(EntryLines, KnowsTheLineOfEveryEntry) {
  EntryLines lines([](std::string_view line) {
    if (line == "bad") throw Error(ErrorCode::file_format, "bad line");
  });
  std::vector<std::int64_t> expected;
  std::int64_t number = 0;
  for (const char* line : {"", "% c", "1", "2", "%", "3", "", "", "4", "5"}) {
    ++number;
    if (is_entry_line(line)) expected.push_back(number);
    lines.take(line);
  }
  EXPECT_EQ(lines.lines(), 10);
  ASSERT_EQ(lines.entries(), 5);
  for (GlobalIndex k = 0; k < 5; ++k) {
    EXPECT_EQ(lines.line_of(k), expected[static_cast<std::size_t>(k)]);
  }
  lines.take("bad");
  lines.take("6");
  EXPECT_EQ(lines.lines(), 11);
  EXPECT_EQ(lines.entries(), 5);
  EXPECT_STREQ(lines.error()->what(), "bad line");
}

}  // namespace io_matrix_market_parse_test
}  // namespace nodewise::io
