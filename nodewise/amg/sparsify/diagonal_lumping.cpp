// Lumping to the diagonal: Bienz 2018, algorithm 4.2.
#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/amg/sparsify/diagonal_change.hpp"
#include "nodewise/amg/sparsify/lumping_method.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;

/// The rows of some points. Each thread has its own.
template <class T>
class DiagonalLumping {
 public:
  explicit DiagonalLumping(const LumpingCall<T>& call)
      : call_(call),
        blocks_(call.worth.blocks),
        kept_(blocks_.are_entries() ? 0 : static_cast<std::size_t>(blocks_.n_all()), -1),
        dropped_(static_cast<std::size_t>(blocks_.unknowns())),
        vector_(dropped_.size(), T{1}) {}

  Csr<T> run(LocalIndex begin, LocalIndex end) {
    if (blocks_.are_entries()) return run_entries(begin, end);
    const LocalIndex u = blocks_.unknowns();
    rows_ = Csr<T>((end - begin) * u, call_.A.n_local() + call_.A.n_ghosts());
    for (LocalIndex point = begin; point < end; ++point) {
      const bool drops = this->drops(point);
      if (drops) {
        mark_kept(point);
        sum_dropped(point);
      }
      for (LocalIndex r = 0; r < u; ++r) append_row(point, r, drops);
    }
    return std::move(rows_);
  }

 private:
  /// The same where a point has one row: without marks.
  Csr<T> run_entries(LocalIndex begin, LocalIndex end) {
    Csr<T> rows(end - begin, call_.A.n_local() + call_.A.n_ghosts());
    const auto most = static_cast<std::size_t>(blocks_.begin(end) - blocks_.begin(begin));
    rows.cols.resize(most);
    rows.vals.resize(most);
    LocalIndex* const cols = rows.cols.data();
    T* const vals = rows.vals.data();
    std::size_t n_kept = 0;
    for (LocalIndex i = begin; i < end; ++i) {
      const auto keep = [&](LocalIndex column, T value) {
        cols[n_kept] = column;
        vals[n_kept++] = value;
      };
      if (!drops(i)) {
        for_each_entry(call_.A, i, keep);
      } else {
        sum_dropped(i);
        const T added = DiagonalChange<T>(dropped_, vector_)(0, 0);
        for_each_entry_and_fate(i, [&](LocalIndex column, T value, bool stays) {
          if (stays) keep(column, column == i && adds_ ? value + added : value);
        });
      }
      rows.row_ptr[static_cast<std::size_t>(i - begin) + 1] = static_cast<Offset>(n_kept);
    }
    rows.cols.resize(n_kept);
    rows.vals.resize(n_kept);
    return rows;
  }
  /// Calls f(column, value, whether it stays) for the entries of a row that is a point.
  template <class F>
  void for_each_entry_and_fate(LocalIndex i, F&& f) const {
    Offset block = blocks_.begin(i);
    for_each_entry(call_.A, i, [&](LocalIndex column, T value) {
      f(column, value, call_.worth.keeps(i, block++, call_.tolerance));
    });
  }

  /// Whether some block of the row is dropped.
  bool drops(LocalIndex point) const {
    for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
      if (!call_.worth.keeps(point, block, call_.tolerance)) return true;
    }
    return false;
  }
  void mark_kept(LocalIndex point) {
    for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
      if (!call_.worth.keeps(point, block, call_.tolerance)) continue;
      kept_[static_cast<std::size_t>(blocks_.column(block))] = point;
    }
  }
  bool is_kept(LocalIndex point, LocalIndex column) const {
    return kept_[static_cast<std::size_t>(blocks_.point_of(column))] == point;
  }

  /// The product of what the point's rows drop with the kept vector. Nothing is added for it where
  /// the diagonal would not bear that: with the values that the blocks were weighed by it does.
  void sum_dropped(LocalIndex point) {
    const auto u = dropped_.size();
    const auto first = static_cast<std::size_t>(point) * u;
    constexpr double beyond_rounding = 1.01 * most_lost;
    adds_ = true;
    diagonal_.assign(u, T{});
    for (std::size_t r = 0; r < u; ++r) {
      dropped_[r] = T{};
      const auto i = static_cast<LocalIndex>(first + r);
      const auto take = [&](LocalIndex column, T value, bool stays) {
        if (column == i) diagonal_[r] = value;
        if (stays) return;
        dropped_[r] += call_.kept_vector.empty()
                           ? value
                           : value * call_.kept_vector[static_cast<std::size_t>(column)];
      };
      if (blocks_.are_entries()) {
        for_each_entry_and_fate(i, take);
      } else {
        for_each_entry(call_.A, i, [&](LocalIndex column, T value) {
          take(column, value, is_kept(point, column));
        });
      }
      if (!call_.kept_vector.empty()) vector_[r] = call_.kept_vector[first + r];
    }
    const DiagonalChange<T> change(dropped_, vector_);
    for (std::size_t r = 0; r < u && adds_; ++r) {
      adds_ = change.exists() && change(r, r) * diagonal_[r] >=
                                     static_cast<T>(-beyond_rounding) * diagonal_[r] * diagonal_[r];
    }
  }

  void append_row(LocalIndex point, LocalIndex r, bool drops) {
    const LocalIndex u = blocks_.unknowns();
    const LocalIndex i = point * u + r;
    const DiagonalChange<T> change(dropped_, vector_);
    for_each_entry(call_.A, i, [&](LocalIndex column, T value) {
      if (drops && !is_kept(point, column)) return;
      const bool inside = column >= point * u && column < (point + 1) * u;
      rows_.cols.push_back(column);
      rows_.vals.push_back(drops && inside && adds_
                               ? value + change(static_cast<std::size_t>(r),
                                                static_cast<std::size_t>(column - point * u))
                               : value);
    });
    rows_.row_ptr[next_row_++ + 1] = static_cast<Offset>(rows_.cols.size());
  }

  const LumpingCall<T>& call_;
  const PointBlocks<T>& blocks_;
  std::vector<LocalIndex> kept_;  // the point that was last found to keep a point's columns
  std::vector<T> dropped_, vector_, diagonal_;
  bool adds_ = true;
  Csr<T> rows_;
  std::size_t next_row_ = 0;
};

template <class T>
LumpedRows<T> lump_to_diagonal(const LumpingCall<T>& call) {
  LumpedRows<T> lumped;
  if (call.failure) return lumped;
  call.failure = mpi::caught([&] {
    lumped.rows = kernels::rows_in_parts<T>(
        call.worth.blocks.begins(),
        [&](LocalIndex begin, LocalIndex end) { return DiagonalLumping<T>(call).run(begin, end); });
  });
  return lumped;
}

}  // namespace

const LumpingMethod& diagonal_lumping() {
  static const LumpingMethod method = {
      {"diagonal",
       "added to the diagonal, so that the first near null space vector has the same "
       "product; entries that would take more than half of a diagonal stay",
       "Bienz 2018, algorithm 4.2"},
      true,
      true,
      false,
      true,
      lump_to_diagonal<double>,
      lump_to_diagonal<float>};
  return method;
}

}  // namespace nodewise::amg::sparsify
