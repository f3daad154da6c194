#include "nodewise/amg/interpolate/neighbourhood.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::interpolate {

namespace {

/// The rows of all parts, one behind the other.
template <class T>
CoarseLinks<T> joined(std::vector<CoarseLinks<T>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<std::size_t> rows = {0}, entries = {0};
  for (const CoarseLinks<T>& part : parts) {
    rows.push_back(rows.back() + part.begin.size() - 1);
    entries.push_back(entries.back() + part.cols.size());
  }
  CoarseLinks<T> all;
  all.begin.resize(rows.back() + 1);
  all.cols.resize(entries.back());
  all.vals.resize(entries.back());
  all.strong.resize(entries.back());
  parallel::run(static_cast<int>(parts.size()), [&](int p) {
    const auto u = static_cast<std::size_t>(p);
    const CoarseLinks<T>& part = parts[u];
    const auto at = static_cast<std::ptrdiff_t>(entries[u]);
    std::copy(part.cols.begin(), part.cols.end(), all.cols.begin() + at);
    std::copy(part.vals.begin(), part.vals.end(), all.vals.begin() + at);
    std::copy(part.strong.begin(), part.strong.end(), all.strong.begin() + at);
    for (std::size_t i = 1; i < part.begin.size(); ++i) {
      all.begin[rows[u] + i] = part.begin[i] + at;
    }
  });
  return all;
}

}  // namespace

template <class T>
void Neighbourhood<T>::share_coarse_points() {
  auto coarse = coarsen::coarse_numbers(A_, splitting_, strength_, coarse_layout_);
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
auto Neighbourhood<T>::bring_links() -> comm::Records<Link> {
  return A_.exchange().forward_records([&] {
    number_points();
    return outgoing_links();
  });
}

template <class T>
auto Neighbourhood<T>::outgoing_links() const -> comm::Records<Link> {
  comm::Records<Link> links;
  links.offsets.assign(splitting_.size() + 1, 0);
  for (const LocalIndex i : A_.exchange().plan().exported_entries()) {
    const std::size_t before = links.data.size();
    if (!is_coarse(i)) append_links(i, links.data);
    links.offsets[static_cast<std::size_t>(i) + 1] =
        static_cast<Offset>(links.data.size() - before);
  }
  for (std::size_t i = 1; i < links.offsets.size(); ++i) links.offsets[i] += links.offsets[i - 1];
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
  collect_local_links();
  collect_ghost_links(received);
}

/// Those of the points from `begin` to `end`.
template <class T>
CoarseLinks<T> Neighbourhood<T>::collect_local_links(LocalIndex begin, LocalIndex end) const {
  // Few fine points have more coarse neighbours; memory that is not used is not touched.
  const auto n = static_cast<std::size_t>(end - begin);
  CoarseLinks<T> links;
  links.reserve(n + ghost_coarse_.size(),
                std::min(static_cast<std::size_t>(A_.nnz_local()), 6 * n));
  for (LocalIndex i = begin; i < end; ++i) {
    if (!is_coarse(i)) {
      for_each_entry(i, [&](LocalIndex, LocalIndex c, T value, bool strong) {
        const T passed = through(i, value);
        if (c >= 0 && (passed != T{} || strong)) links.push(c, passed, strong);
      });
    }
    links.end_row();
  }
  return links;
}

template <class T>
void Neighbourhood<T>::collect_local_links() {
  const int parts = parallel::parts_of(static_cast<std::size_t>(A_.nnz_local()));
  const auto row = [&](int part) { return parallel::row_part(A_.on().row_ptr, parts, part); };
  std::vector<CoarseLinks<T>> of_part(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    of_part[static_cast<std::size_t>(part)] = collect_local_links(row(part), row(part + 1));
  });
  links_ = joined(std::move(of_part));
}

template <class T>
void Neighbourhood<T>::collect_ghost_links(const comm::Records<Link>& received) {
  for (std::size_t g = 0; g < received.size(); ++g) {
    for (const Link& link : received[g]) {
      const GlobalIndex column = link.code / 4;
      if (link.code % 4 != fine_column) {
        links_.push(columns_.number(column), link.value, link.code % 4 == strong_coarse);
      } else if (A_.rows().owns(column)) {
        fine_cols_.push_back(A_.rows().to_local(column));
        fine_vals_.push_back(link.value);
      }
    }
    links_.end_row();
    fine_begin_.push_back(static_cast<Offset>(fine_cols_.size()));
  }
}

template class Neighbourhood<float>;
template class Neighbourhood<double>;

}  // namespace nodewise::amg::interpolate
