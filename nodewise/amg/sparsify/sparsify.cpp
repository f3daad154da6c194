#include "nodewise/amg/sparsify/sparsify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "nodewise/amg/sparsify/rest.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using matrix::SplitRows;

/// Collective. A vector on this rank's rows, then on the ghosts.
template <class T>
std::vector<T> with_ghosts(const DistMatrix<T>& A, std::span<const T> vector,
                           std::optional<Error>& failure) {
  std::vector<T> all;
  const auto n = static_cast<std::size_t>(A.n_local());
  const auto reserve = mpi::caught([&] {
    all.resize(n + static_cast<std::size_t>(A.n_ghosts()));
    std::copy(vector.begin(), vector.end(), all.begin());
  });
  if (!failure) failure = reserve;
  mpi::agree(A.comm(), failure);
  A.exchange().forward(std::span<const T>(all).first(n), std::span(all).subspan(n));
  return all;
}

/// What is worth less goes.
template <class T>
T least_kept(const DropRules<T>& rules) {
  const auto tolerance = static_cast<T>(rules.tolerance);
  return rules.lumping->drops_equal ? std::nextafter(tolerance, std::numeric_limits<T>::infinity())
                                    : tolerance;
}

template <class T>
SplitRows<T> split(const DistMatrix<T>& A, Csr<T> rows) {
  return matrix::split_rows<T>(
      A.cols(), {std::move(rows), A.n_local(), {A.ghosts().begin(), A.ghosts().end()}});
}

/// lost_rows() where a point has one row.
template <class T>
Csr<T> lost_entries_of_rows(const DistMatrix<T>& A, const EntryWorth<T>& worth, T tolerance,
                            std::vector<T>& of_entries) {
  const PointBlocks<T>& blocks = worth.blocks;
  Csr<T> rows(A.n_local(), A.n_local() + A.n_ghosts());
  Offset* const ends = rows.row_ptr.data() + 1;
  Offset total = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    Offset n_dropped = 0;
    for (Offset block = blocks.begin(i); block < blocks.end(i); ++block) {
      n_dropped += worth.keeps(i, block, tolerance) ? 0 : 1;
    }
    ends[i] = total += n_dropped > 0 ? n_dropped + 1 : 0;
  }
  rows.cols.resize(static_cast<std::size_t>(total));
  rows.vals.resize(static_cast<std::size_t>(total));
  of_entries.resize(static_cast<std::size_t>(total));
  LocalIndex* const cols = rows.cols.data();
  T* const vals = rows.vals.data();
  std::size_t next = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    if (rows.length(i) == 0) continue;
    Offset block = blocks.begin(i);
    for_each_entry(A, i, [&](LocalIndex column, T value) {
      const bool stays = worth.keeps(i, block, tolerance);
      const T is_worth = blocks.worth(block++);
      if (stays && column != i) return;
      cols[next] = column;
      vals[next] = value;
      of_entries[next++] = column == i ? always_kept<T> : is_worth;
    });
  }
  return rows;
}

/// The dropped entries of A, and the diagonal blocks in their rows.
template <class T>
Csr<T> lost_rows(const DistMatrix<T>& A, const EntryWorth<T>& worth, T tolerance,
                 std::vector<T>& of_entries) {
  const PointBlocks<T>& blocks = worth.blocks;
  if (blocks.are_entries()) return lost_entries_of_rows(A, worth, tolerance, of_entries);
  std::vector<LocalIndex> dropped(static_cast<std::size_t>(blocks.n_all()), -1);
  Csr<T> rows(A.n_local(), A.n_local() + A.n_ghosts());
  for (LocalIndex point = 0; point < blocks.n_points(); ++point) {
    bool drops = false;
    for (Offset block = blocks.begin(point); block < blocks.end(point); ++block) {
      if (worth.keeps(point, block, tolerance)) continue;
      dropped[static_cast<std::size_t>(blocks.column(block))] = point;
      drops = true;
    }
    if (drops) dropped[static_cast<std::size_t>(point)] = point;
    for (LocalIndex i = point * blocks.unknowns(); i < (point + 1) * blocks.unknowns(); ++i) {
      if (drops) {
        for_each_entry(A, i, [&](LocalIndex column, T value) {
          if (dropped[static_cast<std::size_t>(blocks.point_of(column))] != point) return;
          rows.cols.push_back(column);
          rows.vals.push_back(value);
          const LocalIndex to = blocks.point_of(column);
          of_entries.push_back(to == point ? always_kept<T> : blocks.worth(blocks.find(point, to)));
        });
      }
      rows.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(rows.cols.size());
    }
  }
  return rows;
}

