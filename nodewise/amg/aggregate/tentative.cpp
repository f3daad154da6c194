#include "nodewise/amg/aggregate/tentative.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nodewise/amg/aggregate/orthonormal.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

namespace {

using comm::Layout;
using comm::Records;
using matrix::DistMatrix;
using matrix::SplitRows;

template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;

Layout layout_of_unknowns(const Layout& points, int unknowns) {
  std::vector<GlobalIndex> starts(points.starts().begin(), points.starts().end());
  for (GlobalIndex& start : starts) start *= unknowns;
  return {points.shared_comm(), std::move(starts)};
}

/// The steps of tentative_prolongator(). Aggregates are numbered locally: owned ones first, then
/// those of other ranks that have members here.
template <class T>
class TentativeBuilder {
 public:
  TentativeBuilder(const Aggregates& aggregates, int unknowns, const NearNullSpace<T>& B)
      : aggregates_(aggregates),
        unknowns_(static_cast<std::size_t>(unknowns)),
        B_(B),
        k_(static_cast<std::size_t>(B.n_vectors)) {}

  Tentative<T> run(const Layout& rows) {
    const DistMatrix<T> pattern(rows, layout_of_unknowns(aggregates_.layout, B_.n_vectors),
                                [&] { return places(rows); });
    std::optional<Error> failure;
    const Records<double> arrived = pattern.exchange().reverse_records(
        [&] { return rows_of_others(); }, [](std::span<double> record) { return record.size(); },
        failure);
    if (!failure) failure = mpi::caught([&] { factorise_owned(arrived); });
    pattern.exchange().forward(std::span<const T>(factors_.values),
                               std::span<T>(ghost_factors_.values), B_.n_vectors);
    const auto filled = [&] {
      if (failure) throw Error(*failure);
      Array<T> on, off;
      fill(pattern, on, off);
      return pattern.with_local_values(std::move(on), std::move(off));
    };
    return {mpi::collectively(rows.comm(), filled), std::move(factors_)};
  }

 private:
  std::size_t n_owned() const { return static_cast<std::size_t>(aggregates_.layout.n_local()); }

