#include "cli/print/tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

namespace nodewise::cli {

namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace

std::string ranks_text(int active_ranks, int copies) {
  return copies > 1 ? fmt::format("{} copies", grouped(copies)) : grouped(active_ranks);
}

Table::Table(const std::vector<std::string>& heads) {
  for (const std::string& head : heads) heads_.push_back(split_lines(head));
}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(heads_.size());
  rows_.push_back(std::move(cells));
}

void Table::shorten(std::size_t most) {
  if (rows_.size() <= most) return;
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(most) - 2;
  rows_.erase(first, rows_.end() - 1);
  rows_.insert(rows_.end() - 1, {"..."});
  rows_[most - 2].resize(heads_.size());
}

std::vector<std::string> Table::lines() const {
  const std::size_t n_columns = heads_.size();
  std::vector<std::size_t> width(n_columns, 0);
  std::size_t head_lines = 0;
  for (std::size_t c = 0; c < n_columns; ++c) {
    head_lines = std::max(head_lines, heads_[c].size());
    for (const std::string& line : heads_[c]) width[c] = std::max(width[c], line.size());
    for (const auto& row : rows_) width[c] = std::max(width[c], row[c].size());
  }
  std::vector<std::string> result(head_lines + rows_.size());
  for (std::size_t l = 0; l < result.size(); ++l) {
    for (std::size_t c = 0; c < n_columns; ++c) {
      std::string cell;
      if (l >= head_lines) {
        cell = rows_[l - head_lines][c];
      } else if (l + heads_[c].size() >= head_lines) {
        cell = heads_[c][l + heads_[c].size() - head_lines];
      }
      const bool is_left = last_is_left_ && c + 1 == n_columns;
      result[l] += is_left ? fmt::format("  {}", cell) : fmt::format("  {:>{}}", cell, width[c]);
    }
    result[l].erase(result[l].find_last_not_of(' ') + 1);
  }
  return result;
}

void Table::print(Console& console) const {
  for (const std::string& line : lines()) console.line(line);
}

void Table::print(Console& console, const std::string& title) const {
  console.line(title);
  print(console);
  console.line();
}

}  // namespace nodewise::cli
