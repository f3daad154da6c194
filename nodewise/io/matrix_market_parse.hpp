// The Matrix Market format as text: header, size line and entry lines. Pure functions of their
// input; no files and no MPI.
#pragma once

#include <string>
#include <string_view>

#include "nodewise/base/types.hpp"
#include "nodewise/io/line_reader.hpp"

namespace nodewise::io {

enum class MarketFormat { coordinate, array };
enum class MarketField { real, integer, pattern };
enum class MarketSymmetry { general, symmetric, skew_symmetric };

const char* to_string(MarketFormat format) noexcept;
const char* to_string(MarketField field) noexcept;
const char* to_string(MarketSymmetry symmetry) noexcept;

/// The header: everything before the entries.
struct MarketHeader {
  MarketFormat format = MarketFormat::coordinate;
  MarketField field = MarketField::real;
  MarketSymmetry symmetry = MarketSymmetry::general;
  GlobalIndex rows = 0;
  GlobalIndex cols = 0;
  GlobalIndex entries = 0;  ///< entry lines that must follow
  std::int64_t lines = 0;   ///< lines up to and including the size line
  Offset bytes = 0;         ///< bytes of these lines
};

/// Local. Reads the lines up to the size line. Words are recognised in upper and lower case;
/// comments and blank lines may stand between the first line and the size line.
/// Throws file_format, or index_overflow where a size does not fit in 64 bits; the text names no
/// line, it is number reader.lines().
/// Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial design", 1996.
MarketHeader parse_market_header(LineReader& reader);

/// Local. False for blank lines and comments, which are skipped between the entries, too.
bool is_entry_line(std::string_view line) noexcept;

/// An entry in indices counted from 0.
struct MarketEntry {
  GlobalIndex row;
  GlobalIndex col;
  double value;  ///< 1 in a pattern file
};

/// Local. Parses one entry line of a coordinate file. Throws file_format where it is malformed, an
/// index is outside the matrix, the value is not finite (or not whole in an integer file), the
/// entry of a symmetric file is above the diagonal (such files hold the lower triangle only), or
/// the diagonal of a skew-symmetric file is not zero.
MarketEntry parse_market_entry(const MarketHeader& header, std::string_view line);

/// Local. One entry line of an array file.
double parse_market_value(const MarketHeader& header, std::string_view line);

/// Local. The positions of the entries of an array file, in the order of the file: column by
/// column; for symmetric files from the diagonal down, for skew-symmetric ones from below the
/// diagonal.
class ArrayPosition {
 public:
  /// Begins at entry k, counted from 0.
  ArrayPosition(const MarketHeader& header, GlobalIndex k);
  GlobalIndex row() const { return row_; }
  GlobalIndex col() const { return col_; }
  void advance() {
    if (++row_ == rows_) row_ = first_row(++col_);
  }

 private:
  GlobalIndex first_row(GlobalIndex col) const { return triangle_ ? col + (strict_ ? 1 : 0) : 0; }

  bool triangle_;
  bool strict_;
  GlobalIndex rows_;
  GlobalIndex row_ = 0;
  GlobalIndex col_ = 0;
};

/// Local. At most the first 40 bytes of a text, unprintable ones as '?', for messages.
std::string excerpt(std::string_view text);

}  // namespace nodewise::io