  /// The places of the prolongator's entries; makes room for all that later steps need.
  SplitRows<T> places(const Layout& rows) {
    check(rows);
    find_ghost_aggregates();
    SplitRows<T> split;
    split.on = kernels::Csr<T>(rows.n_local(), narrow<LocalIndex>(n_owned() * k_, "columns:"));
    split.off = kernels::Csr<T>(rows.n_local(), narrow<LocalIndex>(ghosts_.size() * k_, "ghosts:"));
    for (const GlobalIndex a : ghosts_) {
      for (std::size_t c = 0; c < k_; ++c) split.ghosts.push_back(column(a, c));
    }
    Offset* on_end = split.on.row_ptr.data();
    Offset* off_end = split.off.row_ptr.data();
    const auto k = static_cast<Offset>(k_);
    for (const std::size_t a : local_) {
      for (std::size_t u = 0; u < unknowns_; ++u, ++on_end, ++off_end) {
        on_end[1] = on_end[0] + (a < n_owned() ? k : 0);
        off_end[1] = off_end[0] + (a >= n_owned() && a != none ? k : 0);
      }
    }
    for (kernels::Csr<T>* part : {&split.on, &split.off}) {
      part->cols.resize(static_cast<std::size_t>(part->row_ptr.back()));
      part->vals.resize(part->cols.size());
    }
    LocalIndex* const on_cols = split.on.cols.data();
    LocalIndex* const off_cols = split.off.cols.data();
    const auto rows_of_point = static_cast<LocalIndex>(unknowns_);
    for_ranges(local_.size(), k_ * unknowns_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        const std::size_t a = local_[p];
        if (a == none) continue;
        const bool owned = a < n_owned();
        const kernels::Csr<T>& part = owned ? split.on : split.off;
        const auto column = static_cast<LocalIndex>((owned ? a : a - n_owned()) * k_);
        const auto i = static_cast<LocalIndex>(p) * rows_of_point;
        for (LocalIndex row = i; row < i + rows_of_point; ++row) {
          LocalIndex* const cols = (owned ? on_cols : off_cols) + part.begin(row);
          std::iota(cols, cols + k, column);
        }
      }
    });
    factors_ = {B_.n_vectors, std::vector<T>(n_owned() * k_ * k_)};
    ghost_factors_ = {B_.n_vectors, std::vector<T>(ghosts_.size() * k_ * k_)};
    return split;
  }

  void check(const Layout& rows) const {
    const auto n = static_cast<std::size_t>(rows.n_local());
    if (aggregates_.of_point.size() * unknowns_ != n || B_.values.size() != n * k_ || k_ == 0) {
      throw Error(ErrorCode::dimension_mismatch,
                  "tentative prolongator: the aggregates or the near null space (" +
                      std::to_string(k_) + " vectors) do not fit the rows");
    }
  }

  void find_ghost_aggregates() {
    for (const GlobalIndex a : aggregates_.of_point) {
      if (a != no_aggregate && !aggregates_.layout.owns(a)) ghosts_.push_back(a);
    }
    std::sort(ghosts_.begin(), ghosts_.end());
    ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
    local_.assign(aggregates_.of_point.size(), none);
    first_member_.assign(n_owned() + ghosts_.size() + 1, 0);
    for (std::size_t p = 0; p < local_.size(); ++p) {
      const GlobalIndex a = aggregates_.of_point[p];
      if (a == no_aggregate) continue;
      local_[p] = aggregates_.layout.owns(a)
                      ? static_cast<std::size_t>(aggregates_.layout.to_local(a))
                      : n_owned() + static_cast<std::size_t>(
                                        std::lower_bound(ghosts_.begin(), ghosts_.end(), a) -
                                        ghosts_.begin());
      ++first_member_[local_[p] + 1];
    }
    std::partial_sum(first_member_.begin(), first_member_.end(), first_member_.begin());
    members_.resize(first_member_.back());
    std::vector<std::size_t> next(first_member_.begin(), first_member_.end() - 1);
    for (std::size_t p = 0; p < local_.size(); ++p) {
      if (local_[p] != none) members_[next[local_[p]]++] = p;
    }
  }

  /// Calls f(begin, end) for ranges of n things of so much work each.
  template <class F>
  static void for_ranges(std::size_t n, std::size_t work, const F& f) {
    const int parts = parallel::parts_of(n * work);
    parallel::run(parts, [&](int part) {
      f(parallel::equal_part(n, parts, part), parallel::equal_part(n, parts, part + 1));
    });
  }
  std::size_t n_rows() const { return local_.size() * unknowns_; }

  GlobalIndex column(GlobalIndex aggregate, std::size_t c) const {
    return aggregate * static_cast<GlobalIndex>(k_) + static_cast<GlobalIndex>(c);
  }

  /// The rows of B in an aggregate, of this rank's points, appended.
  void append_rows(std::size_t aggregate, std::vector<double>& rows) const {
    for (std::size_t m = first_member_[aggregate]; m < first_member_[aggregate + 1]; ++m) {
      const std::size_t p = members_[m];
      const auto begin = B_.values.begin() + static_cast<std::ptrdiff_t>(p * unknowns_ * k_);
      rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(unknowns_ * k_));
    }
  }

  /// One record for each ghost column; the first of an aggregate has all of its rows.
  Records<double> rows_of_others() const {
    Records<double> records;
    for (std::size_t g = 0; g < ghosts_.size(); ++g) {
      append_rows(n_owned() + g, records.data);
      records.offsets.insert(records.offsets.end(), k_, static_cast<Offset>(records.data.size()));
    }
    return records;
  }

  void factorise_owned(const Records<double>& arrived) {
    const std::size_t work =
        members_.size() * unknowns_ * k_ * k_ / std::max<std::size_t>(1, n_owned());
    for_ranges(n_owned(), work, [&](std::size_t begin, std::size_t end) {
      std::vector<double> rows;
      std::vector<double> R(k_ * k_);
      for (std::size_t a = begin; a < end; ++a) {
        rows.clear();
        append_rows(a, rows);
        const auto others = arrived[a * k_];
        rows.insert(rows.end(), others.begin(), others.end());
        factorise(rows, k_, tolerance<T>, R);
        std::copy(R.begin(), R.end(),
                  factors_.values.begin() + static_cast<std::ptrdiff_t>(a * k_ * k_));
      }
    });
  }

  void fill(const DistMatrix<T>& pattern, Array<T>& on, Array<T>& off) const {
    on.resize(pattern.on().cols.size());
    off.resize(pattern.off().cols.size());
    for_ranges(n_rows(), k_ * k_, [&](std::size_t begin, std::size_t end) {
      std::vector<double> row(k_), R(k_ * k_);
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t a = local_[i / unknowns_];
        if (a == none) continue;
        const bool owned = a < n_owned();
        const auto factor = (owned ? factors_ : ghost_factors_).values.begin() +
                            static_cast<std::ptrdiff_t>((owned ? a : a - n_owned()) * k_ * k_);
        std::copy_n(factor, k_ * k_, R.begin());
        const auto b = B_.row(i);
        std::copy(b.begin(), b.end(), row.begin());
        divide_by_factor(row, R);
        const Offset place =
            (owned ? pattern.on() : pattern.off()).begin(static_cast<LocalIndex>(i));
        std::transform(row.begin(), row.end(), (owned ? on : off).begin() + place,
                       [](double q) { return static_cast<T>(q); });
      }
    });
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const Aggregates& aggregates_;
  std::size_t unknowns_;
  const NearNullSpace<T>& B_;
  std::size_t k_;
  std::vector<GlobalIndex> ghosts_;        // aggregates, ascending
  std::vector<std::size_t> local_;         // of each point, or none
  std::vector<std::size_t> members_;       // points of this rank by aggregate
  std::vector<std::size_t> first_member_;  // of each aggregate in that list
  NearNullSpace<T> factors_, ghost_factors_;
};

}  // namespace

