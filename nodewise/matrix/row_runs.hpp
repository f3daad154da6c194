// Matrix rows as runs of consecutive columns, the form in which they travel between ranks.
//
// A run is a header of one word, its first column, counted from the first of the layout, in the low
// 56 bits and its length less one in the high 8, and its values behind it: one word each in double
// precision, two to a word in single. A row without consecutive columns takes two words an entry,
// in blocks of three columns four words for three entries. No rank has to know what kind of rows
// another one has.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::matrix {

/// A word of a row that travels: a header, or values of type T.
template <class T>
struct RowWord {
  std::uint64_t bits;
};

/// An entry of a row that travels: its column is not as this rank numbers it, since ranks number
/// ghosts differently, but global, in a row of runs counted from the first of the layout.
template <class T>
struct RowEntry {
  GlobalIndex col;
  T value;
};

constexpr int run_column_bits = 56;
constexpr std::size_t longest_run = 256;
/// The number of columns that rows that travel can have, 7e16.
constexpr GlobalIndex max_run_columns = GlobalIndex{1} << run_column_bits;

template <class T>
constexpr std::size_t values_per_word = sizeof(RowWord<T>) / sizeof(T);

/// Cuts the columns of a row, told one after the other, into runs, and counts the words.
template <class T>
class RunCounter {
 public:
  /// Whether the column extends the run before it, not begins one.
  bool push(GlobalIndex col) {
    const bool extends = length_ > 0 && length_ < longest_run && col == next_;
    next_ = col + 1;
    if (!extends) length_ = 0;
    words_ += (extends ? 0 : 1) + (length_ % values_per_word<T> == 0 ? 1 : 0);
    ++length_;
    return extends;
  }
  /// The next column begins a run.
  void end_row() { length_ = 0; }
  /// Columns of the present run.
  std::size_t length() const { return length_; }
  /// Of all rows so far.
  Offset words() const { return words_; }

 private:
  GlobalIndex next_ = 0;
  std::size_t length_ = 0;
  Offset words_ = 0;
};

/// Appends rows to words. The order of a row's entries is kept.
template <class T>
class RunWriter {
 public:
  explicit RunWriter(std::vector<RowWord<T>>& words) : words_(words) {}

  /// The column as a RowEntry has it. Throws index_overflow where it does not fit a header.
  void push(GlobalIndex col, T value) {
    if (runs_.push(col)) {
      words_[header_].bits += std::uint64_t{1} << run_column_bits;
    } else {
      begin_run(col);
    }
    const std::size_t slot = (runs_.length() - 1) % values_per_word<T>;
    if (slot == 0) words_.push_back({0});
    std::memcpy(reinterpret_cast<std::byte*>(&words_.back()) + slot * sizeof(T), &value, sizeof(T));
  }
  void end_row() { runs_.end_row(); }

 private:
  void begin_run(GlobalIndex col) {
    if (col < 0 || col >= max_run_columns) {
      throw Error(ErrorCode::index_overflow, "rows of a matrix between ranks: column " +
                                                 std::to_string(col) +
                                                 ", counted from the first, is not below 2^56");
    }
    header_ = words_.size();
    words_.push_back({static_cast<std::uint64_t>(col)});
  }

  std::vector<RowWord<T>>& words_;
  RunCounter<T> runs_;
  std::size_t header_ = 0;  // of the present run
};

/// Local. The words that a row with these columns takes.
template <class T>
Offset words_of(std::span<const GlobalIndex> columns) {
  RunCounter<T> runs;
  for (const GlobalIndex col : columns) runs.push(col);
  return runs.words();
}

/// Local. Calls f(first column, length, first word of the values) for every run of one or more
/// rows.
template <class T, class F>
void for_each_run(std::span<const RowWord<T>> words, const F& f) {
  for (std::size_t at = 0; at < words.size();) {
    const std::uint64_t header = words[at].bits;
    const auto length = static_cast<std::size_t>(header >> run_column_bits) + 1;
    f(static_cast<GlobalIndex>(header & (static_cast<std::uint64_t>(max_run_columns) - 1)), length,
      words.subspan(at + 1));
    at += 1 + (length + values_per_word<T> - 1) / values_per_word<T>;
  }
}

/// Local. Calls f(column, value) for every entry, in the order in which they were written.
template <class T, class F>
void for_each_entry_of_runs(std::span<const RowWord<T>> words, const F& f) {
  for_each_run(words, [&f](GlobalIndex first, std::size_t length, std::span<const RowWord<T>> at) {
    const auto* values = reinterpret_cast<const std::byte*>(at.data());
    for (std::size_t k = 0; k < length; ++k) {
      T value;
      std::memcpy(&value, values + k * sizeof(T), sizeof(T));
      f(first + static_cast<GlobalIndex>(k), value);
    }
  });
}

/// Local. Returns how many entries these words hold.
template <class T>
std::size_t entries_of(std::span<const RowWord<T>> words) {
  std::size_t n = 0;
  for_each_run(words,
               [&n](GlobalIndex, std::size_t length, std::span<const RowWord<T>>) { n += length; });
  return n;
}

/// Adds up entries of equal columns in rows that are passed on. Holds the work space.
template <class T>
class RunCombiner {
 public:
  /// Replaces the row by one with ascending columns, each once, and returns its words, never more
  /// than before. Values of a column are added in their order. Does not throw: without memory the
  /// row stays as it is, which its owner adds up as well.
  std::size_t operator()(std::span<RowWord<T>> row) noexcept;

 private:
  std::vector<RowEntry<T>> entries_;
  std::vector<RowWord<T>> words_;
};

}  // namespace nodewise::matrix