template <class T>
LostEntries<T> lost_entries(const MatrixPointer<T>& A, const EntryWorth<T>& worth,
                            const DropRules<T>& rules, T tolerance) {
  LostEntries<T> lost;
  if (rules.lumping->changes_diagonal_only) {
    lost.rows = lost_rows(*A, worth, tolerance, lost.worth);
    lost.of_sent = worth.of_sent;
  } else {
    lost.whole = A;
  }
  lost.unknowns = rules.unknowns;
  lost.tolerance = rules.tolerance;
  lost.ghosts.assign(A->ghosts().begin(), A->ghosts().end());
  lost.pattern = comm::route::pattern_of(A->exchange().plan());
  lost.nonzeros = A->nnz_global();
  return lost;
}

/// The direct pattern of what is left of A. Both sides of a message know what it is worth.
template <class T>
comm::Pattern pattern_of(const DistMatrix<T>& A, const SplitRows<T>& rest,
                         const EntryWorth<T>& worth, T tolerance) {
  std::vector<char> is_wanted;
  for (const GlobalIndex ghost : A.ghosts()) {
    is_wanted.push_back(std::binary_search(rest.ghosts.begin(), rest.ghosts.end(), ghost) ? 1 : 0);
  }
  return pattern_of_rest(comm::route::pattern_of(A.exchange().plan()), is_wanted, worth.of_sent,
                         tolerance);
}

/// Gives the blocks of the matrix that `before` was made of the worth -1 where they were dropped.
template <class T>
EntryWorth<T> worth_as_before(const DistMatrix<T>& A, const DistMatrix<T>& left, int unknowns) {
  EntryWorth<T> worth{PointBlocks<T>(A, unknowns), {}};
  const PointBlocks<T> of_left(left, unknowns);
  for (LocalIndex point = 0; point < worth.blocks.n_points(); ++point) {
    for (Offset block = worth.blocks.begin(point); block < worth.blocks.end(point); ++block) {
      const LocalIndex other = of_left.local(worth.blocks.global(worth.blocks.column(block)));
      const bool is_left = other >= 0 && of_left.find(point, other) >= 0;
      worth.blocks.worth(block) = is_left ? always_kept<T> : T{-1};
    }
  }
  return worth;
}

/// Collective. The matrix of the rows that are left of A; nothing as sparsify() has it.
template <class T>
std::optional<Sparsified<T>> finish(const MatrixPointer<T>& A, LumpedRows<T> lumped,
                                    const EntryWorth<T>& worth, const DropRules<T>& rules,
                                    std::optional<Error> failure) {
  const T tolerance = least_kept(rules);
  Sparsified<T> result;
  if (rules.unknowns > 1) {
    DistMatrix<T> left(A->rows(), A->cols(), [&] {
      if (failure) throw Error(*failure);
      result.lost = lost_entries(A, worth, rules, tolerance);
      return split(*A, std::move(lumped.rows));
    });
    if (left.nnz_global() == A->nnz_global()) return std::nullopt;
    result.A = std::make_shared<const DistMatrix<T>>(std::move(left));
    return result;
  }
  std::optional<DistMatrix<T>> left;
  if (!failure) {
    failure = mpi::caught([&] {
      SplitRows<T> rest = split(*A, std::move(lumped.rows));
      const comm::Pattern pattern = pattern_of(*A, rest, worth, tolerance);
      left = DistMatrix<T>::with_pattern(A->rows(), A->cols(), std::move(rest), pattern);
      result.lost = lost_entries(A, worth, rules, tolerance);
      result.lost.set_aside = std::move(lumped.set_aside);
    });
  }
  std::array<std::int64_t, 2> sums = {left ? left->nnz_local() : 0, lumped.loses_diagonal ? 1 : 0};
  mpi::agree_on_sums(A->comm(), failure, sums);
  if (sums[1] > 0 || sums[0] == A->nnz_global()) return std::nullopt;
  result.A = std::make_shared<const DistMatrix<T>>(left->counted(sums[0]));
  return result;
}

/// The worth of the blocks of the whole matrix A, of which some are lost.
template <class T>
EntryWorth<T> worth_of_lost(const DistMatrix<T>& A, const LostEntries<T>& lost) {
  EntryWorth<T> worth{PointBlocks<T>(A, lost.unknowns), lost.of_sent};
  PointBlocks<T>& blocks = worth.blocks;
  for (LocalIndex point = 0; point < blocks.n_points(); ++point) {
    for (Offset block = blocks.begin(point); block < blocks.end(point); ++block) {
      blocks.worth(block) = always_kept<T>;
    }
    for (LocalIndex i = point * lost.unknowns; i < (point + 1) * lost.unknowns; ++i) {
      for (auto k = static_cast<std::size_t>(lost.rows.begin(i));
           k < static_cast<std::size_t>(lost.rows.end(i)); ++k) {
        blocks.worth(blocks.find(point, blocks.point_of(lost.rows.cols[k]))) = lost.worth[k];
      }
    }
  }
  return worth;
}

