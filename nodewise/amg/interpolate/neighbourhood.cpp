#include "nodewise/amg/interpolate/neighbourhood.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::interpolate {

template <class T>
auto CoarseLinks<T>::Writer::open(std::size_t max_links) -> Open {
  const std::size_t at = links_.cols_.size();
  links_.cols_.resize(at + max_links);
  links_.vals_.resize(at + max_links);
  if (weak_cols_.size() < max_links) {
    weak_cols_.resize(max_links);
    weak_vals_.resize(max_links);
  }
  links_.points_.push_back({.first = static_cast<Offset>(at)});
  return {links_.cols_.data() + at, links_.vals_.data() + at, weak_cols_.data(), weak_vals_.data()};
}

template <class T>
void CoarseLinks<T>::Writer::close(const Open& written) {
  Point& point = links_.points_.back();
  point.n_strong = static_cast<LocalIndex>(written.n_strong);
  point.n_weak = static_cast<LocalIndex>(written.n_weak);
  for (std::size_t p = 0; p < written.n_strong; ++p) point.strong_sum += written.strong_vals[p];
  std::copy_n(written.weak_cols, written.n_weak, written.strong_cols + written.n_strong);
  std::copy_n(written.weak_vals, written.n_weak, written.strong_vals + written.n_strong);
  const std::size_t end = static_cast<std::size_t>(point.first) + written.n_strong + written.n_weak;
  links_.cols_.resize(end);
  links_.vals_.resize(end);
}

template <class T>
CoarseLinks<T> CoarseLinks<T>::joined(std::vector<CoarseLinks> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<std::size_t> points = {0}, entries = {0};
  for (const CoarseLinks& part : parts) {
    points.push_back(points.back() + part.points_.size());
    entries.push_back(entries.back() + part.cols_.size());
  }
  CoarseLinks all;
  all.points_.resize(points.back());
  all.cols_.resize(entries.back());
  all.vals_.resize(entries.back());
  parallel::run(static_cast<int>(parts.size()), [&](int p) {
    const auto u = static_cast<std::size_t>(p);
    const CoarseLinks& part = parts[u];
    const auto at = static_cast<std::ptrdiff_t>(entries[u]);
    std::copy(part.cols_.begin(), part.cols_.end(), all.cols_.begin() + at);
    std::copy(part.vals_.begin(), part.vals_.end(), all.vals_.begin() + at);
    for (std::size_t i = 0; i < part.points_.size(); ++i) {
      Point& point = all.points_[points[u] + i];
      point = part.points_[i];
      point.first += at;
    }
  });
  return all;
}

template <class T>
void CoarseLinks<T>::append(const CoarseLinks& more) {
  const auto shift = static_cast<Offset>(cols_.size());
  for (Point point : more.points_) {
    point.first += shift;
    points_.push_back(point);
  }
  cols_.insert(cols_.end(), more.cols_.begin(), more.cols_.end());
  vals_.insert(vals_.end(), more.vals_.begin(), more.vals_.end());
}

template <class T>
void Neighbourhood<T>::share_coarse_points() {
  auto coarse = coarsen::coarse_numbers(A_, splitting_, strength_, coarse_layout_);
  if (to_isolated_ == ToIsolated::lumped) {
    const auto hide_isolated = [](auto& numbers) {
      std::replace_if(
          numbers.begin(), numbers.end(), [](auto n) { return n == coarsen::isolated_point; },
          coarsen::fine_point);
    };
    hide_isolated(coarse.local);
    hide_isolated(coarse.ghosts);
  }
  numbers_ = std::move(coarse.local);
  ghost_coarse_ = std::move(coarse.ghosts);
}

template <class T>
void Neighbourhood<T>::number_points() {
  numbers_.reserve(numbers_.size() + ghost_coarse_.size());
  for (const GlobalIndex c : ghost_coarse_) {
    numbers_.push_back(c < 0 ? static_cast<LocalIndex>(c) : columns_.number(c));
  }
  diagonal_ = matrix::diagonal(A_);
}

