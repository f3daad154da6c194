#include "nodewise/io/entry_lines.hpp"

#include <algorithm>

#include "nodewise/io/matrix_market_parse.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

void EntryLines::take(std::string_view line) {
  if (error_) return;
  ++lines_;
  error_ = mpi::caught([&] {
    if (is_entry_line(line)) {
      on_entry_(line);
      ++entries_;
    } else if (!gaps_.empty() && gaps_.back().entry == entries_) {
      ++gaps_.back().skipped;
    } else {
      gaps_.push_back({entries_, (gaps_.empty() ? 0 : gaps_.back().skipped) + 1});
    }
  });
}

void EntryLines::fail(const Error& error) {
  if (error_) return;
  ++lines_;
  error_ = error;
}

std::int64_t EntryLines::line_of(GlobalIndex entry) const {
  const auto behind = std::upper_bound(gaps_.begin(), gaps_.end(), entry,
                                       [](GlobalIndex e, const Gap& gap) { return e < gap.entry; });
  return entry + 1 + (behind == gaps_.begin() ? 0 : std::prev(behind)->skipped);
}

}  // namespace nodewise::io
