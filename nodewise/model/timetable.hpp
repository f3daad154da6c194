// The time of something that serves one at a time, as far as it is claimed.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace nodewise::model {

/// Claimed times, none of which meets another, and the pauses between them. Claims stand in blocks
/// that know their longest pause, so that a claim among n takes O(64 + n / 64) time however many
/// pauses are too short for it.
class Timetable {
 public:
  /// Nobody claims less than `least` at a time, so that shorter pauses are lost; 0 loses none.
  explicit Timetable(double least = 0) : least_(least) {}

  /// Local. Claims the first pause of length `busy` from `time` on; returns when it begins. Nothing
  /// is claimed for a time before `now` from here on, which must not decrease.
  double claim(double now, double time, double busy);

 private:
  struct Claim {
    double begin, end;
  };
  struct Block {
    std::vector<Claim> claims;  // ascending, never empty
    double longest_pause = 0;   // behind one of them
  };
  struct Place {
    std::size_t block, index;
  };

  bool is_lost(double pause) const { return pause <= 0 || pause < least_; }
  double pause_behind(Place place, double time) const;
  Place first_pause(Place from, double busy) const;
  void insert_before_all(Claim claim);
  void insert_behind(Place place, Claim claim);
  void join_with_next(Place place);
  void split_if_large(std::size_t block);
  void measure(std::size_t block);

  double least_;
  std::deque<Block> blocks_;
};

}  // namespace nodewise::model
