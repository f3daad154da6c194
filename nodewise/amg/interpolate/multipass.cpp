#include <algorithm>
#include <limits>
#include <optional>

#include "nodewise/amg/interpolate/by_rows.hpp"
#include "nodewise/amg/interpolate/direct_weights.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using comm::Records;
using matrix::DistMatrix;
using matrix::RowEntry;

namespace {

/// The rows of points that are done, one behind the other in the order they were done in.
template <class T>
struct DoneRows {
  struct Range {
    Offset begin = 0;
    Offset end = 0;
  };
  Array<Range> ranges;  // of this rank's points, then of ghosts
  Array<LocalIndex> cols;
  Array<T> vals;

  /// Makes what was appended since `begin` the row of a point.
  void put(std::size_t point, std::size_t begin) {
    ranges[point] = {static_cast<Offset>(begin), static_cast<Offset>(cols.size())};
  }
};

template <class T>
class Multipass {
 public:
  Multipass(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
            const Layout& coarse_points)
      : A_(A), near_(A, strength, splitting, coarse_points, Signs::all) {}

  DistMatrix<T> build(const Limits& limits) {
    near_.share_coarse_points();
    mpi::collectively(A_.comm(), [&] { begin(); });
    do {
      share_pass();
      bring_rows();
      ++pass_;
    } while (any_new());
    return {A_.rows(), near_.coarse_layout(), [&] { return finished(limits); }};
  }

 private:
  static constexpr std::int32_t not_done = std::numeric_limits<std::int32_t>::max();

  std::int32_t& pass_of(LocalIndex i) { return done_in_[static_cast<std::size_t>(i)]; }

  /// Coarse points are done in pass 0.
  void begin() {
    near_.number_points();
    columns_ = near_.columns();
    const auto n = static_cast<std::size_t>(A_.n_local());
    const std::size_t all = n + static_cast<std::size_t>(A_.n_ghosts());
    done_in_.assign(all, not_done);
    rows_.ranges.resize(all);
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      if (!near_.is_coarse(i)) {
        open_.push_back(i);
        continue;
      }
      pass_of(i) = 0;
      rows_.cols.push_back(near_.coarse_number(i));
      rows_.vals.push_back(T{1});
      rows_.put(static_cast<std::size_t>(i), rows_.cols.size() - 1);
    }
  }

  void share_pass() {
    const std::span whole(done_in_);
    const auto n = static_cast<std::size_t>(A_.n_local());
    A_.exchange().forward(std::span<const std::int32_t>(whole.first(n)), whole.subspan(n));
  }

  /// Collective. Brings the rows of ghosts that were done in the last pass.
  void bring_rows() {
    const auto received = A_.exchange().forward_records([&] { return outgoing_rows(); });
    mpi::collectively(A_.comm(), [&] {
      for (std::size_t g = 0; g < received.size(); ++g) {
        if (received.length(g) == 0) continue;
        const std::size_t first = rows_.cols.size();
        for (const RowEntry<T>& weight : received[g]) {
          rows_.cols.push_back(columns_->number(weight.col));
          rows_.vals.push_back(weight.value);
        }
        rows_.put(static_cast<std::size_t>(A_.n_local()) + g, first);
      }
    });
  }

  Records<RowEntry<T>> outgoing_rows() {
    Records<RowEntry<T>> records;
    records.offsets.assign(static_cast<std::size_t>(A_.n_local()) + 1, 0);
    for (const LocalIndex i : A_.exchange().plan().exported_entries()) {
      const auto u = static_cast<std::size_t>(i);
      if (pass_of(i) == pass_) {
        const auto range = rows_.ranges[u];
        for (auto p = static_cast<std::size_t>(range.begin);
             p < static_cast<std::size_t>(range.end); ++p) {
          records.data.push_back({columns_->global(rows_.cols[p]), rows_.vals[p]});
        }
        records.offsets[u + 1] = range.end - range.begin;
      }
    }
    for (std::size_t i = 1; i < records.offsets.size(); ++i) {
      records.offsets[i] += records.offsets[i - 1];
    }
    return records;
  }

  /// Collective. Makes the rows of this pass; whether any rank has some.
  bool any_new() {
    std::int64_t n_new = 0;
    const auto error = mpi::caught([&] { n_new = make_rows(); });
    mpi::agree_on_sums(A_.comm(), error, std::span(&n_new, 1));
    return n_new > 0;
  }

  std::int64_t make_rows() {
    RowBuilder<T> row(0, columns_->size(), 0, 0.0);
    DirectWeights<T> weights(near_, ToIsolated::dropped);
    const auto is_done = [this](LocalIndex k) { return pass_of(k) < pass_; };
    std::int64_t n_new = 0;
    for_each_open([&](LocalIndex i) {
      if (!weights.choose(i, is_done)) return;
      weights.for_each([&](LocalIndex k, T weight) { add_row(row, k, weight); });
      const std::size_t first = rows_.cols.size();
      row.move_row_to(rows_.cols, rows_.vals);
      rows_.put(static_cast<std::size_t>(i), first);
      pass_of(i) = pass_;
      ++n_new;
    });
    std::erase_if(open_, [&](LocalIndex i) { return pass_of(i) != not_done; });
    return n_new;
  }

  /// Calls f(i) for the points that were not done before this pass.
  template <class F>
  void for_each_open(F&& f) const {
    const auto n = static_cast<std::size_t>(A_.n_local());
    if (open_.size() < n / 2) {
      for (const LocalIndex i : open_) f(i);
      return;
    }
    // Nearly all of the matrix is read.
    kernels::RowBlocks<T>(A_.on(), 0, A_.n_local())
        .upwards(0, A_.n_local(), [&](LocalIndex begin, LocalIndex end) {
          for (LocalIndex i = begin; i < end; ++i) {
            if (done_in_[static_cast<std::size_t>(i)] == not_done) f(i);
          }
        });
  }

  /// Adds `weight` times the row of a point.
  void add_row(RowBuilder<T>& row, LocalIndex point, T weight) const {
    const auto range = rows_.ranges[static_cast<std::size_t>(point)];
    const auto n = static_cast<std::size_t>(range.end - range.begin);
    row.add(weight, {rows_.cols.data() + range.begin, n}, rows_.vals.data() + range.begin);
  }

  matrix::SplitRows<T> finished(const Limits& limits) {
    const auto copy = [this](RowBuilder<T>& row, LocalIndex i) { add_row(row, i, T{1}); };
    return rows_of(near_, *columns_, limits, [&] { return copy; });
  }

  const DistMatrix<T>& A_;
  Neighbourhood<T> near_;
  std::optional<matrix::GhostNumbering> columns_;  // those of near_ and more
  Array<std::int32_t> done_in_;                    // the pass, of all points
  DoneRows<T> rows_;
  Array<LocalIndex> open_;  // the points that are not done
  std::int32_t pass_ = 0;
};

}  // namespace

template <class T>
DistMatrix<T> multipass(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const Layout& coarse_points,
                        const Limits& limits) {
  return Multipass<T>(A, strength, splitting, coarse_points).build(limits);
}

template DistMatrix<float> multipass(const DistMatrix<float>&, const Strength&, const Splitting&,
                                     const Layout&, const Limits&);
template DistMatrix<double> multipass(const DistMatrix<double>&, const Strength&, const Splitting&,
                                      const Layout&, const Limits&);

}  // namespace nodewise::amg::interpolate
