#include "nodewise/io/matrix_market_parse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

namespace nodewise::io {

namespace {

constexpr GlobalIndex max_index = std::numeric_limits<GlobalIndex>::max();

bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

[[noreturn]] void malformed(const std::string& text) {
  throw Error(ErrorCode::file_format, text);
}

/// Walks over the blank-separated words of a line.
struct Words {
  const char* at;
  const char* end;

  explicit Words(std::string_view line) : at(line.data()), end(line.data() + line.size()) {}
  void skip_blanks() {
    while (at != end && is_blank(*at)) ++at;
  }
  bool finished() {
    skip_blanks();
    return at == end;
  }
  std::string_view word() {
    skip_blanks();
    const char* begin = at;
    while (at != end && !is_blank(*at)) ++at;
    return {begin, static_cast<std::size_t>(at - begin)};
  }
  bool at_word_end() const { return at == end || is_blank(*at); }
};

/// Takes a whole number. Values beyond 64 bits become the largest or lowest one, with `overflow`.
bool take_integer(Words& words, GlobalIndex& value, bool* overflow = nullptr) {
  words.skip_blanks();
  const char* p = words.at;
  const bool negative = p != words.end && *p == '-';
  if (p != words.end && (*p == '-' || *p == '+')) ++p;
  if (p == words.end || !is_digit(*p)) return false;
  GlobalIndex v = 0;
  bool too_large = false;
  for (; p != words.end && is_digit(*p); ++p) {
    const int digit = *p - '0';
    too_large = too_large || v > (max_index - digit) / 10;
    if (!too_large) v = 10 * v + digit;
  }
  if (too_large) v = max_index;
  if (overflow) *overflow = too_large;
  value = negative ? -v : v;
  words.at = p;
  return words.at_word_end();
}

/// Fortran writes 1.0D+00; the letter becomes an e. Rare, so that a copy does no harm.
bool take_fortran_number(Words& words, const char* begin, double& value) {
  words.at = begin;
  std::string copy(words.word());
  const std::size_t letter = copy.find_first_of("dD");
  copy[letter] = 'e';
  const auto [stop, status] = fast_float::from_chars(copy.data(), copy.data() + copy.size(), value);
  return status == std::errc() && stop == copy.data() + copy.size();
}

bool take_number(Words& words, double& value) {
  words.skip_blanks();
  const char* begin = words.at;
  if (begin != words.end && *begin == '+') {
    ++begin;
    if (begin != words.end && *begin == '-') return false;
  }
  const auto [stop, status] = fast_float::from_chars(begin, words.end, value);
  if (status == std::errc::invalid_argument) return false;
  words.at = stop;
  if (words.at_word_end()) return true;
  return (*stop == 'd' || *stop == 'D') && take_fortran_number(words, begin, value);
}

const char* entry_shape(const MarketHeader& header) {
  if (header.format == MarketFormat::array) {
    return header.field == MarketField::integer ? "one whole number" : "one number";
  }
  switch (header.field) {
    case MarketField::pattern:
      return "'row column'";
    case MarketField::integer:
      return "'row column whole-number'";
    default:
      return "'row column value'";
  }
}

[[noreturn]] void malformed_entry(const MarketHeader& header, std::string_view line) {
  malformed(fmt::format("expected {}, found '{}'", entry_shape(header), excerpt(line)));
}

/// The value at the end of an entry line.
double take_last_value(const MarketHeader& header, Words& words, std::string_view line) {
  words.skip_blanks();
  const char* begin = words.at;
  double value = 0;
  if (!take_number(words, value)) malformed_entry(header, line);
  if (!std::isfinite(value)) {
    Words again({begin, static_cast<std::size_t>(words.end - begin)});
    malformed(fmt::format("the value '{}' is not finite", excerpt(again.word())));
  }
  if (header.field == MarketField::integer && value != std::trunc(value)) {
    malformed_entry(header, line);
  }
  if (!words.finished()) malformed_entry(header, line);
  return value;
}

std::string lower_case(std::string_view word) {
  std::string result(word.substr(0, 64));
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

MarketFormat parse_format(const std::string& word) {
  if (word == "coordinate") return MarketFormat::coordinate;
  if (word == "array") return MarketFormat::array;
  malformed(fmt::format("the format '{}' is none of coordinate, array", excerpt(word)));
}

MarketField parse_field(const std::string& word) {
  if (word == "real") return MarketField::real;
  if (word == "integer") return MarketField::integer;
  if (word == "pattern") return MarketField::pattern;
  if (word == "complex") malformed("complex matrices are not supported");
  malformed(fmt::format("the field '{}' is none of real, integer, pattern", excerpt(word)));
}

MarketSymmetry parse_symmetry(const std::string& word) {
  if (word == "general") return MarketSymmetry::general;
  if (word == "symmetric") return MarketSymmetry::symmetric;
  if (word == "skew-symmetric") return MarketSymmetry::skew_symmetric;
  if (word == "hermitian") malformed("hermitian matrices are not supported");
  malformed(fmt::format("the symmetry '{}' is none of general, symmetric, skew-symmetric",
                        excerpt(word)));
}

void parse_banner(std::string_view line, MarketHeader& header) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // of UTF-8: editors put it there
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  Words words(line);
  const bool first_column = !line.empty() && line[0] == '%';
  if (!first_column || lower_case(words.word()) != "%%matrixmarket") {
    malformed(fmt::format("a Matrix Market file begins with '%%MatrixMarket', this with '{}'",
                          excerpt(line)));
  }
  const std::string object = lower_case(words.word());
  if (object != "matrix") {
    malformed(fmt::format("the object '{}' is not supported, only 'matrix'", excerpt(object)));
  }
  header.format = parse_format(lower_case(words.word()));
  header.field = parse_field(lower_case(words.word()));
  header.symmetry = parse_symmetry(lower_case(words.word()));
  if (!words.finished()) malformed("the header has more than five words");
  if (header.field == MarketField::pattern && header.format == MarketFormat::array) {
    malformed("a pattern cannot be in array format");
  }
  if (header.field == MarketField::pattern && header.symmetry == MarketSymmetry::skew_symmetric) {
    malformed("a pattern cannot be skew-symmetric");
  }
}

/// Returns how many numbers an array file holds.
GlobalIndex array_entries(const MarketHeader& header) {
  __extension__ using Wide = __int128;
  const Wide n = header.rows;
  Wide entries = n * header.cols;
  if (header.symmetry == MarketSymmetry::symmetric) entries = n * (n + 1) / 2;
  if (header.symmetry == MarketSymmetry::skew_symmetric) entries = n * (n - 1) / 2;
  if (entries > max_index) {
    throw Error(ErrorCode::index_overflow,
                fmt::format("the {} x {} entries of the array do not fit in 64 bits", header.rows,
                            header.cols));
  }
  return static_cast<GlobalIndex>(entries);
}

void parse_size_line(std::string_view line, MarketHeader& header) {
  const bool coordinate = header.format == MarketFormat::coordinate;
  GlobalIndex sizes[3] = {0, 0, 0};
  Words words(line);
  for (int k = 0; k < (coordinate ? 3 : 2); ++k) {
    bool overflow = false;
    words.skip_blanks();
    const Words before = words;
    if (!take_integer(words, sizes[k], &overflow) || sizes[k] < 0) {
      malformed(fmt::format("expected the size line '{}', found '{}'",
                            coordinate ? "rows columns entries" : "rows columns", excerpt(line)));
    }
    if (overflow) {
      throw Error(ErrorCode::index_overflow, fmt::format("the size {} does not fit in 64 bits",
                                                         excerpt(Words(before).word())));
    }
  }
  if (!words.finished()) {
    malformed(fmt::format("expected the size line '{}', found '{}'",
                          coordinate ? "rows columns entries" : "rows columns", excerpt(line)));
  }
  header.rows = sizes[0];
  header.cols = sizes[1];
  if (header.symmetry != MarketSymmetry::general && header.rows != header.cols) {
    malformed(fmt::format("a {} matrix must be square, this is {} x {}", to_string(header.symmetry),
                          header.rows, header.cols));
  }
  header.entries = coordinate ? sizes[2] : array_entries(header);
}

/// `index` is word `place` of the line, in whose text it may be longer than 64 bits.
void check_index(const char* what, GlobalIndex index, GlobalIndex n, std::string_view line,
                 int place) {
  if (index >= 1 && index <= n) return;
  Words words(line);
  std::string_view word = words.word();
  for (int k = 0; k < place; ++k) word = words.word();
  malformed(fmt::format("{} index {} is outside 1 .. {}", what, excerpt(word), n));
}

void check_triangle(const MarketHeader& header, const MarketEntry& entry) {
  if (entry.col > entry.row) {
    malformed(
        fmt::format("entry ({}, {}) is above the diagonal, but a {} file holds the lower "
                    "triangle only",
                    entry.row + 1, entry.col + 1, to_string(header.symmetry)));
  }
  if (header.symmetry == MarketSymmetry::skew_symmetric && entry.row == entry.col &&
      entry.value != 0) {
    malformed(fmt::format("diagonal entry ({}, {}) of a skew-symmetric matrix is {}, not 0",
                          entry.row + 1, entry.col + 1, entry.value));
  }
}

}  // namespace

const char* to_string(MarketFormat format) noexcept {
  return format == MarketFormat::array ? "array" : "coordinate";
}

const char* to_string(MarketField field) noexcept {
  switch (field) {
    case MarketField::integer:
      return "integer";
    case MarketField::pattern:
      return "pattern";
    default:
      return "real";
  }
}

const char* to_string(MarketSymmetry symmetry) noexcept {
  switch (symmetry) {
    case MarketSymmetry::symmetric:
      return "symmetric";
    case MarketSymmetry::skew_symmetric:
      return "skew-symmetric";
    default:
      return "general";
  }
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string result(text.substr(0, longest));
  for (char& c : result) {
    if (c == '\t') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > longest) result += "...";
  return result;
}

bool is_entry_line(std::string_view line) noexcept {
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  return first != line.end() && *first != '%';
}

MarketHeader parse_market_header(LineReader& reader) {
  MarketHeader header;
  std::string_view line;
  if (!reader.next(line)) malformed("the file is empty");
  parse_banner(line, header);
  while (reader.next(line)) {
    if (!is_entry_line(line)) continue;
    parse_size_line(line, header);
    header.lines = reader.lines();
    header.bytes = reader.offset();
    return header;
  }
  malformed("the file ends before the size line");
}

MarketEntry parse_market_entry(const MarketHeader& header, std::string_view line) {
  Words words(line);
  MarketEntry entry{0, 0, 1};
  if (!take_integer(words, entry.row) || !take_integer(words, entry.col)) {
    malformed_entry(header, line);
  }
  if (header.field != MarketField::pattern) {
    entry.value = take_last_value(header, words, line);
  } else if (!words.finished()) {
    malformed_entry(header, line);
  }
  check_index("row", entry.row, header.rows, line, 0);
  check_index("column", entry.col, header.cols, line, 1);
  --entry.row;
  --entry.col;
  if (header.symmetry != MarketSymmetry::general) check_triangle(header, entry);
  return entry;
}

double parse_market_value(const MarketHeader& header, std::string_view line) {
  Words words(line);
  return take_last_value(header, words, line);
}

ArrayPosition::ArrayPosition(const MarketHeader& header, GlobalIndex k)
    : triangle_(header.symmetry != MarketSymmetry::general),
      strict_(header.symmetry == MarketSymmetry::skew_symmetric),
      rows_(header.rows) {
  if (!triangle_) {
    col_ = rows_ > 0 ? k / rows_ : 0;
    row_ = rows_ > 0 ? k % rows_ : 0;
    return;
  }
  // Entries in the columns before col: a sum of rows - j (- 1), grows with col.
  const GlobalIndex longest = rows_ - (strict_ ? 1 : 0);
  const auto before = [longest](GlobalIndex col) {
    __extension__ using Wide = __int128;
    return static_cast<Wide>(col) * longest - static_cast<Wide>(col) * (col - 1) / 2;
  };
  GlobalIndex low = 0;
  for (GlobalIndex high = rows_; high - low > 1;) {
    const GlobalIndex middle = low + (high - low) / 2;
    (before(middle) <= k ? low : high) = middle;
  }
  col_ = low;
  row_ = first_row(low) + static_cast<GlobalIndex>(k - before(low));
}

}  // namespace nodewise::io
