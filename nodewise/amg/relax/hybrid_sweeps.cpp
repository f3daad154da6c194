#include "nodewise/amg/relax/hybrid_sweeps.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::relax {

namespace {

std::size_t place_of(Direction direction) {
  return direction == Direction::forward ? 0 : 1;
}

}  // namespace

/// A part for each thread that the rows are worth.
template <class T>
HybridSweeps<T>::HybridSweeps(const matrix::DistMatrix<T>& A, Rows rows)
    : Relaxation<T>(A), rows_(rows) {
  const auto unknowns = static_cast<std::size_t>(rows.unknowns);
  const std::size_t values = rows.cols.size() * unknowns * unknowns;
  const int parts = parallel::parts_of(values + rows.row_ptr.size());
  for (int part = 0; part <= parts; ++part) {
    parts_.push_back(parallel::row_part(rows.row_ptr, parts, part));
  }
  if (parts > 1) old_.resize(static_cast<std::size_t>(A.n_local()));
  std::vector<std::vector<MixedRow>> mixed(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    mixed[static_cast<std::size_t>(part)] = mixed_rows(first_row(part), end_row(part));
  });
  mixed_starts_ = {0};
  for (const std::vector<MixedRow>& of_part : mixed) {
    mixed_.insert(mixed_.end(), of_part.begin(), of_part.end());
    mixed_starts_.push_back(mixed_.size());
  }
  for (int part = 0; part < parts; ++part) {
    passes_[0].push_back(all_at_once(part, Direction::forward));
    passes_[1].push_back(all_at_once(part, Direction::backward));
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      early_[place_of(direction)].push_back(first_with_ghosts(part, direction));
      const Range early = early_rows(part, direction);
      // One thread would have to copy x for this, as it sends what is swept meanwhile.
      if (parts > 1 && rows.off_row_ptr.back() > 0 && early.first < early.last) has_early_ = true;
    }
  }
}

/// Where the early rows of a part end in a direction, which begin where it does.
template <class T>
LocalIndex HybridSweeps<T>::first_with_ghosts(int part, Direction direction) const {
  const std::span<const MixedRow> mixed = mixed_of(all_of(part));
  const auto has_ghosts = [&](const MixedRow& m) {
    const auto u = static_cast<std::size_t>(m.row);
    return rows_.off_row_ptr[u] < rows_.off_row_ptr[u + 1];
  };
  const bool upwards = direction == Direction::forward;
  const auto first = std::find_if(mixed.begin(), mixed.end(), has_ghosts);
  if (first == mixed.end()) return upwards ? end_row(part) : first_row(part);
  if (!rows_.in_order) return upwards ? first_row(part) : end_row(part);
  return upwards ? first->row : std::find_if(mixed.rbegin(), mixed.rend(), has_ghosts)->row + 1;
}

/// The rows of a part that a sweep in a direction comes to before any that has ghosts.
template <class T>
auto HybridSweeps<T>::early_rows(int part, Direction direction) const -> Range {
  const LocalIndex end = early_[place_of(direction)][static_cast<std::size_t>(part)];
  if (direction == Direction::forward) return {part, first_row(part), end};
  return {part, end, end_row(part)};
}

/// The others.
template <class T>
auto HybridSweeps<T>::late_rows(int part, Direction direction) const -> Range {
  const Range early = early_rows(part, direction);
  if (direction == Direction::forward) return {part, early.last, end_row(part)};
  return {part, first_row(part), early.first};
}

template <class T>
void HybridSweeps<T>::plan_passes(Direction direction) {
  parallel::run(n_parts(), [&](int part) {
    passes_[place_of(direction)][static_cast<std::size_t>(part)] = stretches_of(part, direction);
  });
}

/// The mixed rows from first_row to end_row, which are a part.
template <class T>
auto HybridSweeps<T>::mixed_rows(LocalIndex first_row, LocalIndex end_row) const
    -> std::vector<MixedRow> {
  std::vector<MixedRow> mixed;
  if (n_parts() == 1 && rows_.off_row_ptr.back() == 0) return mixed;
  for (LocalIndex i = first_row; i < end_row; ++i) {
    const auto u = static_cast<std::size_t>(i);
    const MixedRow row = within_part(i, first_row, end_row);
    const bool is_whole = row.begin == 0 && row.end == rows_.row_ptr[u + 1] - rows_.row_ptr[u];
    if (!is_whole || rows_.off_row_ptr[u] < rows_.off_row_ptr[u + 1]) mixed.push_back(row);
  }
  return mixed;
}

