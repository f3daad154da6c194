// Template bodies of exchange.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "nodewise/base/parallel.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm {

namespace detail {

/// Records of the given lengths, their data not set.
template <class T>
Records<T> make_records(std::span<const Offset> lengths) {
  Records<T> records;
  records.offsets.resize(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), records.offsets.begin() + 1);
  records.data.resize(static_cast<std::size_t>(records.offsets.back()));
  return records;
}

/// The first n records that arrived.
template <class T>
Records<T> collect_records(const RecordMessages& messages, std::size_t n) {
  std::vector<Offset> lengths;
  for (std::size_t k = 0; k < n; ++k) {
    lengths.push_back(static_cast<Offset>(messages[k].size() / sizeof(T)));
  }
  Records<T> records = make_records<T>(lengths);
  auto* out = reinterpret_cast<std::byte*>(records.data.data());
  for (std::size_t k = 0; k < n; ++k) out = std::copy(messages[k].begin(), messages[k].end(), out);
  return records;
}

/// Joins records in two steps: the first finds the room, the second cannot fail.
template <class T>
class Merge {
 public:
  /// Record k of `extra`, of which the lengths are looked at, goes behind record entries[k] of
  /// `base`.
  Merge(const Records<T>& base, std::span<const LocalIndex> entries, const Records<T>& extra) {
    merged_.offsets.assign(base.offsets.size(), 0);
    for (std::size_t i = 0; i < base.size(); ++i) merged_.offsets[i + 1] = base.length(i);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      merged_.offsets[static_cast<std::size_t>(entries[k]) + 1] += extra.length(k);
    }
    for (std::size_t i = 0; i < base.size(); ++i) merged_.offsets[i + 1] += merged_.offsets[i];
    merged_.data.resize(base.data.size() + extra.data.size());
    next_.assign(merged_.offsets.begin(), merged_.offsets.end() - 1);
  }

  Records<T> run(const Records<T>& base, std::span<const LocalIndex> entries,
                 const Records<T>& extra) && {
    for (std::size_t i = 0; i < base.size(); ++i) append(i, base[i]);
    for (std::size_t k = 0; k < entries.size(); ++k) {
      append(static_cast<std::size_t>(entries[k]), extra[k]);
    }
    return std::move(merged_);
  }

 private:
  void append(std::size_t i, std::span<const T> record) {
    std::copy(record.begin(), record.end(), merged_.data.begin() + next_[i]);
    next_[i] += static_cast<Offset>(record.size());
  }

  Records<T> merged_;
  std::vector<Offset> next_;
};

/// Replaces the records from `first` on by what combine(record) leaves of them.
template <class T, class Combine>
void combine_records(Records<T>& records, std::size_t first, const Combine& combine) {
  Offset begin = records.offsets[first];
  Offset out = begin;
  for (std::size_t i = first; i < records.size(); ++i) {
    const Offset end = records.offsets[i + 1];
    const auto length = static_cast<std::size_t>(end - begin);
    const auto record = std::span<T>(records.data).subspan(static_cast<std::size_t>(begin), length);
    const auto left = static_cast<std::ptrdiff_t>(combine(record));
    if (out != begin) std::copy(record.begin(), record.begin() + left, records.data.begin() + out);
    out += left;
    begin = end;
    records.offsets[i + 1] = out;
  }
  records.data.resize(static_cast<std::size_t>(out));
}

/// Spreads the ghosts' values to their places in the received part of the pool; zero elsewhere: -0,
/// so that a single value that is added arrives as it is.
template <class T>
void add_ghosts_to_pool(const Plan& plan, std::span<const T> ghosts, std::size_t width,
                        std::span<T> pool) {
  std::fill(pool.begin(), pool.end(), static_cast<T>(-T{}));
  for (std::size_t g = 0; g < static_cast<std::size_t>(plan.n_ghosts); ++g) {
    const std::size_t place = plan.ghost_entries.empty()
                                  ? g
                                  : static_cast<std::size_t>(plan.ghost_entries[g] - plan.n_owned);
    for (std::size_t k = 0; k < width; ++k) pool[place * width + k] += ghosts[g * width + k];
  }
}

}  // namespace detail

template <class T, class Work>
void Exchange::forward_beside(std::span<const T> owned, std::span<T> ghosts, int width,
                              Work&& work) {
  if (has_talker()) {
    return parallel::beside([&] { forward(owned, ghosts, width); },
                            [&] { clocked(&OverlapTimes::work, work); });
  }
  start(owned, ghosts, width);
  if (overlap_ == Overlap::none) finish();
  clocked(&OverlapTimes::work, work);
  if (overlap_ != Overlap::none) finish();
}

