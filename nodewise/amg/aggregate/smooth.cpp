#include "nodewise/amg/aggregate/smooth.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/block_product.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/galerkin_rows.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// Calls visit(i, -damping / d) for one row after another, with 0 where the diagonal entry d is
/// zero. It is looked for in the row, which is read anyway.
template <class T, class Visit>
void for_each_factor(const Csr<T>& on, double damping, LocalIndex begin, LocalIndex end,
                     Visit&& visit) {
  const T minus = static_cast<T>(-damping);
  LocalIndex place = 0;
  kernels::RowBlocks<T>(on, begin, end).upwards(begin, end, [&](LocalIndex b, LocalIndex e) {
    for (LocalIndex i = b; i < e; ++i) {
      const T d = kernels::diagonal_entry(on, i, place);
      visit(i, d == T{} ? T{} : minus / d);
    }
  });
}

/// Rows begin .. end - 1 of P - D^-1 A P, made one after another (Gustavson 1978).
template <class T>
class SmoothedRows {
 public:
  SmoothedRows(const DistMatrix<T>& A, const kernels::ExtendedRows<T>& P, LocalIndex begin,
               LocalIndex end)
      : A_(A),
        P_(P),
        begin_(begin),
        place_(static_cast<std::size_t>(P.n_cols), -1),
        result_(end - begin, P.n_cols) {
    const auto entries = static_cast<std::size_t>(P.on->row_ptr[static_cast<std::size_t>(end)] -
                                                  P.on->row_ptr[static_cast<std::size_t>(begin)]);
    result_.cols.reserve(3 * entries);
    result_.vals.reserve(3 * entries);
  }

  Csr<T> run(double damping) {
    for_each_factor(A_.on(), damping, begin_, begin_ + result_.n_rows,
                    [&](LocalIndex i, T factor) { add_row(i, factor); });
    return std::move(result_);
  }

 private:
  void add_row(LocalIndex i, T factor) {
    first_ = static_cast<Offset>(result_.cols.size());
    add(T{1}, i);
    if (factor != T{}) {
      add_rows(A_.on(), i, 0, factor);
      add_rows(A_.off(), i, A_.n_local(), factor);
    }
    result_.row_ptr[static_cast<std::size_t>(i - begin_) + 1] =
        static_cast<Offset>(result_.cols.size());
  }

  void add_rows(const Csr<T>& part, LocalIndex i, LocalIndex shift, T factor) {
    for (auto p = static_cast<std::size_t>(part.begin(i));
         p < static_cast<std::size_t>(part.end(i)); ++p) {
      add(factor * part.vals[p], part.cols[p] + shift);
    }
  }

  /// Adds a multiple of row j of P to the current row.
  void add(T factor, LocalIndex j) {
    P_.for_each_piece(j, [&](const LocalIndex* cols, const T* vals, Offset n, LocalIndex shift) {
      for (Offset k = 0; k < n; ++k) {
        const LocalIndex column = cols[k] + shift;
        Offset& place = place_[static_cast<std::size_t>(column)];
        if (place < first_) {  // of an earlier row, or of none
          place = static_cast<Offset>(result_.cols.size());
          result_.cols.push_back(column);
          result_.vals.push_back(factor * vals[k]);
        } else {
          result_.vals[static_cast<std::size_t>(place)] += factor * vals[k];
        }
      }
    });
  }

  const DistMatrix<T>& A_;
  const kernels::ExtendedRows<T>& P_;
  LocalIndex begin_;
  std::vector<Offset> place_;  // of each column in the result
  Csr<T> result_;
  Offset first_ = 0;  // where the current row begins
};

/// A prolongator with one entry a row at most. Rows without one have 0 in a column behind all
/// others.
template <class T>
struct OnlyEntry {
  T value;
  LocalIndex column;
};