template <class T>
auto HybridSweeps<T>::within_part(LocalIndex i, LocalIndex first_row, LocalIndex end_row) const
    -> MixedRow {
  const auto u = static_cast<std::size_t>(i);
  const LocalIndex* const cols = rows_.cols.data() + rows_.row_ptr[u];
  const auto n = static_cast<LocalIndex>(rows_.row_ptr[u + 1] - rows_.row_ptr[u]);
  MixedRow within{i, 0, n};
  if (n_parts() == 1) return within;
  while (within.begin < n && cols[within.begin] < first_row) ++within.begin;
  while (within.end > within.begin && cols[within.end - 1] >= end_row) --within.end;
  return within;
}

template <class T>
auto HybridSweeps<T>::mixed_of(const Range& range) const -> std::span<const MixedRow> {
  const auto p = static_cast<std::size_t>(range.part);
  const auto rows =
      std::span(mixed_).subspan(mixed_starts_[p], mixed_starts_[p + 1] - mixed_starts_[p]);
  const auto before = [](const MixedRow& m, LocalIndex row) { return m.row < row; };
  const auto first = std::lower_bound(rows.begin(), rows.end(), range.first, before);
  return {first, std::lower_bound(first, rows.end(), range.last, before)};
}

/// The bytes of the entries of some rows.
template <class T>
std::size_t HybridSweeps<T>::bytes_of(const Range& range) const {
  const auto unknowns = static_cast<std::size_t>(rows_.unknowns);
  const Offset entries = rows_.row_ptr[static_cast<std::size_t>(range.last)] -
                         rows_.row_ptr[static_cast<std::size_t>(range.first)];
  return static_cast<std::size_t>(entries) * (unknowns * unknowns * sizeof(T) + sizeof(LocalIndex));
}

/// The last row in a direction that rows of a range, but for mixed ones, have entries at or are.
template <class T>
LocalIndex HybridSweeps<T>::last_seen_by(const Range& range, Direction direction) const {
  const bool upwards = direction == Direction::forward;
  LocalIndex last = upwards ? range.last - 1 : range.first;
  const auto look = [&](LocalIndex first, LocalIndex end) {
    for (auto i = static_cast<std::size_t>(first); std::cmp_less(i, end); ++i) {
      const Offset begin = rows_.row_ptr[i], behind = rows_.row_ptr[i + 1];
      if (begin == behind) continue;
      last = upwards ? std::max(last, rows_.cols[static_cast<std::size_t>(behind - 1)])
                     : std::min(last, rows_.cols[static_cast<std::size_t>(begin)]);
    }
  };
  for_each_run(range, Direction::forward, look, [](LocalIndex, Offset, Offset) {});
  return last;
}

template <class T>
auto HybridSweeps<T>::all_at_once(int part, Direction direction) const -> std::vector<Stretch> {
  if (direction == Direction::forward) return {{end_row(part), first_row(part)}};
  return {{first_row(part), end_row(part)}};
}

/// Some pages of the matrix at a time where it is larger than the cache of a core, and all of it at
/// once where what lies between the two passes would not stay in that of a processor. Downwards as
/// upwards with rows that are numbered from the last on, by negative numbers.
template <class T>
auto HybridSweeps<T>::stretches_of(int part, Direction direction) const -> std::vector<Stretch> {
  constexpr std::size_t at_once = std::size_t{128} << 10;
  constexpr std::size_t own_cache = std::size_t{1} << 20;
  constexpr std::size_t shared_cache = std::size_t{8} << 20;
  const bool upwards = direction == Direction::forward;
  const LocalIndex begin = upwards ? first_row(part) : -end_row(part);
  const LocalIndex end = upwards ? end_row(part) : -first_row(part);
  const auto rows_of = [&](LocalIndex from, LocalIndex to) {
    return upwards ? Range{part, from, to} : Range{part, -to, -from};
  };
  const std::size_t bytes = bytes_of(rows_of(begin, end));
  if (bytes <= own_cache) return all_at_once(part, direction);
  const std::size_t rows = static_cast<std::size_t>(end - begin) * at_once / bytes + 1;
  std::vector<LocalIndex> ends, last_seen;
  for (LocalIndex row = begin; row < end; row = ends.back()) {
    ends.push_back(row +
                   static_cast<LocalIndex>(std::min(rows, static_cast<std::size_t>(end - row))));
    const LocalIndex last = last_seen_by(rows_of(row, ends.back()), direction);
    last_seen.push_back(upwards ? last : -1 - last);
  }
  std::vector<Stretch> passes = stretches(begin, ends, last_seen);
  for (Stretch& pass : passes) {
    if (bytes_of(rows_of(pass.second, pass.first)) > shared_cache) {
      return all_at_once(part, direction);
    }
    pass = {std::abs(pass.first), std::abs(pass.second)};
  }
  return passes;
}

