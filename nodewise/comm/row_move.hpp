// Moving the entries of vectors, and the rows of matrices, to other ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/transport/transport.hpp"

namespace nodewise::comm {

/// The way of rows from the ranks that have them to others, planned once: any layout to any other,
/// ranks without rows included. On its new rank a row comes behind those of lower ranks, and those
/// of one rank keep their order. So the rows of a rank are, in their new order: what came from
/// lower ranks, what stayed, what came from higher ones; but for to_numbers(), which has an order
/// of its own. O(rows of this rank + ranks) memory. A value: copies share the plan. One move at a
/// time.
class RowMove {
 public:
  /// Local but for the plan: the route may cost what make_plan() does. Rows keep their numbers, and
  /// go to the ranks that own these in `to`. Throws dimension_mismatch, the same on every rank,
  /// unless both layouts have the same rows and equally many ranks.
  RowMove(Layout from, Layout to, const Route& route = "direct",
          const Transport& transport = "point_to_point");
  /// Collective. Row i of this rank goes to rank owners[i], and is numbered anew there. Two sparse
  /// exchanges (how many rows come, and where each rank's begin), a gathering of the numbers of
  /// rows, and the plan. Throws on every rank dimension_mismatch where there is not an owner for
  /// each row, and invalid_argument where one is no rank.
  static RowMove to_owners(const Layout& from, std::span<const int> owners,
                           const Route& route = "direct",
                           const Transport& transport = "point_to_point");
  /// Collective. Row i of this rank gets the number numbers[i], and goes to the rank that owns that
  /// in `to`, be it its own: any permutation of the rows. What to_owners() costs, and an exchange.
  /// Throws on every rank dimension_mismatch unless both layouts have the same rows and there is a
  /// number for each, and invalid_argument where these are not the rows' numbers, each once.
  static RowMove to_numbers(const Layout& from, const Layout& to,
                            std::span<const GlobalIndex> numbers);

  const Layout& from() const { return from_; }
  const Layout& to() const { return to_; }
  /// Whether row i is row i after the move.
  bool keeps_numbers() const { return numbers_ == nullptr; }
  /// Local. The number that local row i has after the move.
  GlobalIndex number(LocalIndex i) const {
    return numbers_ ? (*numbers_)[static_cast<std::size_t>(i)] : from_.to_global(i);
  }

  /// Collective. Brings the entries to their new ranks: x has `width` items for each row of from(),
  /// y for each of to(), row-major. The messages of the plan.
  template <class T>
  void forward(std::span<const T> x, std::span<T> y, int width = 1) const {
    const auto w = static_cast<std::size_t>(width);
    const std::span<T> ghosts = exchange_->template ghost_buffer<T>(width);
    exchange_->start(x, ghosts, width);
    if (!has_order()) copy_stayed(x, y, w);
    exchange_->finish();
    if (has_order()) {
      copy_in_order<T>(x, ghosts, y, w);
    } else {
      copy_arrived<T>(ghosts, y, w);
    }
  }
  /// Collective. Brings them back: the same messages the other way. T is a type that can be added.
  template <class T>
  void backward(std::span<const T> y, std::span<T> x, int width = 1) const;

  /// The exchange whose ghosts are the rows that come from other ranks, by these ranks, and the
  /// local rows that stay, ascending. The first `n_before()` ghosts come before the rows that stay,
  /// where the rows have no order of their own.
  Exchange& exchange() const { return *exchange_; }
  std::span<const LocalIndex> stayed() const { return *stayed_; }
  LocalIndex n_before() const { return n_before_; }
  /// Local. Whether rows come to lie in an order of their own.
  bool has_order() const { return order_ != nullptr; }
  /// Local. Calls arrived(i, g) or kept(i, r) for each local row i of to(), in their order: it came
  /// as ghost g, or was local row r of from().
  template <class Arrived, class Kept>
  void for_each_row(const Arrived& arrived, const Kept& kept) const;

