// Lumping to strong neighbours: Falgout, Schroder 2014; Bienz 2018, algorithm 4.1.
#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/sparsify/diagonal_change.hpp"
#include "nodewise/amg/sparsify/lumping_method.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using matrix::RowEntry;

/// The strong entries of rows, this rank's and then those of the ghosts, their columns numbered as
/// in the matrix; others' columns are left out.
template <class T>
struct StrongRows {
  std::vector<Offset> begins = {0};
  std::vector<LocalIndex> cols;
  std::vector<T> sizes;
};

template <class T, class F>
void for_each_strong(const DistMatrix<T>& A, const Strength& strength, LocalIndex i, F&& f) {
  const auto visit = [&](const Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex shift) {
    for (auto k = static_cast<std::size_t>(part.begin(i));
         k < static_cast<std::size_t>(part.end(i)); ++k) {
      if (marks[k] != 0) f(part.cols[k] + shift, std::abs(part.vals[k]));
    }
  };
  visit(A.on(), strength.on, 0);
  visit(A.off(), strength.off, A.n_local());
}

/// The classical strength of a coarse matrix itself, whatever that of the level above was.
template <class T>
Strength strength_of(const LumpingCall<T>& call) {
  constexpr double any_row_sum = 1;
  const auto& options = call.method.template options<StrongLumpingOptions>();
  return strength_of_connection(call.A, options.lumping_threshold, any_row_sum);
}

/// Collective. One row exchange of A, for strong entries only.
template <class T>
StrongRows<T> strong_rows(const LumpingCall<T>& call) {
  const DistMatrix<T>& A = call.A;
  Strength strength;
  const auto make = [&] {
    strength = strength_of(call);
    comm::Records<RowEntry<T>> rows;
    for (const LocalIndex i : A.exchange().exported_entries()) {
      for_each_strong(A, strength, i, [&](LocalIndex column, T size) {
        rows.data.push_back({call.worth.blocks.global(column), size});
      });
      rows.end_record();
    }
    return rows;
  };
  const auto fetched = A.exchange().forward_records(make, call.failure);
  StrongRows<T> strong;
  if (call.failure) return strong;
  call.failure = mpi::caught([&] {
    const auto append = [&](LocalIndex column, T size) {
      strong.cols.push_back(column);
      strong.sizes.push_back(size);
    };
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for_each_strong(A, strength, i, append);
      strong.begins.push_back(static_cast<Offset>(strong.cols.size()));
    }
    for (std::size_t g = 0; g < fetched.size(); ++g) {
      for (const RowEntry<T>& entry : fetched[g]) {
        const LocalIndex column = call.worth.blocks.local(entry.col);
        if (column >= 0) append(column, entry.value);
      }
      strong.begins.push_back(static_cast<Offset>(strong.cols.size()));
    }
  });
  return strong;
}

/// What is added to the entries of one row.
template <class T>
using Changes = std::vector<RowEntry<T>>;  // by columns as numbered here

/// The rows of a rank with what is lumped to them.
template <class T>
class StrongLumping {
 public:
  StrongLumping(const LumpingCall<T>& call, const StrongRows<T>& strong)
      : call_(call),
        blocks_(call.worth.blocks),
        strong_(strong),
        kept_(static_cast<std::size_t>(blocks_.n_all()), -1) {}

  /// The dropped entries that have no strong neighbour among the kept ones of their row.
  std::vector<Offset> find_alone() {
    std::vector<Offset> alone;
    for_each_dropped([&](LocalIndex, LocalIndex column, Offset block, T) {
      if (!(sum_of_kept(column) > T{})) alone.push_back(block);
    });
    return alone;
  }

  /// Makes the changes of this rank's rows, and those of others' as records for the ghosts.
  comm::Records<RowEntry<T>> lump() {
    changes_.resize(static_cast<std::size_t>(blocks_.n_points()));
    const auto n_own = static_cast<std::size_t>(blocks_.n_points());
    std::vector<Changes<T>> of_ghosts(static_cast<std::size_t>(blocks_.n_all()) - n_own);
    for_each_dropped([&](LocalIndex i, LocalIndex column, Offset, T value) {
      const T sum = sum_of_kept(column);
      if (!(sum > T{})) {  // with other values than those that were weighed
        changes_[static_cast<std::size_t>(i)].push_back({i, value});
        return;
      }
      for_each_kept(column, [&](LocalIndex k, T size) {
        const T part = size / sum * value;
        changes_[static_cast<std::size_t>(i)].push_back({k, part});
        const auto at = static_cast<std::size_t>(k);
        if (at >= n_own) {
          of_ghosts[at - n_own].push_back({blocks_.global(i), part});
        } else {
          take(k, i, part);
        }
      });
    });
    comm::Records<RowEntry<T>> records;
    for (const Changes<T>& changes : of_ghosts) {
      records.data.insert(records.data.end(), changes.begin(), changes.end());
      records.end_record();
    }
    return records;
  }

