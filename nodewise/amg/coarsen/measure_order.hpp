// In which order the first pass of Ruge-Stüben takes points: the highest measure first.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::amg::coarsen {

inline constexpr LocalIndex no_point = -1;

/// Points in doubly linked queues by measure: first in, first out within one measure, so that the
/// coarse grid follows the numbering instead of jumping about. hypre orders points so.
class MeasureQueues {
 public:
  explicit MeasureQueues(std::span<const LocalIndex> measures)
      : queues_(measures.empty() ? 1
                                 : 2 * static_cast<std::size_t>(std::ranges::max(measures)) + 1),
        nodes_(measures.size()) {
    for (std::size_t i = 0; i < measures.size(); ++i) {
      push(static_cast<LocalIndex>(i), measures[i]);
    }
  }

  void raise(LocalIndex i) { change(i, 1); }
  void lower(LocalIndex i) { change(i, -1); }

  void remove(LocalIndex i) {
    const Node node = nodes_[static_cast<std::size_t>(i)];
    Queue& queue = queues_[static_cast<std::size_t>(node.measure)];
    (node.previous == no_point ? queue.head : next(node.previous)) = node.next;
    (node.next == no_point ? queue.tail : previous(node.next)) = node.previous;
  }

  /// Takes the first point of the highest measure above 0 out, or no_point.
  LocalIndex take() {
    while (highest_ > 0 && queues_[static_cast<std::size_t>(highest_)].head == no_point) --highest_;
    if (highest_ == 0) return no_point;
    const LocalIndex top = queues_[static_cast<std::size_t>(highest_)].head;
    remove(top);
    return top;
  }

 private:
  struct Node {
    LocalIndex next = no_point;
    LocalIndex previous = no_point;
    LocalIndex measure = 0;
  };
  struct Queue {
    LocalIndex head = no_point;
    LocalIndex tail = no_point;
  };
  LocalIndex& next(LocalIndex i) { return nodes_[static_cast<std::size_t>(i)].next; }
  LocalIndex& previous(LocalIndex i) { return nodes_[static_cast<std::size_t>(i)].previous; }

  void push(LocalIndex i, LocalIndex measure) {
    const auto m = static_cast<std::size_t>(measure);
    if (m >= queues_.size()) queues_.resize(m + 1);
    Node& node = nodes_[static_cast<std::size_t>(i)];
    Queue& queue = queues_[m];
    node = {no_point, queue.tail, measure};
    (queue.tail == no_point ? queue.head : next(queue.tail)) = i;
    queue.tail = i;
    highest_ = std::max(highest_, measure);
  }
  void change(LocalIndex i, LocalIndex by) {
    remove(i);
    push(i, nodes_[static_cast<std::size_t>(i)].measure + by);
  }

  std::vector<Queue> queues_;  // by measure
  Array<Node> nodes_;
  LocalIndex highest_ = 0;
};

/// Points in one array in the order of their measures, taken from its end. A point whose measure
/// changes goes to the near end of the neighbouring range, and changes places with the point there.
/// PyAMG orders points so.
class MeasureRanges {
 public:
  explicit MeasureRanges(std::span<const LocalIndex> measures)
      : measures_(measures.begin(), measures.end()),
        points_(measures.size()),
        places_(measures.size()),
        size_(static_cast<LocalIndex>(measures.size())) {
    const LocalIndex highest = measures.empty() ? 0 : std::ranges::max(measures);
    begins_.assign(2 * static_cast<std::size_t>(highest) + 3, 0);
    for (const LocalIndex m : measures) ++begins_[static_cast<std::size_t>(m) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<LocalIndex> next = begins_;
    for (LocalIndex i = 0; i < size_; ++i) {
      put(i, next[static_cast<std::size_t>(measure(i))]++);
    }
  }

  void raise(LocalIndex i) {
    LocalIndex& begin_above = begin(measure(i) + 1);
    begin_above = std::min(begin_above, size_) - 1;  // what was taken stands behind the last range
    swap(i, begin_above);
    ++measure(i);
  }
  void lower(LocalIndex i) {
    LocalIndex& begin_here = begin(measure(i));
    swap(i, begin_here++);
    --measure(i);
  }

  /// What is no longer to be taken keeps its place: take() gives it all the same.
  void remove(LocalIndex) {}

  /// Takes the last point out, or no_point where its measure is 0.
  LocalIndex take() {
    if (size_ == 0 || measure(points_[static_cast<std::size_t>(size_ - 1)]) == 0) return no_point;
    return points_[static_cast<std::size_t>(--size_)];
  }

 private:
  LocalIndex& measure(LocalIndex i) { return measures_[static_cast<std::size_t>(i)]; }
  LocalIndex& begin(LocalIndex m) { return begins_[static_cast<std::size_t>(m)]; }
  void put(LocalIndex i, LocalIndex place) {
    points_[static_cast<std::size_t>(place)] = i;
    places_[static_cast<std::size_t>(i)] = place;
  }
  void swap(LocalIndex i, LocalIndex place) {
    const LocalIndex other = points_[static_cast<std::size_t>(place)];
    put(other, places_[static_cast<std::size_t>(i)]);
    put(i, place);
  }

  Array<LocalIndex> measures_;
  Array<LocalIndex> points_;        // by measure, ascending
  Array<LocalIndex> places_;        // of the points among these
  std::vector<LocalIndex> begins_;  // of the range of each measure
  LocalIndex size_;                 // points that have not been taken
};

}  // namespace nodewise::amg::coarsen
