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
Records<T> Exchange::forward_records(const Records<T>& exported) {
  return bring_records<T>({&exported, {}});
}

template <std::invocable Make>
auto Exchange::forward_records(Make&& make) {
  std::invoke_result_t<Make&> exported;
  const auto error = mpi::caught([&] { exported = make(); });
  return bring_records<typename decltype(exported.data)::value_type>({&exported, error});
}

/// One agreement, when the lengths are known: a rank that failed before sends empty records, and
/// after it nothing more has to be allocated.
template <class T>
Records<T> Exchange::bring_records(Attempt<T> exported) {
  const mpi::Communicating communicating(*comm_);
  const Records<T>* records = exported.records;
  std::optional<Error>& error = exported.error;
  const std::vector<Offset> lengths =
      exchange_lengths(error ? std::span<const Offset>() : records->offsets);
  Records<T> pool, ghosts;
  Packing packing;
  RecordBytes bytes{};
  const auto make_room = [&] {
    pool = detail::make_records<T>(lengths);
    bytes = {reinterpret_cast<const std::byte*>(records->data.data()), records->offsets,
             reinterpret_cast<std::byte*>(pool.data.data()), pool.offsets, sizeof(T)};
    packing = make_packing(bytes);
    if (plan_.receives_in_place()) return;
    std::vector<Offset> ghost_lengths;
    for (const LocalIndex entry : plan_.ghost_entries) {
      ghost_lengths.push_back(lengths[static_cast<std::size_t>(entry - plan_.n_owned)]);
    }
    ghosts = detail::make_records<T>(ghost_lengths);
  };
  if (!error) error = mpi::caught(make_room);
  mpi::agree(*comm_, error);
  run_records(bytes, packing);
  if (plan_.receives_in_place()) return pool;
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    const auto record = pool[static_cast<std::size_t>(plan_.ghost_entries[g] - plan_.n_owned)];
    std::copy(record.begin(), record.end(), ghosts.data.begin() + ghosts.offsets[g]);
  }
  return ghosts;
}

template <class T, class Combine>
Records<T> Exchange::reverse_records(const Records<T>& ghosts, const Combine& combine) {
  return return_records<T>({&ghosts, {}}, combine);
}

template <std::invocable Make, class Combine>
auto Exchange::reverse_records(Make&& make, const Combine& combine) {
  std::invoke_result_t<Make&> ghosts;
  const auto error = mpi::caught([&] { ghosts = make(); });
  return return_records<typename decltype(ghosts.data)::value_type>({&ghosts, error}, combine);
}

/// One agreement a stage, when its lengths are known: only then is known what the next one sends.
template <class T, class Combine>
Records<T> Exchange::return_records(Attempt<T> ghosts, const Combine& combine) {
  require(Flight::none);
  const mpi::Communicating communicating(*comm_);
  const Records<T>* records = ghosts.records;
  std::optional<Error>& error = ghosts.error;
  Records<T> pool;
  const auto spread = [&] {
    std::vector<LocalIndex> entries = plan_.ghost_entries;
    if (entries.empty()) {
      entries.resize(static_cast<std::size_t>(plan_.n_ghosts));
      std::iota(entries.begin(), entries.end(), plan_.n_owned);
    }
    const Records<T> none = detail::make_records<T>(
        std::vector<Offset>(static_cast<std::size_t>(plan_.pool_size()), 0));
    pool = detail::Merge<T>(none, entries, *records).run(none, entries, *records);
  };
  if (!error) error = mpi::caught(spread);
  if (plan_.stages.empty()) mpi::agree(*comm_, error);
  for (std::size_t s = plan_.stages.size(); s-- > 0;) {
    const std::vector<Offset> lengths =
        return_lengths(s, error ? std::span<const Offset>() : pool.offsets);
    const std::span<const LocalIndex> entries = plan_.stages[s].send_entries;
    Records<T> returned;
    std::optional<detail::Merge<T>> merge;
    const auto make_room = [&] {
      returned = detail::make_records<T>(lengths);
      merge.emplace(pool, entries, returned);
    };
    if (!error) error = mpi::caught(make_room);
    mpi::agree(*comm_, error);
    const auto begin = static_cast<std::size_t>(plan_.n_owned) + begin_of_stage(s);
    return_items(s, returned.offsets, reinterpret_cast<std::byte*>(returned.data.data()),
                 std::span<const Offset>(pool.offsets).subspan(begin),
                 reinterpret_cast<const std::byte*>(pool.data.data()), sizeof(T));
    pool = std::move(*merge).run(pool, entries, returned);
    if (s > 0) detail::combine_records(pool, static_cast<std::size_t>(plan_.n_owned), combine);
  }
  pool.offsets.resize(static_cast<std::size_t>(plan_.n_owned) + 1);
  pool.data.resize(static_cast<std::size_t>(pool.offsets.back()));
  return pool;
}

}  // namespace nodewise::comm