 private:
  struct Unplanned {};
  RowMove(Unplanned, Layout from, Layout to) : from_(std::move(from)), to_(std::move(to)) {}
  /// What comes from other ranks, those below this one first, and the rows that stay.
  struct Arrivals {
    Pattern pattern;
    std::vector<LocalIndex> stayed;
  };
  /// Collective: an agreement, and the planning of a route that does not go straight, with another.
  /// `arrivals` is local work.
  void plan(const std::function<Arrivals()>& arrivals, const Route& route,
            const Transport& transport);

  template <class T>
  void copy_stayed(std::span<const T> x, std::span<T> y, std::size_t width) const;
  template <class T>
  void copy_arrived(std::span<const T> ghosts, std::span<T> y, std::size_t width) const;
  template <class T>
  void copy_in_order(std::span<const T> x, std::span<const T> ghosts, std::span<T> y,
                     std::size_t width) const;

  Layout from_, to_;
  std::shared_ptr<const std::vector<GlobalIndex>> numbers_;  // null: as before
  std::shared_ptr<const std::vector<LocalIndex>> stayed_;
  LocalIndex n_before_ = 0;
  /// For each row of to() which one it would be without an order; null: none.
  std::shared_ptr<const std::vector<LocalIndex>> order_;
  std::shared_ptr<Exchange> exchange_;
};

template <class Arrived, class Kept>
void RowMove::for_each_row(const Arrived& arrived, const Kept& kept) const {
  const auto n_stayed = static_cast<LocalIndex>(stayed().size());
  for (LocalIndex i = 0; i < to_.n_local(); ++i) {
    const LocalIndex k = order_ ? (*order_)[static_cast<std::size_t>(i)] : i;
    if (k < n_before_) {
      arrived(i, k);
    } else if (k < n_before_ + n_stayed) {
      kept(i, stayed()[static_cast<std::size_t>(k - n_before_)]);
    } else {
      arrived(i, k - n_stayed);
    }
  }
}

template <class T>
void RowMove::copy_in_order(std::span<const T> x, std::span<const T> ghosts, std::span<T> y,
                            std::size_t width) const {
  const auto copy = [&](std::span<const T> from, LocalIndex row, LocalIndex i) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width),
                width,
                y.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width));
  };
  for_each_row([&](LocalIndex i, LocalIndex g) { copy(ghosts, g, i); },
               [&](LocalIndex i, LocalIndex r) { copy(x, r, i); });
}

template <class T>
void RowMove::copy_stayed(std::span<const T> x, std::span<T> y, std::size_t width) const {
  std::size_t to = static_cast<std::size_t>(n_before_) * width;
  for (const LocalIndex i : stayed()) {
    const std::span<const T> row = x.subspan(static_cast<std::size_t>(i) * width, width);
    std::copy(row.begin(), row.end(), y.begin() + static_cast<std::ptrdiff_t>(to));
    to += width;
  }
}

template <class T>
void RowMove::copy_arrived(std::span<const T> ghosts, std::span<T> y, std::size_t width) const {
  const std::size_t before = static_cast<std::size_t>(n_before_) * width;
  const std::size_t behind = before + stayed().size() * width;
  std::copy_n(ghosts.begin(), before, y.begin());
  std::copy(ghosts.begin() + static_cast<std::ptrdiff_t>(before), ghosts.end(),
            y.begin() + static_cast<std::ptrdiff_t>(behind));
}

template <class T>
void RowMove::backward(std::span<const T> y, std::span<T> x, int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> ghosts = exchange_->template ghost_buffer<T>(width);
  std::fill(x.begin(), x.end(), T{});
  const auto copy = [&](LocalIndex i, std::span<T> to, LocalIndex row) {
    std::copy_n(y.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * w), w,
                to.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * w));
  };
  for_each_row([&](LocalIndex i, LocalIndex g) { copy(i, ghosts, g); },
               [&](LocalIndex i, LocalIndex r) { copy(i, x, r); });
  exchange_->reverse_add(std::span<const T>(ghosts), x, width);
}

}  // namespace nodewise::comm
