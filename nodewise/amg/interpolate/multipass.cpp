#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "nodewise/amg/interpolate/by_rows.hpp"
#include "nodewise/amg/interpolate/direct_weights.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/parallel_lists.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using comm::Records;
using matrix::DistMatrix;
using matrix::RowEntry;

namespace {

/// Rows of points, in the order they were made in.
template <class T>
struct MadeRows {
  Array<LocalIndex> points;
  Array<Offset> ends;  // of each point's row, which begins where the last one ends
  Array<LocalIndex> cols;
  Array<T> vals;

  /// Makes what was appended since the last one the row of a point.
  void end_row(std::size_t point) {
    points.push_back(static_cast<LocalIndex>(point));
    ends.push_back(static_cast<Offset>(cols.size()));
  }
};

/// The rows of points that are done: this rank's, then ghosts.
template <class T>
class DoneRows {
 public:
  /// The rows of points that are not done are empty.
  explicit DoneRows(std::size_t n_points) : rows_(n_points, Row{}) {}

  std::span<const LocalIndex> cols(LocalIndex point) const {
    const Row& row = rows_[static_cast<std::size_t>(point)];
    return {made_[row.place].cols.data() + row.begin, static_cast<std::size_t>(row.length)};
  }
  const T* vals(LocalIndex point) const {
    const Row& row = rows_[static_cast<std::size_t>(point)];
    return made_[row.place].vals.data() + row.begin;
  }

  void take(MadeRows<T> made) {
    const auto place = static_cast<std::uint32_t>(made_.size());
    Offset begin = 0;
    for (std::size_t k = 0; k < made.points.size(); ++k) {
      const Offset end = made.ends[k];
      rows_[static_cast<std::size_t>(made.points[k])] = {
          begin, static_cast<LocalIndex>(end - begin), place};
      begin = end;
    }
    made_.push_back({std::move(made.cols), std::move(made.vals)});
  }

 private:
  struct Row {
    Offset begin = 0;
    LocalIndex length = 0;
    std::uint32_t place = 0;  // of the entries that it is among
  };
  struct Entries {
    Array<LocalIndex> cols;
    Array<T> vals;
  };
  Array<Row> rows_;
  std::vector<Entries> made_;
};

template <class T>
class Multipass {
 public:
  Multipass(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
            const Layout& coarse_points, const Rules& rules)
      : A_(A),
        near_(A, strength, splitting, coarse_points, Signs::all, rules.to_isolated),
        rules_(rules) {}

  DistMatrix<T> build() {
    near_.share_coarse_points();
    mpi::collectively(A_.comm(), [&] { begin(); });
    do {
      share_pass();
      bring_rows();
      ++pass_;
    } while (any_new());
    return {A_.rows(), near_.coarse_layout(), [&] { return finished(); }};
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
    rows_.emplace(all);
    MadeRows<T> made;
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      if (!near_.is_coarse(i)) {
        open_.push_back(i);
        continue;
      }
      pass_of(i) = 0;
      made.cols.push_back(near_.coarse_number(i));
      made.vals.push_back(T{1});
      made.end_row(static_cast<std::size_t>(i));
    }
    rows_->take(std::move(made));
  }

  void share_pass() {
    const std::span whole(done_in_);
    const auto n = static_cast<std::size_t>(A_.n_local());
    A_.exchange().forward(std::span<const std::int32_t>(whole.first(n)), whole.subspan(n));
  }

  /// Collective. Brings the rows of ghosts that were done in the last pass.
  void bring_rows() {
    const auto received = A_.exchange().forward_records([&] { return outgoing_rows(); }, failure_);
    const auto keep = [&] {
      MadeRows<T> made;
      for (std::size_t g = 0; g < received.size(); ++g) {
        if (received.length(g) == 0) continue;
        for (const RowEntry<T>& weight : received[g]) {
          made.cols.push_back(columns_->number(weight.col));
          made.vals.push_back(weight.value);
        }
        made.end_row(static_cast<std::size_t>(A_.n_local()) + g);
      }
      rows_->take(std::move(made));
    };
    if (!failure_) failure_ = mpi::caught(keep);
  }

