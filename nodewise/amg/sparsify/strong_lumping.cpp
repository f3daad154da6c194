// Lumping to strong neighbours: Falgout, Schroder 2014; Bienz 2018, algorithm 4.1.
#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/amg/sparsify/diagonal_change.hpp"
#include "nodewise/amg/sparsify/entry_changes.hpp"
#include "nodewise/amg/sparsify/lump_to_strong_rows.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// The rows of a rank with what is lumped to them.
template <class T>
class StrongLumping {
 public:
  StrongLumping(const LumpingCall<T>& call, const StrongRows<T>& strong)
      : call_(call),
        blocks_(call.worth.blocks),
        strong_(strong),
        kept_(static_cast<std::size_t>(blocks_.n_all()), -1),
        changes_(blocks_) {}

  /// The dropped entries that have no strong neighbour among the kept ones of their row.
  std::vector<Offset> find_alone() {
    std::vector<Offset> alone;
    for_each_dropped([&](LocalIndex, LocalIndex column, Offset block, T) {
      if (!(sum_of_kept(column) > T{})) alone.push_back(block);
    });
    return alone;
  }

  /// Makes the changes of this rank's rows, and those of others' as records for the ghosts.
  comm::Records<matrix::RowEntry<T>> lump() {
    for_each_dropped([&](LocalIndex i, LocalIndex column, Offset, T value) {
      const T sum = sum_of_kept(column);
      if (!(sum > T{})) {  // with other values than those that were weighed
        changes_.add(i, i, value);
        return;
      }
      for_each_kept(column, [&](LocalIndex k, T size) {
        const T part = size / sum * value;
        changes_.add(i, k, part);
        changes_.add_across(i, k, part, true);
      });
    });
    return changes_.for_owners();
  }

  /// Takes what other ranks lump to rows of this one.
  void take_all(const comm::Records<matrix::RowEntry<T>>& arrived) { changes_.take_all(arrived); }

  LumpedRows<T> rows() {
    const DistMatrix<T>& A = call_.A;
    LumpedRows<T> lumped{Csr<T>(A.n_local(), A.n_local() + A.n_ghosts())};
    Csr<T>& rows = lumped.rows;
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      mark_kept(i);
      T before{};
      for_each_entry(A, i, [&](LocalIndex column, T value) {
        if (kept_[static_cast<std::size_t>(column)] != i) return;
        if (column == i) before = value;
        const T after = value + changes_.sum(i, column);
        if (column == i && !(after * before >= static_cast<T>(most_lost) * before * before)) {
          lumped.loses_diagonal = true;
        }
        rows.cols.push_back(column);
        rows.vals.push_back(after);
      });
      rows.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(rows.cols.size());
    }
    return lumped;
  }

 private:
  void mark_kept(LocalIndex i) {
    for (Offset block = blocks_.begin(i); block < blocks_.end(i); ++block) {
      if (call_.worth.keeps(i, block, call_.tolerance)) {
        kept_[static_cast<std::size_t>(blocks_.column(block))] = i;
      }
    }
    row_ = i;
  }

  /// Calls f(row, column, block, value) for what is dropped.
  template <class F>
  void for_each_dropped(F&& f) {
    for (LocalIndex i = 0; i < blocks_.n_points(); ++i) {
      mark_kept(i);
      Offset block = blocks_.begin(i);
      for_each_entry(call_.A, i, [&](LocalIndex column, T value) {
        if (kept_[static_cast<std::size_t>(column)] != i) f(i, column, block, value);
        ++block;
      });
    }
  }

  /// Calls f(k, |s_jk|) for the strong neighbours of j that the present row keeps.
  template <class F>
  void for_each_kept(LocalIndex j, F&& f) const {
    strong_.for_each(j, [&](LocalIndex k, T size) {
      if (kept_[static_cast<std::size_t>(k)] == row_) f(k, size);
    });
  }
  T sum_of_kept(LocalIndex j) const {
    T sum{};
    for_each_kept(j, [&](LocalIndex, T size) { sum += size; });
    return sum;
  }

  const LumpingCall<T>& call_;
  const PointBlocks<T>& blocks_;
  const StrongRows<T>& strong_;
  std::vector<LocalIndex> kept_;  // the row that was last found to keep a column
  LocalIndex row_ = -1;
  EntryChanges<T> changes_;
};

template <class T>
LumpedRows<T> lump_to_strong(const LumpingCall<T>& call) {
  constexpr double any_row_sum = 1;
  const auto& options = call.method.template options<StrongLumpingOptions>();
  return lump_to_strong_rows<StrongLumping<T>>(call, options.lumping_threshold, any_row_sum);
}

std::span<const Field<StrongLumpingOptions>> strong_lumping_fields() {
  static const std::vector<Field<StrongLumpingOptions>> fields = {
      field("lumping_threshold", &StrongLumpingOptions::lumping_threshold,
            "An entry of a coarse matrix is strong, and may take what is dropped, when its size "
            "exceeds this fraction of the row's largest",
            0.0, 1.0)};
  return fields;
}

}  // namespace

const LumpingMethod& strong_lumping() {
  static const LumpingMethod method = {
      {"strong",
       "added to entries that join the row to strong neighbours of the column, on both "
       "sides; entries that have none stay",
       "Falgout, Schroder 2014; Bienz 2018, algorithm 4.1", own_options(strong_lumping_fields)},
      false,
      false,
      false,
      true,
      lump_to_strong<double>,
      lump_to_strong<float>};
  return method;
}

}  // namespace nodewise::amg::sparsify