  /// Takes what other ranks lump to rows of this one.
  void take_all(const comm::Records<RowEntry<T>>& arrived) {
    for (std::size_t k = 0; k < arrived.size(); ++k) {
      for (const RowEntry<T>& entry : arrived[k]) {
        take(static_cast<LocalIndex>(k), blocks_.local(entry.col), entry.value);
      }
    }
  }

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
        const T after = value + sum_of_changes(i, column);
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
    for (auto p = static_cast<std::size_t>(strong_.begins[static_cast<std::size_t>(j)]);
         p < static_cast<std::size_t>(strong_.begins[static_cast<std::size_t>(j) + 1]); ++p) {
      const LocalIndex k = strong_.cols[p];
      if (kept_[static_cast<std::size_t>(k)] == row_) f(k, strong_.sizes[p]);
    }
  }
  T sum_of_kept(LocalIndex j) const {
    T sum{};
    for_each_kept(j, [&](LocalIndex, T size) { sum += size; });
    return sum;
  }

  /// The symmetric part of a change of entry (i, k), on the side of row k, which has no such entry
  /// where the pattern is not symmetric.
  void take(LocalIndex k, LocalIndex i, T part) {
    if (i < 0 || blocks_.find(k, i) < 0) return;
    Changes<T>& changes = changes_[static_cast<std::size_t>(k)];
    changes.push_back({i, part});
    changes.push_back({k, -part});
  }

  /// In an order that both sides of an entry have, so that the result is symmetric to the bit. The
  /// row's changes are sorted when the first is asked for.
  T sum_of_changes(LocalIndex i, LocalIndex column) {
    Changes<T>& changes = changes_[static_cast<std::size_t>(i)];
    if (sorted_ != i) {
      std::sort(changes.begin(), changes.end(), [](const RowEntry<T>& a, const RowEntry<T>& b) {
        return a.col != b.col ? a.col < b.col : a.value < b.value;
      });
      sorted_ = i;
    }
    auto at = std::lower_bound(
        changes.begin(), changes.end(), static_cast<GlobalIndex>(column),
        [](const RowEntry<T>& change, GlobalIndex wanted) { return change.col < wanted; });
    T sum{};
    for (; at != changes.end() && at->col == column; ++at) sum += at->value;
    return sum;
  }

  const LumpingCall<T>& call_;
  const PointBlocks<T>& blocks_;
  const StrongRows<T>& strong_;
  std::vector<LocalIndex> kept_;  // the row that was last found to keep a column
  LocalIndex row_ = -1, sorted_ = -1;
  std::vector<Changes<T>> changes_;
};

/// Three exchanges of records: strong rows to the ghosts, entries that have to stay, changes of
/// others' rows.
template <class T>
LumpedRows<T> lump_to_strong(const LumpingCall<T>& call) {
  std::optional<Error>& failure = call.failure;
  const StrongRows<T> strong = strong_rows(call);
  std::vector<Offset> alone;
  std::optional<StrongLumping<T>> lumping;
  if (!failure) {
    failure = mpi::caught([&] {
      lumping.emplace(call, strong);
      alone = lumping->find_alone();
    });
  }
  keep_both<T>(call.A, alone, call.worth, failure);
  const auto arrived = call.A.exchange().reverse_records(
      [&] { return lumping->lump(); }, [](auto record) { return record.size(); }, failure);
  LumpedRows<T> lumped;
  if (failure) return lumped;
  failure = mpi::caught([&] {
    lumping->take_all(arrived);
    lumped = lumping->rows();
  });
  return lumped;
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
      lump_to_strong<double>,
      lump_to_strong<float>};
  return method;
}

}  // namespace nodewise::amg::sparsify
