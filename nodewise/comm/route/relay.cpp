#include "nodewise/comm/route/relay.hpp"

#include <tuple>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::comm::route {

namespace {

constexpr int nowhere = -1;
constexpr LocalIndex missing = -1;

std::vector<Parcel> parcels_of(const Pattern& pattern, int rank) {
  std::vector<Parcel> parcels;
  parcels.reserve(pattern.send_entries.size());
  for (std::size_t i = 0; i < pattern.send_ranks.size(); ++i) {
    for (LocalIndex k = pattern.send_offsets[i]; k < pattern.send_offsets[i + 1]; ++k) {
      parcels.push_back({.position = pattern.send_entries[static_cast<std::size_t>(k)],
                         .ordinal = k - pattern.send_offsets[i],
                         .owner = rank,
                         .dest = pattern.send_ranks[i],
                         .next = rank,
                         .exit = nowhere});
    }
  }
  return parcels;
}

}  // namespace

std::vector<int> ranks_with_entries(std::span<const int> ranks,
                                    std::span<const LocalIndex> offsets) {
  std::vector<int> some;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (offsets[i] < offsets[i + 1]) some.push_back(ranks[i]);
  }
  return some;
}

Relay::Relay(const Pattern& pattern, int rank)
    : pattern_(pattern),
      rank_(rank),
      parcels_(parcels_of(pattern_, rank)),
      pool_size_(pattern_.n_owned),
      ghost_entries_(static_cast<std::size_t>(pattern_.n_ghosts), missing) {}

/// For every entry of a message: its owner, how many parcels it stands for, and of each its
/// destination, ordinal and exit.
Words Relay::send() {
  const auto waiting = std::stable_partition(parcels_.begin(), parcels_.end(),
                                             [this](const Parcel& p) { return p.next == rank_; });
  std::stable_sort(waiting, parcels_.end(), [](const Parcel& a, const Parcel& b) {
    return std::tie(a.next, a.position) < std::tie(b.next, b.position);
  });
  Stage& stage = stages_.emplace_back();
  Words words;
  std::size_t count_at = 0;  // in words.data, of the entry's parcels
  const Parcel* before = nullptr;
  for (const Parcel& parcel : std::span(waiting, parcels_.end())) {
    const bool new_rank = before == nullptr || before->next != parcel.next;
    if (new_rank) {
      stage.send_ranks.push_back(parcel.next);
      stage.send_offsets.push_back(stage.send_offsets.back());
      words.ranks.push_back(parcel.next);
      words.offsets.push_back(words.offsets.back());
    }
    if (new_rank || before->position != parcel.position) {
      stage.send_entries.push_back(parcel.position);
      stage.send_offsets.back() = narrow<LocalIndex>(stage.send_entries.size(), "entries sent:");
      words.data.insert(words.data.end(), {parcel.owner, 0});
      count_at = words.data.size() - 1;
    }
    ++words.data[count_at];
    words.data.insert(words.data.end(), {parcel.dest, parcel.ordinal, parcel.exit});
    words.offsets.back() = static_cast<Offset>(words.data.size());
    before = &parcel;
  }
  parcels_.erase(waiting, parcels_.end());
  return words;
}

void Relay::receive(const Words& arrived) {
  Stage& stage = stages_.back();
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const auto message = arrived.message(i);
    stage.recv_ranks.push_back(arrived.ranks[i]);
    const LocalIndex first = pool_size_;
    for (std::size_t w = 0; w < message.size();) {
      const int owner = static_cast<int>(message[w]);
      const auto n_parcels = static_cast<std::size_t>(message[w + 1]);
      w += 2;
      for (std::size_t k = 0; k < n_parcels; ++k, w += 3) {
        const int dest = static_cast<int>(message[w]);
        const auto ordinal = static_cast<LocalIndex>(message[w + 1]);
        if (dest == rank_) {
          deliver(owner, ordinal, pool_size_);
        } else {
          parcels_.push_back({.position = pool_size_,
                              .ordinal = ordinal,
                              .owner = owner,
                              .dest = dest,
                              .next = rank_,
                              .exit = static_cast<int>(message[w + 2])});
        }
      }
      pool_size_ = narrow<LocalIndex>(std::int64_t{pool_size_} + 1, "entries received:");
    }
    stage.recv_offsets.push_back(stage.recv_offsets.back() + (pool_size_ - first));
  }
}

void Relay::deliver(int owner, LocalIndex ordinal, LocalIndex position) {
  const auto found =
      std::lower_bound(pattern_.recv_ranks.begin(), pattern_.recv_ranks.end(), owner);
  const auto i = static_cast<std::size_t>(found - pattern_.recv_ranks.begin());
  const LocalIndex ghost = pattern_.recv_offsets[i] + ordinal;
  ghost_entries_[static_cast<std::size_t>(ghost)] = position;
}

Plan Relay::finish() {
  Plan plan;
  plan.n_owned = pattern_.n_owned;
  plan.n_ghosts = pattern_.n_ghosts;
  plan.stages = std::move(stages_);
  if (std::find(ghost_entries_.begin(), ghost_entries_.end(), missing) != ghost_entries_.end()) {
    throw Error(ErrorCode::internal, "route: a ghost is not reached");
  }
  plan.set_ghost_entries(std::move(ghost_entries_));
  return plan;
}

}  // namespace nodewise::comm::route