template <class T>
void require_lumping_of(const DropRules<T>& rules) {
  if (rules.unknowns == 1 || rules.lumping->takes_points) return;
  throw Error(ErrorCode::unsupported, "multigrid setup: lumping " + rules.lumping.name() +
                                          " is for one row a point, and these coarse points have " +
                                          std::to_string(rules.unknowns) +
                                          "; take lumping diagonal");
}

}  // namespace

template <class T>
std::size_t LostEntries<T>::memory_bytes() const {
  return rows.cols.size() * (sizeof(T) + sizeof(LocalIndex)) +
         rows.row_ptr.size() * sizeof(Offset) + (whole ? whole->memory_bytes() : 0) +
         (worth.size() + of_sent.size()) * sizeof(T) + set_aside.size() * sizeof(Offset) +
         ghosts.size() * sizeof(GlobalIndex) + pattern.send_entries.size() * sizeof(LocalIndex);
}

template <class T>
RowPlaces places_for(const DistMatrix<T>& A, const DropRules<T>& rules) {
  RowPlaces places = rules.places;
  if (places.topology == nullptr) {
    places.starts = A.rows().starts();
    places.topology = &A.comm().topology();
  }
  return places;
}

template <class T>
std::vector<WeighedEntries<T>> weighed(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                       std::span<const DropRules<T>> rules,
                                       std::optional<Error>& failure) {
  const DropRules<T>& first = rules.front();
  MinimalPattern<T> minimal;
  if (std::any_of(rules.begin(), rules.end(),
                  [](const DropRules<T>& by) { return by.drop->keeps_minimal_pattern; })) {
    minimal = MinimalPattern<T>(coarsening, failure);
  }
  std::shared_ptr<const std::vector<T>> kept;
  if (first.has_kept_vector) {
    kept = std::make_shared<const std::vector<T>>(with_ghosts(*A, first.kept_vector, failure));
  }
  std::vector<RowPlaces> places;
  for (const DropRules<T>& by : rules) places.push_back(places_for(*A, by));
  std::vector<WorthRules<T>> all;
  for (std::size_t k = 0; k < rules.size(); ++k) {
    all.push_back({rules[k].drop, minimal, least_kept(rules[k]),
                   rules[k].lumping->changes_diagonal_only,
                   kept ? KeptVector<T>(*kept) : KeptVector<T>(), places[k]});
  }
  std::vector<WeighedEntries<T>> entries;
  for (EntryWorth<T>& worth :
       entry_worths(*A, first.unknowns, std::span<const WorthRules<T>>(all), failure)) {
    entries.push_back({std::move(worth), kept});
  }
  return entries;
}

template <class T>
std::optional<Sparsified<T>> without_light(const MatrixPointer<T>& A, WeighedEntries<T> weighed,
                                           const DropRules<T>& rules,
                                           std::optional<Error> failure) {
  const T tolerance = least_kept(rules);
  LumpedRows<T> lumped = rules.lumping->template function<T>()(
      {*A, weighed.worth, tolerance,
       weighed.kept_vector ? KeptVector<T>(*weighed.kept_vector) : KeptVector<T>(), rules.lumping,
       failure, places_for(*A, rules)});
  return finish(A, std::move(lumped), weighed.worth, rules, failure);
}

template <class T>
std::optional<Sparsified<T>> sparsify(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                      const DropRules<T>& rules, std::optional<Error> failure) {
  require_lumping_of(rules);
  const mpi::Scope scope(A->comm(), "sparsification");
  if (places_for(*A, rules).topology->n_nodes() <= 1 && !rules.drop->drops_on_one_node) {
    return std::nullopt;
  }
  auto entries = weighed(A, coarsening, std::span(&rules, 1), failure);
  return without_light(A, std::move(entries.front()), rules, std::move(failure));
}

template <class T>
Sparsified<T> sparsify_alike(const MatrixPointer<T>& A, const Sparsified<T>& before,
                             const DropRules<T>& rules) {
  const mpi::Scope scope(A->comm(), "sparsification");
  std::optional<Error> failure;
  std::vector<T> kept;
  if (rules.has_kept_vector) kept = with_ghosts(*A, rules.kept_vector, failure);
  EntryWorth<T> worth;
  failure = mpi::caught([&] { worth = worth_as_before(*A, *before.A, rules.unknowns); });
  LumpedRows<T> lumped =
      rules.lumping->template function<T>()({*A, worth, T{}, kept, rules.lumping, failure,
                                             places_for(*A, rules), &before.lost.set_aside});
  return mpi::collectively(A->comm(), [&] {
    if (failure) throw Error(*failure);
    SplitRows<T> rest = split(*A, std::move(lumped.rows));
    Sparsified<T> result{std::make_shared<const DistMatrix<T>>(before.A->with_local_values(
                             std::move(rest.on.vals), std::move(rest.off.vals))),
                         lost_entries(A, worth, rules, T{})};
    result.lost.tolerance = before.lost.tolerance;
    result.lost.pattern = before.lost.pattern;
    result.lost.worth = before.lost.worth;
    result.lost.set_aside = before.lost.set_aside;
    result.lost.of_sent = before.lost.of_sent;
    return result;
  });
}

