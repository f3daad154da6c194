#include "nodewise/matrix/value_exchange.hpp"

#include <algorithm>

#include "nodewise/comm/record_plan.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::matrix {

namespace {

/// Returns where a row has a column, as a position in its part; -1: nowhere.
template <class T>
Offset find_in_row(const Csr<T>& part, LocalIndex row, LocalIndex column) {
  const auto begin = part.cols.begin() + part.begin(row);
  const auto end = part.cols.begin() + part.end(row);
  const auto found = std::lower_bound(begin, end, column);
  return found != end && *found == column ? found - part.cols.begin() : -1;
}

/// The position of an entry in on().vals followed by off().vals; -1: it is not there.
template <class T>
Offset find_entry(const DistMatrix<T>& C, LocalIndex row, GlobalIndex column) {
  if (C.cols().owns(column)) return find_in_row(C.on(), row, C.cols().to_local(column));
  const auto ghost = std::lower_bound(C.ghosts().begin(), C.ghosts().end(), column);
  if (ghost == C.ghosts().end() || *ghost != column) return -1;
  const auto place = find_in_row(C.off(), row, static_cast<LocalIndex>(ghost - C.ghosts().begin()));
  return place < 0 ? -1 : C.on().nnz() + place;
}

/// Returns where the entries of each row begin when those of `rows`, ascending, are written one
/// after another, the owned columns of a row first; other rows count as empty. B.n_local() + 1
/// numbers.
template <class T>
std::vector<Offset> offsets_of_rows(const DistMatrix<T>& B, std::span<const LocalIndex> rows) {
  std::vector<Offset> offsets(static_cast<std::size_t>(B.n_local()) + 1, 0);
  for (const LocalIndex i : rows) offsets[static_cast<std::size_t>(i) + 1] = B.row_length(i);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  return offsets;
}

[[noreturn]] void throw_no_place() {
  throw Error(ErrorCode::unsuitable_matrix,
              "product on a known pattern: the matrix given is not the product, since it lacks "
              "some of its entries");
}

}  // namespace

template <class T>
RefetchedRows<T>::RefetchedRows(comm::Exchange& exchange, const DistMatrix<T>& B)
    : exported_(mpi::collectively(exchange.comm(),
                                  [&] {
                                    const auto exported = exchange.exported_entries();
                                    return std::vector<LocalIndex>(exported.begin(),
                                                                   exported.end());
                                  })),
      fetched_(fetch_rows(exchange, B)) {
  const auto offsets =
      mpi::collectively(exchange.comm(), [&] { return offsets_of_rows(B, exported_); });
  comm::Plan items = comm::plan_of_items(B.shared_comm(), exchange.plan(), offsets);
  mpi::collectively(exchange.comm(), [&] {
    outgoing_.resize(static_cast<std::size_t>(items.n_owned));
    values_ = std::make_unique<comm::Exchange>(B.shared_comm(), std::move(items));
  });
}

template <class T>
void RefetchedRows<T>::update(const DistMatrix<T>& B) {
  auto out = outgoing_.begin();
  const auto append = [&out](const Csr<T>& part, LocalIndex i) {
    out = std::copy(part.vals.begin() + part.begin(i), part.vals.begin() + part.end(i), out);
  };
  for (const LocalIndex i : exported_) {
    append(B.on(), i);
    append(B.off(), i);
  }
  values_->forward(std::span<const T>(outgoing_), std::span<T>(fetched_.rows.vals));
}

template <class T>
KnownResult<T>::KnownResult(const DistMatrix<T>& C, GhostNumbering& columns) : C_(C) {
  for (const GlobalIndex ghost : C.ghosts()) off_columns_.push_back(columns.number(ghost));
}

template <class T>
void KnownResult<T>::require(bool has_places) const {
  if (!has_places) throw_no_place();
}

template <class T>
DistMatrix<T> KnownResult<T>::with_values(Array<T> on, Array<T> off) {
  C_ = C_.with_values(std::move(on), std::move(off));
  return C_;
}

template <class T>
PartialSums<T>::PartialSums(const DistMatrix<T>& A, const DistMatrix<T>& C, GhostNumbering& columns,
                            const HasPlaces& has_places, const OffRows& off_rows)
    : C_(mpi::collectively(A.comm(), [&] { return KnownResult<T>(C, columns); })) {
  const auto outgoing = mpi::collectively(A.comm(), [&] {
    C_.require(has_places(C_.known()));
    outgoing_ = off_rows();
    comm::Records<GlobalIndex> keys;
    keys.offsets.assign(outgoing_.row_ptr.begin(), outgoing_.row_ptr.end());
    for (const LocalIndex col : outgoing_.cols) keys.data.push_back(columns.global(col));
    return keys;
  });
  comm::SumPlan sums = comm::plan_of_sums(A.shared_comm(), A.exchange().plan(), outgoing);
  mpi::collectively(A.comm(), [&] {
    find_places(sums.keys);
    values_ = std::make_unique<comm::Exchange>(A.shared_comm(), std::move(sums.plan));
  });
}

template <class T>
void PartialSums<T>::find_places(const comm::Records<GlobalIndex>& keys) {
  places_.reserve(keys.data.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (const GlobalIndex column : keys[i]) {
      places_.push_back(find_entry(C_.matrix(), static_cast<LocalIndex>(i), column));
      if (places_.back() < 0) throw_no_place();
    }
  }
}

template <class T>
DistMatrix<T> PartialSums<T>::recompute(const ValuesOf& values_of) {
  Array<T> on, off;
  std::vector<T> sums;
  mpi::collectively(C_.matrix().comm(), [&] {
    values_of(Part::off, {.on = &outgoing_}, outgoing_.vals.data(), nullptr);
    on.resize(C_.matrix().on().cols.size());
    off.resize(C_.matrix().off().cols.size());
    values_of(Part::on, C_.known(), on.data(), off.data());
    sums.reserve(places_.size());
    for (const Offset place : places_) sums.push_back(at(place, on, off));
  });
  values_->reverse_add(std::span<const T>(outgoing_.vals), std::span<T>(sums));
  for (std::size_t k = 0; k < sums.size(); ++k) at(places_[k], on, off) = sums[k];
  return C_.with_values(std::move(on), std::move(off));
}

#define NODEWISE_INSTANTIATE(T)    \
  template class RefetchedRows<T>; \
  template class KnownResult<T>;   \
  template class PartialSums<T>;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