template <class T>
auto Neighbourhood<T>::bring_links(std::optional<Error>& failure) -> comm::Records<Link> {
  const auto make = [&] {
    number_points();
    return outgoing_links();
  };
  return A_.exchange().forward_records(make, failure);
}

template <class T>
auto Neighbourhood<T>::outgoing_links() const -> comm::Records<Link> {
  comm::Records<Link> links;
  for (const LocalIndex i : A_.exchange().exported_entries()) {
    if (!is_coarse(i)) append_links(i, links.data);
    links.end_record();
  }
  return links;
}

/// Entries at fine points go along where these may be the receiver's own.
template <class T>
void Neighbourhood<T>::append_links(LocalIndex i, std::vector<Link>& links) const {
  for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    const LocalIndex j = A_.on().cols[p];
    const T value = through(i, A_.on().vals[p]);
    if (!is_coarse(j) || (value == T{} && !strength_.on[p])) continue;
    const GlobalIndex c = coarse_layout_.to_global(coarse_number(j));
    links.push_back({4 * c + (strength_.on[p] ? strong_coarse : weak_coarse), value});
  }
  for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    const auto g = static_cast<std::size_t>(A_.off().cols[p]);
    const T value = through(i, A_.off().vals[p]);
    const GlobalIndex c = ghost_coarse_[g];
    if (c < 0) {
      if (value != T{}) links.push_back({4 * A_.ghosts()[g] + fine_column, value});
    } else if (value != T{} || strength_.off[p]) {
      links.push_back({4 * c + (strength_.off[p] ? strong_coarse : weak_coarse), value});
    }
  }
}

template <class T>
void Neighbourhood<T>::gather(const comm::Records<Link>& received) {
  const int parts = parallel::parts_of(static_cast<std::size_t>(A_.nnz_local()));
  const auto row = [&](int part) { return parallel::row_part(A_.on().row_ptr, parts, part); };
  std::vector<CoarseLinks<T>> of_part(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    of_part[static_cast<std::size_t>(part)] = local_links(row(part), row(part + 1));
  });
  links_ = CoarseLinks<T>::joined(std::move(of_part));
  links_.append(ghost_links(received));
}

/// The links of the points from `begin` to `end`.
template <class T>
CoarseLinks<T> Neighbourhood<T>::local_links(LocalIndex begin, LocalIndex end) const {
  // Few fine points have more coarse neighbours; memory that is not used is not touched.
  const auto n = static_cast<std::size_t>(end - begin);
  typename CoarseLinks<T>::Writer links(
      n, std::min(static_cast<std::size_t>(A_.nnz_local()), 6 * n) + 64);
  for (LocalIndex i = begin; i < end; ++i) {
    auto point = links.open(is_coarse(i) ? 0 : static_cast<std::size_t>(A_.row_length(i)));
    if (!is_coarse(i)) {
      for_each_entry(i, [&](LocalIndex, LocalIndex c, T value, bool strong) {
        const T passed = through(i, value);
        point.add(c, passed, (c >= 0) & ((passed != T{}) | strong), strong);
      });
    }
    links.close(point);
  }
  return links.take();
}

/// The links of ghosts; stores their entries at fine points of this rank on the way.
template <class T>
CoarseLinks<T> Neighbourhood<T>::ghost_links(const comm::Records<Link>& received) {
  typename CoarseLinks<T>::Writer links(received.size(), received.data.size() + 1);
  for (std::size_t g = 0; g < received.size(); ++g) {
    auto point = links.open(static_cast<std::size_t>(received.length(g)));
    for (const Link& link : received[g]) {
      const GlobalIndex column = link.code / 4;
      if (link.code % 4 != fine_column) {
        point.add(columns_.number(column), link.value, true, link.code % 4 == strong_coarse);
      } else if (A_.rows().owns(column)) {
        fine_cols_.push_back(A_.rows().to_local(column));
        fine_vals_.push_back(link.value);
      }
    }
    links.close(point);
    fine_begin_.push_back(static_cast<Offset>(fine_cols_.size()));
  }
  return links.take();
}

template class CoarseLinks<float>;
template class CoarseLinks<double>;
template class Neighbourhood<float>;
template class Neighbourhood<double>;

}  // namespace nodewise::amg::interpolate
