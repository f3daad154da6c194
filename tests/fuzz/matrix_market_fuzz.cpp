// Feeds any bytes to the Matrix Market parser. Whatever they are, it must return entries inside the
// matrix or throw Error with a short printable text, and the same for every size of the pieces.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "nodewise/io/matrix_market_parse.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::io;

void require(bool condition) {
  if (!condition) std::abort();
}

LineReader::Source source_of(std::string_view text) {
  return [text](std::span<char> into) mutable {
    const std::size_t count = std::min(into.size(), text.size());
    std::memcpy(into.data(), text.data(), count);
    text.remove_prefix(count);
    return count;
  };
}

/// What the parser made of a text.
struct Outcome {
  std::string error;
  std::int64_t lines = 0;
  Offset bytes = 0;
  std::vector<double> values;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void check(const MarketHeader& header, const MarketEntry& entry) {
  require(entry.row >= 0 && entry.row < header.rows);
  require(entry.col >= 0 && entry.col < header.cols);
  require(std::isfinite(entry.value));
  require(header.symmetry == MarketSymmetry::general || entry.col <= entry.row);
}

void parse(LineReader& reader, Outcome& outcome) {
  const MarketHeader header = parse_market_header(reader);
  require(header.rows >= 0 && header.cols >= 0 && header.entries >= 0);
  require(header.lines == reader.lines() && header.bytes == reader.offset());
  std::string_view line;
  while (reader.next(line)) {
    if (!is_entry_line(line)) continue;
    if (header.format == MarketFormat::coordinate) {
      const MarketEntry entry = parse_market_entry(header, line);
      check(header, entry);
      outcome.values.push_back(entry.value);
      continue;
    }
    outcome.values.push_back(parse_market_value(header, line));
    const auto number = static_cast<GlobalIndex>(outcome.values.size()) - 1;
    if (number >= header.entries) continue;
    const ArrayPosition position(header, number);
    check(header, {position.row(), position.col(), outcome.values.back()});
  }
}

Outcome run(std::string_view text, std::size_t piece_bytes) {
  Outcome outcome;
  LineReader reader(source_of(text), piece_bytes);
  try {
    parse(reader, outcome);
  } catch (const Error& error) {
    outcome.error = error.what();
    require(!outcome.error.empty() && outcome.error.size() < 300);
    for (const char c : outcome.error) require(c >= ' ' && c <= '~');
  }
  outcome.lines = reader.lines();
  outcome.bytes = reader.offset();
  require(!outcome.error.empty() || outcome.bytes == static_cast<Offset>(text.size()));
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome whole = run(text, 4096);
  require(run(text, 1 + size % 29) == whole);
  return 0;
}
