// The next of many events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nodewise::model {

/// Something that happens at a time; of those at one instant the lowest number comes first.
struct Event {
  double time;
  std::uint64_t number;
  std::size_t rank;

  bool comes_before(const Event& other) const {
    return time != other.time ? time < other.time : number < other.number;
  }
};

/// A heap with four branches. An event that takes the place of the one before, as a rank's next
/// message does, costs one way down it.
class EventQueue {
 public:
  bool empty() const { return heap_.size() == (has_gap_ ? 1 : 0); }

  void push(const Event& event) {
    if (std::exchange(has_gap_, false)) return sink(event);
    std::size_t at = heap_.size();
    heap_.push_back(event);
    while (at > 0 && event.comes_before(heap_[parent(at)])) {
      heap_[at] = heap_[parent(at)];
      at = parent(at);
    }
    heap_[at] = event;
  }

  /// The first, which is taken out. The queue must not be empty.
  Event pop() {
    if (std::exchange(has_gap_, true)) {
      const Event last = heap_.back();
      heap_.pop_back();
      sink(last);
    }
    return heap_.front();
  }

 private:
  static constexpr std::size_t branches = 4;
  static std::size_t parent(std::size_t at) { return (at - 1) / branches; }

  /// From the gap at the top to where it belongs.
  void sink(const Event& event) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t begin = branches * at + 1;
      if (begin >= heap_.size()) break;
      const std::size_t end = std::min(begin + branches, heap_.size());
      std::size_t first = begin;
      for (std::size_t k = begin + 1; k < end; ++k) {
        if (heap_[k].comes_before(heap_[first])) first = k;
      }
      if (!heap_[first].comes_before(event)) break;
      heap_[at] = heap_[first];
      at = first;
    }
    heap_[at] = event;
  }

  std::vector<Event> heap_;
  bool has_gap_ = false;  ///< the top was taken out
};

}  // namespace nodewise::model