/// Numbers kept apart for the rows that the threads are at, so that no two of them write to one
/// cache line.
template <class T>
std::size_t HybridSweeps<T>::scratch_size(std::size_t width) const {
  constexpr std::size_t line = 16;
  return (static_cast<std::size_t>(rows_.unknowns) * width + 2 * line - 1) / line * line;
}

template <class T>
std::size_t HybridSweeps<T>::workspace_for(std::size_t width) const {
  const std::size_t old = n_parts() > 1 ? this->n_local() * width : 0;
  return old + static_cast<std::size_t>(n_parts()) * scratch_size(width);
}

/// Collective. Keeps what a sweep is to see of other parts, and brings what it is to see of other
/// ranks; meanwhile(vectors) may change X where there are several parts.
template <class T>
template <class Meanwhile>
auto HybridSweeps<T>::look_at_others(std::span<const T> B, std::span<T> X, int width,
                                     Meanwhile&& meanwhile) const -> Vectors {
  const int values = rows_.unknowns * width;
  const std::span<T> ghosts = rows_.exchange.template ghost_buffer<T>(values);
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> room = width > 1 ? this->workspace(workspace_for(w)) : std::span<T>(old_);
  const std::span<T> old = n_parts() > 1 ? room.first(X.size()) : std::span<T>();
  parallel::for_range(old.size(), [&](std::size_t begin, std::size_t end) {
    std::copy_n(X.begin() + static_cast<Offset>(begin), end - begin,
                old.begin() + static_cast<Offset>(begin));
  });
  const Vectors vectors = {B, X, ghosts, old, width, false, room.subspan(old.size())};
  const std::span<const T> sent = n_parts() > 1 ? old : X;
  rows_.exchange.forward_beside(sent, ghosts, values, [&] { meanwhile(vectors); });
  return vectors;
}

template <class T>
auto HybridSweeps<T>::look_at_others(std::span<const T> B, std::span<T> X, int width) const
    -> Vectors {
  return look_at_others(B, X, width, [](const Vectors&) {});
}

/// Collective. Looks at others, and sweeps in a direction.
template <class T>
auto HybridSweeps<T>::look_and_sweep(Direction direction, std::span<const T> B, std::span<T> X,
                                     int width) const -> Vectors {
  if (!has_early_) {
    const Vectors vectors = look_at_others(B, X, width);
    run(direction, vectors);
    return vectors;
  }
  const Vectors vectors = look_at_others(B, X, width, [&](const Vectors& so_far) {
    parallel::run(n_parts(),
                  [&](int part) { sweep_rows(early_rows(part, direction), direction, so_far); });
  });
  parallel::run(n_parts(),
                [&](int part) { sweep_rows(late_rows(part, direction), direction, vectors); });
  return vectors;
}

template <class T>
void HybridSweeps<T>::run(Direction direction, const Vectors& vectors) const {
  parallel::run(n_parts(), [&](int part) { sweep_rows(all_of(part), direction, vectors); });
}

template <class T>
void HybridSweeps<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  look_and_sweep(direction, b, x, 1);
}

template <class T>
void HybridSweeps<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  run(Direction::backward, look_and_sweep(Direction::forward, b, x, 1));
}

template <class T>
void HybridSweeps<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  this->first_sweep(b, x);
  run(Direction::backward, {b, x, {}, {}, 1, true, {}});
}

template <class T>
void HybridSweeps<T>::sweep_with_product(Sweep sweep, std::span<const T> b, std::span<T> x,
                                         std::span<T> y) const {
  if (!has_backward(sweep) || is_from_zero(sweep)) {
    return Relaxation<T>::sweep_with_product(sweep, b, x, y);
  }
  backward_with_product(
      has_forward(sweep) ? look_and_sweep(Direction::forward, b, x, 1) : look_at_others(b, x, 1),
      y);
}

template <class T>
void HybridSweeps<T>::backward_with_product(const Vectors& vectors, std::span<T> y) const {
  run(Direction::backward, vectors);
  this->multiply(vectors.X, y);
}

template <class T>
void HybridSweeps<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X,
                                  int width) const {
  if (is_from_zero(sweep)) {
    std::fill(X.begin(), X.end(), T{});
    const std::span<T> room = this->workspace(workspace_for(static_cast<std::size_t>(width)));
    const Vectors vectors = {B, X, {}, {}, width, true, room};
    if (has_forward(sweep)) run(Direction::forward, vectors);
    if (has_backward(sweep)) run(Direction::backward, vectors);
  } else if (has_forward(sweep)) {
    const Vectors vectors = look_and_sweep(Direction::forward, B, X, width);
    if (has_backward(sweep)) run(Direction::backward, vectors);
  } else {
    look_and_sweep(Direction::backward, B, X, width);
  }
}

template class HybridSweeps<float>;
template class HybridSweeps<double>;

}  // namespace nodewise::amg::relax