template <class T>
void Exchange::start_reverse_add(std::span<const T> ghosts, int width) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  flight_ = Flight::reverse;
  const auto w = static_cast<std::size_t>(width);
  item_bytes_ = w * sizeof(T);
  stage_ = plan_.stages.size();
  // Ranks that pass entries on add up in the pool; with one stage the ghosts are sent as they are.
  if (!plan_.receives_in_place() || plan_.stages.size() > 1) {
    const auto n_received = static_cast<std::size_t>(plan_.pool_size() - plan_.n_owned);
    const std::span<T> pool = as_items<T>(pool_buffer_, n_received * w);
    detail::add_ghosts_to_pool(plan_, ghosts, w, pool);
    ghosts = pool;
  }
  pool_ = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(ghosts.data()));
  if (stage_ > 0) start_reversed(--stage_, pool_);
}

template <class T>
void Exchange::finish_reversed_stages(std::size_t width) {
  require(Flight::reverse);
  const mpi::Communicating communicating(*comm_);
  flight_ = Flight::none;
  if (plan_.stages.empty()) return;
  T* const pool = reinterpret_cast<T*>(pool_);
  while (true) {
    clocked(&OverlapTimes::wait, [&] { carriers_[stage_]->finish(); });
    if (stage_ == 0) return;
    const std::vector<LocalIndex>& entries = plan_.stages[stage_].send_entries;
    const std::span<const T> returned = as_items<T>(send_buffers_[stage_], entries.size() * width);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (entries[e] < plan_.n_owned) continue;
      T* const target = pool + static_cast<std::size_t>(entries[e] - plan_.n_owned) * width;
      for (std::size_t k = 0; k < width; ++k) target[k] += returned[e * width + k];
    }
    start_reversed(--stage_, pool_);
  }
}

template <class T>
void Exchange::add_returned(std::span<T> owned, std::size_t width) {
  for (std::size_t s = plan_.stages.size(); s-- > 0;) {
    const std::vector<LocalIndex>& entries = plan_.stages[s].send_entries;
    const std::span<const T> returned = as_items<T>(send_buffers_[s], entries.size() * width);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      if (entries[e] >= plan_.n_owned) continue;
      T* const target = owned.data() + static_cast<std::size_t>(entries[e]) * width;
      for (std::size_t k = 0; k < width; ++k) target[k] += returned[e * width + k];
    }
  }
}

template <class T>
void Exchange::finish_reverse_add(std::span<T> owned, int width) {
  finish_reversed_stages<T>(static_cast<std::size_t>(width));
  add_returned(owned, static_cast<std::size_t>(width));
}

template <class T, class Work>
void Exchange::reverse_add_beside(std::span<const T> ghosts, std::span<T> owned, int width,
                                  Work&& work) {
  const auto w = static_cast<std::size_t>(width);
  if (has_talker()) {
    parallel::beside(
        [&] {
          start_reverse_add(ghosts, width);
          finish_reversed_stages<T>(w);
        },
        [&] { clocked(&OverlapTimes::work, work); });
  } else {
    start_reverse_add(ghosts, width);
    if (overlap_ == Overlap::none) finish_reversed_stages<T>(w);
    clocked(&OverlapTimes::work, work);
    if (overlap_ != Overlap::none) finish_reversed_stages<T>(w);
  }
  add_returned(owned, w);
}

template <class T>
Records<T> Exchange::forward_records(const Records<T>& exported) {
  std::optional<Error> failure;
  auto ghosts = bring_records<T>(exported, failure);
  mpi::agree(*comm_, failure);
  return ghosts;
}

template <std::invocable Make>
auto Exchange::forward_records(Make&& make) {
  std::optional<Error> failure;
  auto ghosts = forward_records(std::forward<Make>(make), failure);
  mpi::agree(*comm_, failure);
  return ghosts;
}

template <std::invocable Make>
auto Exchange::forward_records(Make&& make, std::optional<Error>& failure) {
  std::invoke_result_t<Make&> exported;
  if (!failure) failure = mpi::caught([&] { exported = make(); });
  return bring_records(exported, failure);
}