  Records<RowEntry<T>> outgoing_rows() {
    Records<RowEntry<T>> records;
    for (const LocalIndex i : A_.exchange().exported_entries()) {
      if (pass_of(i) == pass_) {
        const auto cols = rows_->cols(i);
        const T* const vals = rows_->vals(i);
        for (std::size_t p = 0; p < cols.size(); ++p) {
          records.data.push_back({columns_->global(cols[p]), vals[p]});
        }
      }
      records.end_record();
    }
    return records;
  }

  /// Collective. Makes the rows of this pass; whether any rank has some. All throw what failed
  /// since the last time.
  bool any_new() {
    std::int64_t n_new = 0;
    if (!failure_) failure_ = mpi::caught([&] { n_new = make_rows(); });
    mpi::agree_on_sums(A_.comm(), failure_, std::span(&n_new, 1));
    return n_new > 0;
  }

  std::int64_t make_rows() {
    const std::size_t row_length = entries_a_row();
    const int parts = parallel::parts_of(open_.size() * row_length);
    std::vector<MadeRows<T>> made(static_cast<std::size_t>(parts));
    parallel::run(parts, [&](int part) {
      const std::size_t begin = parallel::equal_part(open_.size(), parts, part);
      const std::size_t end = parallel::equal_part(open_.size(), parts, part + 1);
      made[static_cast<std::size_t>(part)] =
          rows_of_points(std::span(open_).subspan(begin, end - begin));
    });
    std::int64_t n_new = 0;
    for (MadeRows<T>& of_part : made) {
      for (const LocalIndex i : of_part.points) pass_of(i) = pass_;
      n_new += static_cast<std::int64_t>(of_part.points.size());
      rows_->take(std::move(of_part));
    }
    parallel::erase_if(open_, 1, [&](LocalIndex i) { return pass_of(i) != not_done; });
    return n_new;
  }

  std::size_t entries_a_row() const {
    return static_cast<std::size_t>(A_.nnz_local() / std::max(A_.n_local(), 1)) + 1;
  }

  /// The rows of those points, ascending, that depend on points which are done.
  MadeRows<T> rows_of_points(std::span<const LocalIndex> points) const {
    MadeRows<T> made;
    RowBuilder<T> row(0, columns_->size(), 0, 0.0);
    DirectWeights<T> weights(near_, PositiveSum::added);
    const auto is_done = [this](LocalIndex k) {
      return done_in_[static_cast<std::size_t>(k)] < pass_;
    };
    for_each_open(points, [&](LocalIndex i) {
      if (!weights.choose(i, is_done)) return;
      weights.for_each(
          [&](LocalIndex k, T weight) { row.add(weight, rows_->cols(k), rows_->vals(k)); });
      row.move_row_to(made.cols, made.vals);
      made.end_row(static_cast<std::size_t>(i));
    });
    return made;
  }

  /// Calls f(i) for some of the points that were not done before this pass, which ascend.
  template <class F>
  void for_each_open(std::span<const LocalIndex> points, F&& f) const {
    if (points.empty()) return;
    const LocalIndex first = points.front();
    const LocalIndex last = points.back() + 1;
    if (points.size() < static_cast<std::size_t>(last - first) / 2) {
      for (const LocalIndex i : points) f(i);
      return;
    }
    // Nearly all of the matrix is read.
    kernels::RowBlocks<T>(A_.on(), first, last)
        .upwards(first, last, [&](LocalIndex begin, LocalIndex end) {
          for (LocalIndex i = begin; i < end; ++i) {
            if (done_in_[static_cast<std::size_t>(i)] == not_done) f(i);
          }
        });
  }

  matrix::SplitRows<T> finished() {
    const auto copy = [this](RowBuilder<T>& row, LocalIndex i) {
      row.add(T{1}, rows_->cols(i), rows_->vals(i));
    };
    return rows_of(near_, *columns_, rules_, [&] { return copy; });
  }

