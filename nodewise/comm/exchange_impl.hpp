// Template bodies of exchange.hpp.
#pragma once

#include <numeric>

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

/// Appends extra's record k to record entries[k] of base.
template <class T>
Records<T> merge_records(const Records<T>& base, std::span<const LocalIndex> entries,
                         const Records<T>& extra) {
  Records<T> merged;
  merged.offsets.assign(base.offsets.size(), 0);
  for (std::size_t i = 0; i < base.size(); ++i) merged.offsets[i + 1] = base.length(i);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    merged.offsets[static_cast<std::size_t>(entries[k]) + 1] += extra.length(k);
  }
  for (std::size_t i = 0; i < base.size(); ++i) merged.offsets[i + 1] += merged.offsets[i];
  merged.data.resize(base.data.size() + extra.data.size());
  std::vector<Offset> next(merged.offsets.begin(), merged.offsets.end() - 1);
  const auto append = [&](std::size_t i, std::span<const T> record) {
    std::copy(record.begin(), record.end(), merged.data.begin() + next[i]);
    next[i] += static_cast<Offset>(record.size());
  };
  for (std::size_t i = 0; i < base.size(); ++i) append(i, base[i]);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    append(static_cast<std::size_t>(entries[k]), extra[k]);
  }
  return merged;
}

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
void Exchange::finish_reverse_add(std::span<T> owned, int width) {
  require(Flight::reverse);
  const mpi::Communicating communicating(*comm_);
  flight_ = Flight::none;
  if (plan_.stages.empty()) return;
  const auto w = static_cast<std::size_t>(width);
  const auto n_owned = static_cast<std::size_t>(plan_.n_owned);
  T* pool = reinterpret_cast<T*>(pool_);
  while (true) {
    const Stage& stage = plan_.stages[stage_];
    carriers_[stage_]->finish();
    const std::span<const T> received =
        as_items<T>(returned_buffer_, stage.send_entries.size() * w);
    for (std::size_t e = 0; e < stage.send_entries.size(); ++e) {
      const auto entry = static_cast<std::size_t>(stage.send_entries[e]);
      T* target = entry < n_owned ? owned.data() + entry * w : pool + (entry - n_owned) * w;
      for (std::size_t k = 0; k < w; ++k) target[k] += received[e * w + k];
    }
    if (stage_ == 0) break;
    start_reversed(--stage_, pool_);
  }
}

template <class T>
Records<T> Exchange::forward_records(const Records<T>& owned) {
  const mpi::Communicating communicating(*comm_);
  const std::vector<Offset> lengths = exchange_lengths(owned.offsets);
  Records<T> pool = mpi::collectively(*comm_, [&] { return detail::make_records<T>(lengths); });
  run_records(reinterpret_cast<const std::byte*>(owned.data.data()), owned.offsets,
              reinterpret_cast<std::byte*>(pool.data.data()), pool.offsets, sizeof(T));
  if (plan_.receives_in_place()) return pool;
  Records<T> ghosts;
  for (const LocalIndex entry : plan_.ghost_entries) {
    const auto record = pool[static_cast<std::size_t>(entry - plan_.n_owned)];
    ghosts.data.insert(ghosts.data.end(), record.begin(), record.end());
    ghosts.offsets.push_back(static_cast<Offset>(ghosts.data.size()));
  }
  return ghosts;
}

template <class T, class Combine>
Records<T> Exchange::reverse_records(const Records<T>& ghosts, const Combine& combine) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  Records<T> pool = mpi::collectively(*comm_, [&] {
    std::vector<LocalIndex> entries = plan_.ghost_entries;
    if (entries.empty()) {
      entries.resize(static_cast<std::size_t>(plan_.n_ghosts));
      std::iota(entries.begin(), entries.end(), plan_.n_owned);
    }
    const std::vector<Offset> none(static_cast<std::size_t>(plan_.pool_size()), 0);
    return detail::merge_records(detail::make_records<T>(none),
                                 std::span<const LocalIndex>(entries), ghosts);
  });
  for (std::size_t s = plan_.stages.size(); s-- > 0;) {
    const Records<T> returned = return_records(s, pool);
    pool = mpi::collectively(*comm_, [&] {
      Records<T> merged = detail::merge_records(
          pool, std::span<const LocalIndex>(plan_.stages[s].send_entries), returned);
      if (s > 0) {
        detail::combine_records(merged, static_cast<std::size_t>(plan_.n_owned), combine);
      }
      return merged;
    });
  }
  pool.offsets.resize(static_cast<std::size_t>(plan_.n_owned) + 1);
  pool.data.resize(static_cast<std::size_t>(pool.offsets.back()));
  return pool;
}

/// Sends the records that arrived in stage s back, lengths first. Returns those that come back, one
/// for each entry that the stage sent.
template <class T>
Records<T> Exchange::return_records(std::size_t s, const Records<T>& pool) {
  const Stage& stage = plan_.stages[s];
  const auto begin = static_cast<std::size_t>(plan_.n_owned) + begin_of_stage(s);
  const auto n_sent = static_cast<std::size_t>(stage.n_received());
  const auto sent_at = std::span<const Offset>(pool.offsets).subspan(begin, n_sent + 1);
  std::vector<Offset> sent_lengths, lengths, one_each;
  mpi::collectively(*comm_, [&] {
    sent_lengths.resize(n_sent);
    for (std::size_t i = 0; i < n_sent; ++i) sent_lengths[i] = sent_at[i + 1] - sent_at[i];
    lengths.resize(stage.send_entries.size());
    one_each.resize(std::max(n_sent, lengths.size()) + 1);
    std::iota(one_each.begin(), one_each.end(), Offset{0});
  });
  return_items(s, one_each, reinterpret_cast<std::byte*>(lengths.data()), one_each,
               reinterpret_cast<const std::byte*>(sent_lengths.data()), sizeof(Offset));
  Records<T> received = mpi::collectively(*comm_, [&] { return detail::make_records<T>(lengths); });
  return_items(s, received.offsets, reinterpret_cast<std::byte*>(received.data.data()), sent_at,
               reinterpret_cast<const std::byte*>(pool.data.data()), sizeof(T));
  return received;
}

}  // namespace nodewise::comm