template <class T>
Records<T> Exchange::bring_records(const Records<T>& exported, std::optional<Error>& failure) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  RecordBytes records{
      reinterpret_cast<const std::byte*>(exported.data.data()), exported.offsets, sizeof(T), {}};
  run_records(records, failure);
  Records<T> ghosts;
  const auto collect = [&] {
    std::vector<Offset> lengths;
    for (LocalIndex g = 0; g < plan_.n_ghosts; ++g) {
      const auto bytes = arrived(records, plan_.ghost_entry(g) - plan_.n_owned);
      lengths.push_back(static_cast<Offset>(bytes.size() / sizeof(T)));
    }
    ghosts = detail::make_records<T>(lengths);
    auto* out = reinterpret_cast<std::byte*>(ghosts.data.data());
    for (LocalIndex g = 0; g < plan_.n_ghosts; ++g) {
      const auto bytes = arrived(records, plan_.ghost_entry(g) - plan_.n_owned);
      out = std::copy(bytes.begin(), bytes.end(), out);
    }
  };
  if (!failure) failure = mpi::caught(collect);
  return ghosts;
}

template <class T, class Combine>
Records<T> Exchange::reverse_records(const Records<T>& ghosts, const Combine& combine) {
  std::optional<Error> failure;
  auto owned = return_records<T>(ghosts, combine, failure);
  mpi::agree(*comm_, failure);
  return owned;
}

template <std::invocable Make, class Combine>
auto Exchange::reverse_records(Make&& make, const Combine& combine) {
  std::optional<Error> failure;
  auto owned = reverse_records(std::forward<Make>(make), combine, failure);
  mpi::agree(*comm_, failure);
  return owned;
}

template <std::invocable Make, class Combine>
auto Exchange::reverse_records(Make&& make, const Combine& combine, std::optional<Error>& failure) {
  std::invoke_result_t<Make&> ghosts;
  if (!failure) failure = mpi::caught([&] { ghosts = make(); });
  return return_records(ghosts, combine, failure);
}

template <std::invocable Make, class Combine, class Work>
auto Exchange::reverse_records_beside(Make&& make, const Combine& combine,
                                      std::optional<Error>& failure, Work&& work) {
  std::invoke_result_t<Make&> ghosts, owned;
  if (!failure) failure = mpi::caught([&] { ghosts = make(); });
  std::optional<Error> of_work;
  const bool works = !failure;
  auto talk = [&] { owned = return_records(ghosts, combine, failure); };
  auto compute = [&] {
    if (works) of_work = mpi::caught(work);
  };
  if (has_talker()) {
    parallel::beside(talk, compute);
  } else {
    talk();
    compute();
  }
  if (!failure) failure = std::move(of_work);
  return owned;
}

template <class T, class Combine>
Records<T> Exchange::return_records(const Records<T>& ghosts, const Combine& combine,
                                    std::optional<Error>& failure) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  Records<T> pool;
  const auto spread = [&] {
    std::vector<LocalIndex> entries;
    for (LocalIndex g = 0; g < plan_.n_ghosts; ++g) entries.push_back(plan_.ghost_entry(g));
    const Records<T> none = detail::make_records<T>(
        std::vector<Offset>(static_cast<std::size_t>(plan_.pool_size()), 0));
    pool = detail::Merge<T>(none, entries, ghosts).run(none, entries, ghosts);
  };
  if (!failure) failure = mpi::caught(spread);
  for (std::size_t s = plan_.stages.size(); s-- > 0;) {
    const auto begin = static_cast<std::size_t>(plan_.n_owned) + begin_of_stage(s);
    const auto sent = [&](LocalIndex k) {
      return std::as_bytes(std::as_const(pool)[begin + static_cast<std::size_t>(k)]);
    };
    const detail::RecordMessages messages = run_records_back(s, sent, failure);
    const auto merge = [&] {
      const std::span<const LocalIndex> entries = plan_.stages[s].send_entries;
      const Records<T> returned = detail::collect_records<T>(messages, entries.size());
      pool = detail::Merge<T>(pool, entries, returned).run(pool, entries, returned);
      if (s > 0) detail::combine_records(pool, static_cast<std::size_t>(plan_.n_owned), combine);
    };
    if (!failure) failure = mpi::caught(merge);
  }
  if (failure) return {};
  pool.offsets.resize(static_cast<std::size_t>(plan_.n_owned) + 1);
  pool.data.resize(static_cast<std::size_t>(pool.offsets.back()));
  return pool;
}

}  // namespace nodewise::comm