/// Local. The rows of P where no row has more than one entry; none otherwise.
template <class T>
std::vector<OnlyEntry<T>> only_entries(const kernels::ExtendedRows<T>& P) {
  const LocalIndex n_on = P.on->n_rows;
  const auto n = static_cast<std::size_t>(n_on) +
                 static_cast<std::size_t>(P.ghost != nullptr ? P.ghost->n_rows : 0);
  if (std::cmp_greater(P.on->nnz(), n_on)) return {};
  std::vector<OnlyEntry<T>> entries(n, {T{}, P.n_cols});
  const double most = parallel::max(n, [&](std::size_t begin, std::size_t end) {
    Offset longest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      Offset length = 0;
      P.for_each_piece(static_cast<LocalIndex>(i), [&](const LocalIndex* cols, const T* vals,
                                                       Offset n_entries, LocalIndex shift) {
        if (n_entries > 0) entries[i] = {vals[0], cols[0] + shift};
        length += n_entries;
      });
      longest = std::max(longest, length);
    }
    return static_cast<double>(longest);
  });
  if (most > 1) entries.clear();
  return entries;
}

/// The same rows where P has one entry a row at most. Neighbours in a row of A are mostly of one
/// aggregate, and their terms are added up before their sum goes to memory.
template <class T>
class SmoothedOnlyEntries {
 public:
  SmoothedOnlyEntries(const DistMatrix<T>& A, std::span<const OnlyEntry<T>> P, LocalIndex n_cols,
                      LocalIndex begin, LocalIndex end)
      : A_(A),
        P_(P),
        begin_(begin),
        last_row_(static_cast<std::size_t>(n_cols) + 1, -1),
        sums_(last_row_.size(), T{}),
        result_(end - begin, n_cols),
        row_ptr_(result_.row_ptr.data()) {
    constexpr std::size_t aggregates_of_a_row = 5;
    reserve_workspace(aggregates_of_a_row * static_cast<std::size_t>(end - begin));
  }

  Csr<T> run(double damping) {
    for_each_factor(A_.on(), damping, begin_, begin_ + result_.n_rows,
                    [&](LocalIndex i, T factor) { add_row(i, factor); });
    result_.cols.resize(out_);
    result_.vals.resize(out_);
    return std::move(result_);
  }

 private:
  void reserve_workspace(std::size_t n) {
    if (n <= result_.vals.size()) return;
    const std::size_t room = n + n / 4;
    result_.cols.resize(room);
    result_.vals.resize(room);
    cols_ = result_.cols.data();
  }

  void add_row(LocalIndex i, T factor) {
    const Csr<T>& on = A_.on();
    const Csr<T>& off = A_.off();
    reserve_workspace(out_ + static_cast<std::size_t>(A_.row_length(i)) + 1);
    LocalIndex* const cols = cols_ + out_;
    T* const vals = result_.vals.data() + out_;
    Offset length = 0;
    last_row_.back() = i;  // never a new column
    if (factor != T{}) {
      length = add_part(on, i, P_.data(), factor, cols, length);
      length = add_part(off, i, P_.data() + A_.n_local(), factor, cols, length);
    }
    // Last, since the others mostly come in ascending order.
    const OnlyEntry<T> own = P_[static_cast<std::size_t>(i)];
    length = add(own.column, own.value, i, cols, length);
    for (Offset k = 0; k < length; ++k) {
      vals[k] = std::exchange(sums_[static_cast<std::size_t>(cols[k])], T{});
    }
    out_ += static_cast<std::size_t>(length);
    row_ptr_[i - begin_ + 1] = static_cast<Offset>(out_);
  }

  /// Adds a multiple of the product of row i of a part of A; returns the new length of the row.
  Offset add_part(const Csr<T>& part, LocalIndex i, const OnlyEntry<T>* P, T factor,
                  LocalIndex* cols, Offset length) {
    const Offset end = part.end(i);
    Offset k = part.begin(i);
    while (k < end) {
      const LocalIndex column = P[part.cols[static_cast<std::size_t>(k)]].column;
      T sum{};
      do {
        const OnlyEntry<T>& entry = P[part.cols[static_cast<std::size_t>(k)]];
        if (entry.column != column) break;
        sum += part.vals[static_cast<std::size_t>(k)] * entry.value;
      } while (++k < end);
      length = add(column, factor * sum, i, cols, length);
    }
    return length;
  }