  const DistMatrix<T>& A_;
  Neighbourhood<T> near_;
  const Rules& rules_;
  std::optional<matrix::GhostNumbering> columns_;  // those of near_ and more
  std::optional<Error> failure_;                   // of this rank, not yet agreed on
  Array<std::int32_t> done_in_;                    // the pass, of all points
  std::optional<DoneRows<T>> rows_;
  std::vector<LocalIndex> open_;  // the points that are not done, ascending
  std::int32_t pass_ = 0;
};

}  // namespace

template <class T>
DistMatrix<T> multipass(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const Layout& coarse_points,
                        const Rules& rules) {
  return Multipass<T>(A, strength, splitting, coarse_points, rules).build();
}

template DistMatrix<float> multipass(const DistMatrix<float>&, const Strength&, const Splitting&,
                                     const Layout&, const Rules&);
template DistMatrix<double> multipass(const DistMatrix<double>&, const Strength&, const Splitting&,
                                      const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_multipass(const InterpolationCall<T>& call) {
  return interpolate::multipass(call.A, call.strength, call.splitting, call.coarse_points,
                                call.rules);
}

constexpr int not_done = -1;

/// The pass in which multipass() makes the row of each point, coarse ones in pass 0: one more than
/// the least of those it depends on; not_done where no path leads to a coarse point.
std::vector<int> passes_of(const kernels::Csr<double>& A, const Strength& strength,
                           std::span<const LocalIndex> coarse_rows) {
  std::vector<int> passes(static_cast<std::size_t>(A.n_rows), not_done);
  for (const LocalIndex i : coarse_rows) passes[static_cast<std::size_t>(i)] = 0;
  const auto depends_on_pass = [&](LocalIndex i, int pass) {
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      if (strength.on[k] && passes[static_cast<std::size_t>(A.cols[k])] == pass) return true;
    }
    return false;
  };
  bool any_new = true;
  for (int pass = 0; any_new; ++pass) {
    any_new = false;
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      int& own = passes[static_cast<std::size_t>(i)];
      if (own != not_done || !depends_on_pass(i, pass)) continue;
      own = pass + 1;
      any_new = true;
    }
  }
  return passes;
}

/// As Multipass::build(): who is done, and the rows of the last pass,
/// which are not shortened.
void exchanges_of_passes(const matrix::DistMatrix<double>& A, const Strength& strength,
                         std::span<const LocalIndex> coarse_rows, std::span<const GlobalIndex>,
                         VirtualExchanges& exchanges) {
  interpolate::number_exchanges(exchanges);
  const coarsen::Splitting splitting = coarsen::splitting_of(A.n_local(), coarse_rows);
  const auto P = interpolate::multipass(A, strength, splitting,
                                        coarsen::coarse_layout(A.rows(), splitting), {});
  const std::vector<int> passes = passes_of(A.on(), strength, coarse_rows);
  const int n_passes = 1 + *std::max_element(passes.begin(), passes.end());
  for (int pass = 0; pass < n_passes; ++pass) {
    std::vector<Offset> offsets = {0};
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      const bool goes = passes[static_cast<std::size_t>(i)] == pass;
      offsets.push_back(offsets.back() + (goes ? P.on().end(i) - P.on().begin(i) : 0));
    }
    exchanges.forward(sizeof(std::int32_t));
    exchanges.records(offsets, sizeof(matrix::RowEntry<double>));
  }
}

}  // namespace

const InterpolationMethod& multipass_interpolation() {
  static const InterpolationMethod method = {
      {"multipass", "pass by pass, from points that are done: for aggressive coarsening",
       "Stueben 1999, section 7.2.2"},
      false,
      exchanges_of_passes,
      interpolate_by_multipass<double>,
      interpolate_by_multipass<float>,
      4};
  return method;
}

}  // namespace nodewise::amg
