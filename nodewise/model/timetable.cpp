#include "nodewise/model/timetable.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nodewise::model {

namespace {

constexpr std::size_t block_size = 64;

}  // namespace

double Timetable::claim(double now, double time, double busy) {
  while (!blocks_.empty() && blocks_.front().claims.back().end < now) blocks_.pop_front();
  const auto behind =
      std::upper_bound(blocks_.begin(), blocks_.end(), time,
                       [](double t, const Block& block) { return t < block.claims.front().begin; });
  Place place{0, 0};
  if (behind == blocks_.begin()) {
    if (blocks_.empty() || blocks_.front().claims.front().begin - time >= busy) {
      if (busy > 0) insert_before_all({time, time + busy});
      return time;
    }
    place = first_pause(place, busy);
    time = blocks_[place.block].claims[place.index].end;
  } else {
    place.block = static_cast<std::size_t>(behind - blocks_.begin()) - 1;
    const std::vector<Claim>& claims = blocks_[place.block].claims;
    const auto next =
        std::upper_bound(claims.begin(), claims.end(), time,
                         [](double t, const Claim& claim) { return t < claim.begin; });
    place.index = static_cast<std::size_t>(next - claims.begin()) - 1;
    time = std::max(time, claims[place.index].end);
    if (pause_behind(place, time) < busy) {
      place = first_pause({place.block, place.index + 1}, busy);
      time = blocks_[place.block].claims[place.index].end;
    }
  }
  if (busy > 0) insert_behind(place, {time, time + busy});
  return time;
}

/// Returns the time from behind a claim to the next claim; without end behind the last.
double Timetable::pause_behind(Place place, double time) const {
  const std::vector<Claim>& claims = blocks_[place.block].claims;
  if (place.index + 1 < claims.size()) return claims[place.index + 1].begin - time;
  if (place.block + 1 < blocks_.size()) return blocks_[place.block + 1].claims.front().begin - time;
  return std::numeric_limits<double>::infinity();
}

/// The first claim from a place on with a pause of such length behind it. That behind the last one
/// always is.
Timetable::Place Timetable::first_pause(Place place, double busy) const {
  for (; place.block < blocks_.size(); ++place.block, place.index = 0) {
    const Block& block = blocks_[place.block];
    if (block.longest_pause < busy) continue;
    for (; place.index < block.claims.size(); ++place.index) {
      if (pause_behind(place, block.claims[place.index].end) >= busy) return place;
    }
  }
  return {blocks_.size() - 1, blocks_.back().claims.size() - 1};
}

void Timetable::insert_before_all(Claim claim) {
  if (blocks_.empty()) blocks_.emplace_back();
  std::vector<Claim>& claims = blocks_.front().claims;
  if (!claims.empty() && is_lost(claims.front().begin - claim.end)) {
    claims.front().begin = claim.begin;
  } else {
    claims.insert(claims.begin(), claim);
  }
  measure(0);
  split_if_large(0);
}

void Timetable::insert_behind(Place place, Claim claim) {
  std::vector<Claim>& claims = blocks_[place.block].claims;
  if (is_lost(claim.begin - claims[place.index].end)) {
    claims[place.index].end = claim.end;
  } else {
    ++place.index;
    claims.insert(claims.begin() + static_cast<std::ptrdiff_t>(place.index), claim);
  }
  join_with_next(place);
  measure(place.block);
  split_if_large(place.block);
}

/// Makes the next claim a part of that at a place where nobody can use the pause between them.
void Timetable::join_with_next(Place place) {
  if (!is_lost(pause_behind(place, blocks_[place.block].claims[place.index].end))) return;
  const bool here = place.index + 1 < blocks_[place.block].claims.size();
  const std::size_t block = here ? place.block : place.block + 1;
  std::vector<Claim>& claims = blocks_[block].claims;
  const auto next = claims.begin() + static_cast<std::ptrdiff_t>(here ? place.index + 1 : 0);
  const double end = next->end;
  claims.erase(next);
  if (claims.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(block));
  } else if (!here) {
    measure(block);
  }
  blocks_[place.block].claims[place.index].end = end;
}

void Timetable::split_if_large(std::size_t block) {
  std::vector<Claim>& claims = blocks_[block].claims;
  if (claims.size() < 2 * block_size) return;
  Block second;
  second.claims.assign(claims.begin() + block_size, claims.end());
  claims.resize(block_size);
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, std::move(second));
  measure(block);
  measure(block + 1);
}

void Timetable::measure(std::size_t block) {
  Block& b = blocks_[block];
  const std::size_t last = b.claims.size() - 1;
  b.longest_pause = std::max(0.0, pause_behind({block, last}, b.claims[last].end));
  for (std::size_t i = 0; i < last; ++i) {
    b.longest_pause = std::max(b.longest_pause, b.claims[i + 1].begin - b.claims[i].end);
  }
}

}  // namespace nodewise::model