  /// Without a jump on whether the column is new, which nobody can guess.
  Offset add(LocalIndex column, T value, LocalIndex i, LocalIndex* cols, Offset length) {
    const auto c = static_cast<std::size_t>(column);
    sums_[c] += value;
    cols[length] = column;
    length += last_row_[c] != i ? 1 : 0;
    last_row_[c] = i;
    return length;
  }

  const DistMatrix<T>& A_;
  std::span<const OnlyEntry<T>> P_;
  LocalIndex begin_;
  std::vector<LocalIndex> last_row_;  // that has an entry in the column
  std::vector<T> sums_;               // of the current row
  Csr<T> result_;
  LocalIndex* cols_ = nullptr;  // its arrays
  Offset* row_ptr_;
  std::size_t out_ = 0;
};

/// The same rows, point by point, where A has blocks and P comes in such.
template <class T>
Csr<T> smoothed_in_blocks(const DistMatrix<T>& A, const kernels::BlockRows<T>& blocks, int unknowns,
                          const kernels::ExtendedRows<T>& P, double damping) {
  std::vector<T> factors(static_cast<std::size_t>(A.n_local()));
  for_each_factor(A.on(), damping, 0, A.n_local(),
                  [&](LocalIndex i, T factor) { factors[static_cast<std::size_t>(i)] = factor; });
  return kernels::block_smoothed_rows(unknowns, blocks, std::span<const T>(factors), P);
}

/// This rank's rows of P - D^-1 A P, in the form that suits the matrices.
template <class T>
Csr<T> smoothed_rows(const DistMatrix<T>& A, const kernels::ExtendedRows<T>& P, double damping,
                     int unknowns) {
  const auto blocks = matrix::block_rows(A);
  if (blocks && kernels::comes_in_blocks(unknowns, *blocks, P)) {
    return smoothed_in_blocks(A, *blocks, unknowns, P, damping);
  }
  const std::vector<OnlyEntry<T>> only = only_entries(P);
  return kernels::rows_in_parts<T>(A.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
    if (only.empty()) return SmoothedRows<T>(A, P, begin, end).run(damping);
    return SmoothedOnlyEntries<T>(A, only, P.n_cols, begin, end).run(damping);
  });
}

template <class T>
DistMatrix<T> smooth_once(const DistMatrix<T>& A, const DistMatrix<T>& P, double damping,
                          int unknowns) {
  matrix::require_fit(A, P, A.cols() == P.rows() && A.rows() == P.rows(),
                      "smoothing of a prolongator");
  std::optional<Error> failure;
  auto records = matrix::fetch_records(A.exchange(), P, failure);
  return {P.rows(), P.cols(), [&] {
            if (failure) throw Error(*failure);
            const matrix::FetchedRows<T> fetched = matrix::to_rows(P, records);
            const kernels::ExtendedRows<T> extended = matrix::extended_rows(P, &fetched);
            return matrix::split_rows(
                P.cols(), matrix::RowBlock<T>{smoothed_rows(A, extended, damping, unknowns),
                                              P.cols().n_local(), fetched.columns.ghosts()});
          }};
}

}  // namespace

template <class T>
DistMatrix<T> smooth_prolongator(const DistMatrix<T>& A, const DistMatrix<T>& P, double damping,
                                 int sweeps, int unknowns) {
  DistMatrix<T> smoothed = P;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    smoothed = smooth_once(A, smoothed, damping, unknowns);
  }
  return smoothed;
}

template DistMatrix<float> smooth_prolongator(const DistMatrix<float>&, const DistMatrix<float>&,
                                              double, int, int);
template DistMatrix<double> smooth_prolongator(const DistMatrix<double>&, const DistMatrix<double>&,
                                               double, int, int);

}  // namespace nodewise::amg::aggregate