template <class T>
Tentative<T> tentative_prolongator(const Aggregates& aggregates, int unknowns, const Layout& rows,
                                   const NearNullSpace<T>& B) {
  return TentativeBuilder<T>(aggregates, unknowns, B).run(rows);
}

namespace {

template <class T>
bool is_zero_row(const kernels::Csr<T>& part, LocalIndex i) {
  return std::all_of(part.vals.begin() + part.begin(i), part.vals.begin() + part.end(i),
                     [](T value) { return value == T{}; });
}

/// The places in A.on() of the diagonal entries of zero rows and columns, and their new values.
template <class T>
std::vector<std::pair<std::size_t, T>> unit_entries(const DistMatrix<T>& A, LocalIndex unknowns,
                                                    std::span<const LocalIndex> empty_columns) {
  const auto is_empty = [&](LocalIndex i) {
    return std::binary_search(empty_columns.begin(), empty_columns.end(), i) ||
           (is_zero_row(A.on(), i) && is_zero_row(A.off(), i));
  };
  std::vector<std::pair<std::size_t, T>> entries;
  LocalIndex guess = 0;
  for (LocalIndex point = 0; point < A.n_local() / unknowns; ++point) {
    const std::size_t first = entries.size();
    T largest{};
    for (LocalIndex i = point * unknowns; i < (point + 1) * unknowns; ++i) {
      guess = kernels::diagonal_place(A.on(), i, guess);
      const auto p = static_cast<std::size_t>(A.on().begin(i) + guess);
      if (std::cmp_equal(p, A.on().end(i)) || A.on().cols[p] != i) continue;
      const T d = A.on().vals[p];
      if (std::abs(d) > std::abs(largest)) largest = d;
      if (d == T{} && is_empty(i)) entries.emplace_back(p, T{});
    }
    for (std::size_t e = first; e < entries.size(); ++e) {
      entries[e].second = largest == T{} ? T{1} : largest;
    }
  }
  return entries;
}

}  // namespace

template <class T>
DistMatrix<T> with_unit_rows(const DistMatrix<T>& A, int unknowns,
                             std::span<const LocalIndex> empty_columns) {
  std::vector<std::pair<std::size_t, T>> entries;
  const auto failure = mpi::caught([&] { entries = unit_entries(A, unknowns, empty_columns); });
  std::int64_t count[] = {static_cast<std::int64_t>(entries.size())};
  mpi::agree_on_sums(A.comm(), failure, count);
  if (count[0] == 0) return A;
  Array<T> on, off;
  mpi::collectively(A.comm(), [&] {
    on = A.on().vals;
    off = A.off().vals;
  });
  for (const auto& [place, value] : entries) on[place] = value;
  return A.with_values(std::move(on), std::move(off));
}

#define NODEWISE_INSTANTIATE(T)                                                      \
  template Tentative<T> tentative_prolongator(const Aggregates&, int, const Layout&, \
                                              const NearNullSpace<T>&);              \
  template DistMatrix<T> with_unit_rows(const DistMatrix<T>&, int, std::span<const LocalIndex>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::aggregate