template <class T>
Sparsified<T> with_entries_back(const DistMatrix<T>& left, const LostEntries<T>& lost,
                                const DropRules<T>& rules) {
  const mpi::Scope scope(left.comm(), "sparsification");
  const auto whole = mpi::collectively(left.comm(), [&] { return restored(left, lost); });
  if (rules.tolerance == 0) return {whole, {}};
  if (!rules.lumping->changes_diagonal_only) {
    throw Error(ErrorCode::unsupported,
                "multigrid: lumping " + rules.lumping.name() +
                    " cannot put some of the entries back without the level above");
  }
  std::optional<Error> failure;
  std::vector<T> kept;
  if (rules.has_kept_vector) kept = with_ghosts(*whole, rules.kept_vector, failure);
  EntryWorth<T> worth;
  failure = mpi::caught([&] { worth = worth_of_lost(*whole, lost); });
  LumpedRows<T> lumped =
      rules.lumping->template function<T>()({*whole, worth, static_cast<T>(rules.tolerance), kept,
                                             rules.lumping, failure, places_for(*whole, rules)});
  auto result = finish(whole, std::move(lumped), worth, rules, failure);
  return result ? std::move(*result) : Sparsified<T>{whole, {}};
}

template <class T>
MatrixPointer<T> restored(const DistMatrix<T>& left, const LostEntries<T>& lost) {
  if (lost.whole) return lost.whole;
  std::vector<LocalIndex> place;  // of the ghosts that are left
  auto at = lost.ghosts.begin();
  for (const GlobalIndex ghost : left.ghosts()) {
    at = std::lower_bound(at, lost.ghosts.end(), ghost);
    place.push_back(static_cast<LocalIndex>(at - lost.ghosts.begin()));
  }
  const LocalIndex n = left.n_local();
  Csr<T> rows(n, n + static_cast<LocalIndex>(lost.ghosts.size()));
  for (LocalIndex i = 0; i < n; ++i) {
    const LocalIndex first = i - i % lost.unknowns;
    const bool loses = lost.rows.length(i) > 0;
    for_each_entry(left, i, [&](LocalIndex column, T value) {
      if (loses && column >= first && column < first + lost.unknowns) return;
      rows.cols.push_back(column < n ? column : n + place[static_cast<std::size_t>(column - n)]);
      rows.vals.push_back(value);
    });
    for (auto k = static_cast<std::size_t>(lost.rows.begin(i));
         k < static_cast<std::size_t>(lost.rows.end(i)); ++k) {
      rows.cols.push_back(lost.rows.cols[k]);
      rows.vals.push_back(lost.rows.vals[k]);
    }
    rows.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(rows.cols.size());
  }
  SplitRows<T> split = matrix::split_rows<T>(left.cols(), {std::move(rows), n, lost.ghosts});
  return std::make_shared<const DistMatrix<T>>(
      DistMatrix<T>::with_pattern(left.rows(), left.cols(), std::move(split), lost.pattern)
          .counted(lost.nonzeros));
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template struct LostEntries<T>;                                                                 \
  template RowPlaces places_for(const DistMatrix<T>&, const DropRules<T>&);                       \
  template std::vector<WeighedEntries<T>> weighed(const MatrixPointer<T>&, const Coarsening<T>&,  \
                                                  std::span<const DropRules<T>>,                  \
                                                  std::optional<Error>&);                         \
  template std::optional<Sparsified<T>> without_light(const MatrixPointer<T>&, WeighedEntries<T>, \
                                                      const DropRules<T>&, std::optional<Error>); \
  template std::optional<Sparsified<T>> sparsify(const MatrixPointer<T>&, const Coarsening<T>&,   \
                                                 const DropRules<T>&, std::optional<Error>);      \
  template Sparsified<T> sparsify_alike(const MatrixPointer<T>&, const Sparsified<T>&,            \
                                        const DropRules<T>&);                                     \
  template Sparsified<T> with_entries_back(const DistMatrix<T>&, const LostEntries<T>&,           \
                                           const DropRules<T>&);                                  \
  template MatrixPointer<T> restored(const DistMatrix<T>&, const LostEntries<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::sparsify
