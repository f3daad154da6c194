#include "nodewise/amg/virtual_exchanges.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;
using model::MessageStages;
using Starts = std::span<const GlobalIndex>;

constexpr auto bytes_of(std::size_t size) {
  return static_cast<std::int64_t>(size);
}
constexpr std::size_t row_word_bytes = sizeof(matrix::RowWord<double>);

/// Messages that have lengths and then items, where there are some.
MessageStages joined(MessageStages lengths, const MessageStages& items) {
  for (std::size_t s = 0; s < items.size(); ++s) {
    for (std::size_t r = 0; r < items[s].size(); ++r) {
      std::vector<model::SentMessage>& messages = lengths[s][r];
      for (const model::SentMessage& more : items[s][r]) {
        const auto has_same_end = [&](const model::SentMessage& m) { return m.to == more.to; };
        std::find_if(messages.begin(), messages.end(), has_same_end)->bytes += more.bytes;
      }
    }
  }
  return lengths;
}

/// Appends a record of as many items as the rows in every ghost column of a rank's part of M take
/// words. `entries` is room for them, column and row.
void append_column_words(const Csr<double>& M, GlobalIndex row_begin, GlobalIndex row_end,
                         GlobalIndex col_begin, GlobalIndex col_end,
                         std::vector<std::pair<GlobalIndex, GlobalIndex>>& entries,
                         std::vector<Offset>& offsets) {
  entries.clear();
  for (auto i = static_cast<LocalIndex>(row_begin); i < row_end; ++i) {
    for (Offset k = M.begin(i); k < M.end(i); ++k) {
      const LocalIndex j = M.cols[static_cast<std::size_t>(k)];
      if (j < col_begin || j >= col_end) entries.emplace_back(j, i);
    }
  }
  std::sort(entries.begin(), entries.end());
  std::vector<GlobalIndex> rows;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    rows.push_back(entries[e].second);
    if (e + 1 < entries.size() && entries[e + 1].first == entries[e].first) continue;
    offsets.push_back(offsets.back() + matrix::words_of<double>(rows));
    rows.clear();
  }
}

}  // namespace

VirtualExchanges::VirtualExchanges(const VirtualPlans& planned)
    : plans_(planned.plans),
      topology_(planned.topology),
      recorder_(static_cast<int>(plans_.size())) {}

void VirtualExchanges::forward(std::size_t bytes) {
  comm::visit_messages(plans_, topology_, recorder_.visitor(bytes_of(bytes)));
}

void VirtualExchanges::reversed(std::size_t bytes) {
  comm::visit_reversed_messages(plans_, topology_, recorder_.visitor(bytes_of(bytes)));
}

void VirtualExchanges::records(std::span<const Offset> offsets, std::size_t item_bytes) {
  append(before_, recorder_.take());
  forward(sizeof(Offset));
  MessageStages lengths = recorder_.take();
  comm::visit_record_messages(plans_, topology_, offsets, recorder_.visitor(bytes_of(item_bytes)));
  append(before_, joined(std::move(lengths), recorder_.take()));
}

void VirtualExchanges::rows(const Csr<double>& M, Starts row_starts, Starts col_starts) {
  records(matrix::virtual_row_words(M, row_starts, col_starts), row_word_bytes);
}

void VirtualExchanges::returned_records(const comm::Records<GlobalIndex>& ghosts,
                                        const comm::RecordLength& length, std::size_t item_bytes) {
  append(before_, recorder_.take());
  reversed(sizeof(Offset));
  MessageStages lengths = recorder_.take();
  comm::visit_returned_record_messages(plans_, topology_, ghosts, length,
                                       recorder_.visitor(bytes_of(item_bytes)));
  append(before_, joined(std::move(lengths), recorder_.take()));
}

void VirtualExchanges::returned_rows(const comm::Records<GlobalIndex>& ghosts) {
  returned_records(ghosts, matrix::words_of<double>, row_word_bytes);
}

void VirtualExchanges::transposed_rows(const Csr<double>& M, Starts row_starts, Starts col_starts) {
  comm::Records<GlobalIndex> words;
  std::vector<std::pair<GlobalIndex, GlobalIndex>> entries;
  for (std::size_t r = 0; r + 1 < row_starts.size(); ++r) {
    append_column_words(M, row_starts[r], row_starts[r + 1], col_starts[r], col_starts[r + 1],
                        entries, words.offsets);
  }
  words.data.resize(static_cast<std::size_t>(words.offsets.back()));
  std::iota(words.data.begin(), words.data.end(), GlobalIndex{0});  // all different: none is joined
  returned_records(
      words, [](std::span<const GlobalIndex> items) { return std::ssize(items); }, row_word_bytes);
}

MessageStages VirtualExchanges::take() {
  append(before_, recorder_.take());
  return std::exchange(before_, {});
}

std::vector<comm::Plan> plans_of(const Csr<double>& M, Starts rows, Starts cols,
                                 const mpi::Topology& topology, const comm::Route& route) {
  return comm::virtual_plans(comm::virtual_patterns(cols, matrix::virtual_ghosts(M, rows, cols)),
                             topology, route);
}

std::vector<comm::Plan> plans_of_move(Starts from, Starts to, const mpi::Topology& topology) {
  comm::Records<GlobalIndex> arriving;
  for (std::size_t r = 0; r + 1 < to.size(); ++r) {
    for (GlobalIndex i = to[r]; i < to[r + 1]; ++i) {
      if (i < from[r] || i >= from[r + 1]) arriving.data.push_back(i);
    }
    arriving.end_record();
  }
  return comm::virtual_plans(comm::virtual_patterns(from, arriving), topology, "direct");
}

void add_requests(const Csr<double>& M, Starts rows, Starts cols, MessageStages& stages) {
  const comm::Records<GlobalIndex> ghosts = matrix::virtual_ghosts(M, rows, cols);
  add_requests(comm::virtual_patterns(cols, ghosts), stages);
}

void add_requests(std::span<const comm::Pattern> patterns, MessageStages& stages) {
  auto& stage = stages.emplace_back(patterns.size());
  for (std::size_t r = 0; r < patterns.size(); ++r) {
    const comm::Pattern& pattern = patterns[r];
    for (std::size_t i = 0; i < pattern.recv_ranks.size(); ++i) {
      const std::int64_t n = pattern.recv_offsets[i + 1] - pattern.recv_offsets[i];
      stage[r].push_back({pattern.recv_ranks[i], n * bytes_of(sizeof(GlobalIndex))});
    }
  }
}

void append(MessageStages& stages, MessageStages more) {
  stages.insert(stages.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace nodewise::amg
