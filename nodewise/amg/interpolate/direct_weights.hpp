// The weights of direct interpolation.
#pragma once

#include <algorithm>
#include <utility>

#include "nodewise/amg/interpolate/neighbourhood.hpp"

namespace nodewise::amg::interpolate {

/// Where all that is interpolated from has the sign opposite to the diagonal's: whether the sum of
/// the couplings of the diagonal's sign goes to the diagonal, as Stüben has it, or to that of the
/// others (docs/decisions.md). The rows of a matrix of zero row sums add up to one either way.
enum class PositiveSum { apart, added };

/// Local. Stüben 1999, section 7.2, where the diagonal is taken to be positive: what he calls
/// negative is here what has the sign opposite to the diagonal's. One point after another: first
/// choose(), then for_each().
template <class T>
class DirectWeights {
 public:
  DirectWeights(const Neighbourhood<T>& near, PositiveSum positive_sum)
      : near_(near), positive_sum_(positive_sum) {}

  /// Takes those of the points that i depends on strongly for which chosen(point); whether there
  /// are any.
  template <class Chosen>
  bool choose(LocalIndex i, const Chosen& chosen) {
    const auto& A = near_.matrix();
    const auto length = static_cast<std::size_t>(A.row_length(i));
    if (chosen_.size() < length) {
      chosen_.resize(length);
      entries_.resize(length);
    }
    i_ = i;
    // Which ones cannot be foreseen: all are written, and some written over. Values are left where
    // they are, for rows that have none.
    std::uint32_t* const places = chosen_.data();
    std::uint32_t place = 0;
    std::size_t n = 0;
    near_.for_each_entry(i, [&](LocalIndex k, LocalIndex, T, bool strong) {
      places[n] = place++;
      const bool is_chosen = chosen(k);
      n += static_cast<std::size_t>(strong & is_chosen);
    });
    n_ = n;
    return n > 0;
  }

  /// Calls add(point, weight) for these.
  template <class Add>
  void for_each(const Add& add) {
    Entry* const entries = entries_.data();
    std::size_t place = 0;
    T negative{}, positive{}, chosen_negative{}, chosen_positive{};
    near_.for_each_entry(i_, [&](LocalIndex k, LocalIndex c, T a, bool) {
      entries[place++] = {k, a};
      const T counted = c == coarsen::isolated_point ? T{} : a;
      negative += std::min(counted, T{});
      positive += std::max(counted, T{});
    });
    for (std::size_t p = 0; p < n_; ++p) {
      const T a = entries[chosen_[p]].value;
      chosen_negative += std::min(a, T{});
      chosen_positive += std::max(a, T{});
    }
    const T diagonal = near_.diagonal(i_);
    (diagonal < 0 ? negative : positive) -= diagonal;
    if (diagonal < 0) {
      std::swap(negative, positive);
      std::swap(chosen_negative, chosen_positive);
    }
    // From here on, negative is what has the sign opposite to the diagonal's.
    if (positive_sum_ == PositiveSum::added && chosen_positive == T{}) {
      negative += std::exchange(positive, T{});
    }
    const T divisor = chosen_positive == T{} ? diagonal + positive : diagonal;
    const auto scale = [&](T all, T of_chosen) {
      return of_chosen == T{} || divisor == T{} ? T{} : -(all / of_chosen) / divisor;
    };
    const T negative_scale = scale(negative, chosen_negative);
    const T positive_scale = scale(positive, chosen_positive);
    for (std::size_t p = 0; p < n_; ++p) {
      const auto [k, a] = entries[chosen_[p]];
      add(k, a * ((a < 0) != (diagonal < 0) ? negative_scale : positive_scale));
    }
  }

 private:
  struct Entry {
    LocalIndex point;
    T value;
  };
  const Neighbourhood<T>& near_;
  PositiveSum positive_sum_;
  LocalIndex i_ = 0;
  std::vector<std::uint32_t> chosen_;  // places in the row of n_ chosen ones, then room
  std::vector<Entry> entries_;         // the row, then room
  std::size_t n_ = 0;
};

}  // namespace nodewise::amg::interpolate
