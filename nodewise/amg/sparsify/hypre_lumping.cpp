// Lumping as hypre does it, so that coarse matrices can be compared with its own: what is dropped
// goes half to strong neighbours, on both sides, and half to the diagonal.
#include <algorithm>
#include <vector>

#include "nodewise/amg/sparsify/entry_changes.hpp"
#include "nodewise/amg/sparsify/lump_to_strong_rows.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// The rows of a rank. An entry is in the pattern, or it is dropped, or it is set aside: it was to
/// be dropped, but there is nowhere for it to go on one side of the diagonal or on both.
template <class T>
class HypreLumping {
 public:
  HypreLumping(const LumpingCall<T>& call, const StrongRows<T>& strong)
      : call_(call),
        blocks_(call.worth.blocks),
        strong_(strong),
        is_outside_(static_cast<std::size_t>(blocks_.begins().back())),
        takes_(static_cast<std::size_t>(blocks_.n_all()), -1),
        changes_(blocks_) {
    for (LocalIndex i = 0; i < blocks_.n_points(); ++i) {
      for (Offset block = blocks_.begin(i); block < blocks_.end(i); ++block) {
        is_outside_[static_cast<std::size_t>(block)] = stays(i, block) ? 0 : 1;
      }
    }
    if (call.set_aside == nullptr) return;
    for (const Offset block : *call.set_aside) is_outside_[static_cast<std::size_t>(block)] = 1;
  }

  /// The entries outside of the pattern that have nowhere to go.
  std::vector<Offset> find_alone() {
    std::vector<Offset> alone;
    for_each_outside([&](LocalIndex, LocalIndex column, Offset block, T) {
      if (!(sum_of_takers(column) > T{})) alone.push_back(block);
    });
    return alone;
  }

  /// Makes the changes of this rank's rows, and those of others' as records for the ghosts.
  comm::Records<matrix::RowEntry<T>> lump() {
    for_each_outside([&](LocalIndex i, LocalIndex column, Offset block, T value) {
      const T sum = sum_of_takers(column);
      if (!(sum > T{})) {
        keep_half(i, column, block, value);
        return;
      }
      for_each_taker(column, [&](LocalIndex k, T size) {
        const T part = size / sum * value;
        const T half = part / 2;
        changes_.add(i, i, k == i ? part : half);
        if (k == i) return;
        changes_.add(i, k, half);
        changes_.add_across(i, k, half, true);
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
      Offset block = blocks_.begin(i);
      for_each_entry(A, i, [&](LocalIndex column, T value) {
        const Offset here = block++;
        if (!stays(i, here)) return;
        const bool is_outside = is_outside_[static_cast<std::size_t>(here)] != 0;
        if (is_outside) lumped.set_aside.push_back(here);
        rows.cols.push_back(column);
        rows.vals.push_back((is_outside ? T{} : value) + changes_.sum(i, column));
      });
      rows.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(rows.cols.size());
    }
    return lumped;
  }

 private:
  bool stays(LocalIndex i, Offset block) const {
    return call_.worth.keeps(i, block, call_.tolerance);
  }

  /// Whether the diagonal of a row is among what takes dropped entries: in hypre where the rank has
  /// a column before it that the row keeps.
  bool diagonal_takes(LocalIndex i) const {
    const auto& starts = call_.places.starts;
    const GlobalIndex first = starts.front(), here = blocks_.global(i);
    const GlobalIndex begin =
        *(std::upper_bound(starts.begin(), starts.end(), first + here) - 1) - first;
    for (Offset block = blocks_.begin(i); block < blocks_.end(i); ++block) {
      const GlobalIndex column = blocks_.global(blocks_.column(block));
      if (column >= begin && column < here && is_outside_[static_cast<std::size_t>(block)] == 0) {
        return true;
      }
    }
    return false;
  }

  /// The columns of a row that take dropped entries.
  void mark_takers(LocalIndex i) {
    for (Offset block = blocks_.begin(i); block < blocks_.end(i); ++block) {
      const LocalIndex column = blocks_.column(block);
      const bool is_outside = is_outside_[static_cast<std::size_t>(block)] != 0;
      if (column == i ? diagonal_takes(i) : !is_outside)
        takes_[static_cast<std::size_t>(column)] = i;
    }
    row_ = i;
  }

  /// Calls f(row, column, block, value) for what is outside of the pattern and not zero.
  template <class F>
  void for_each_outside(F&& f) {
    for (LocalIndex i = 0; i < blocks_.n_points(); ++i) {
      mark_takers(i);
      Offset block = blocks_.begin(i);
      for_each_entry(call_.A, i, [&](LocalIndex column, T value) {
        if (is_outside_[static_cast<std::size_t>(block)] != 0 && value != T{}) {
          f(i, column, block, value);
        }
        ++block;
      });
    }
  }

  /// Calls f(k, |s_jk|) for the strong neighbours of j that take what the present row drops.
  template <class F>
  void for_each_taker(LocalIndex j, F&& f) const {
    strong_.for_each(j, [&](LocalIndex k, T size) {
      if (takes_[static_cast<std::size_t>(k)] == row_) f(k, size);
    });
  }
  T sum_of_takers(LocalIndex j) const {
    T sum{};
    for_each_taker(j, [&](LocalIndex, T size) { sum += size; });
    return sum;
  }

  /// Each side of an entry that is set aside gets half of what either has nowhere to put. What was
  /// lumped with the values that the entries were weighed by goes to the diagonal.
  void keep_half(LocalIndex i, LocalIndex column, Offset block, T value) {
    if (!stays(i, block)) return changes_.add(i, i, value);
    changes_.add(i, column, value / 2);
    changes_.add_across(i, column, value / 2, false);
  }

  const LumpingCall<T>& call_;
  const PointBlocks<T>& blocks_;
  const StrongRows<T>& strong_;
  std::vector<char> is_outside_;   // of each block
  std::vector<LocalIndex> takes_;  // the row that was last found to have a column take entries
  LocalIndex row_ = -1;
  EntryChanges<T> changes_;
};

template <class T>
LumpedRows<T> lump_as_hypre(const LumpingCall<T>& call) {
  const auto& options = call.method.template options<HypreLumpingOptions>();
  return lump_to_strong_rows<HypreLumping<T>>(call, options.hypre_lumping_threshold,
                                              options.hypre_lumping_row_sum);
}

std::span<const Field<HypreLumpingOptions>> hypre_lumping_fields() {
  using O = HypreLumpingOptions;
  static const std::vector<Field<O>> fields = {
      field("hypre_lumping_threshold", &O::hypre_lumping_threshold,
            "An entry of a coarse matrix is strong, and may take what is dropped, when its size "
            "exceeds this fraction of the row's largest; hypre takes 0.333 times its strength "
            "threshold",
            0.0, 1.0),
      field(
          "hypre_lumping_row_sum", &O::hypre_lumping_row_sum,
          "A row of a coarse matrix whose sum exceeds this fraction of its diagonal has no strong "
          "entries; hypre takes its maximal row sum; 1 switches that off",
          0.0, 1.0)};
  return fields;
}

}  // namespace

const LumpingMethod& hypre_lumping() {
  static const LumpingMethod method = {
      {"hypre",
       "as hypre does it, to compare with: half added to strong neighbours, on both sides, and "
       "half "
       "to the diagonal, which nothing guards; depends on which rank has which rows",
       "hypre 2.26, par_nongalerkin.c", own_options(hypre_lumping_fields)},
      false,
      false,
      true,
      false,
      lump_as_hypre<double>,
      lump_as_hypre<float>};
  return method;
}

}  // namespace nodewise::amg::sparsify
