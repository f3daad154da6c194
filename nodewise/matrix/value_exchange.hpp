// Values on their way between ranks where all know which: the parts of a product that is computed
// again and again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/kernels/known_product.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::matrix {

/// Rows that were fetched and whose values can be fetched again.
template <class T>
class RefetchedRows {
 public:
  /// Collective on the exchange. One row exchange and one of lengths.
  RefetchedRows(comm::Exchange& exchange, const DistMatrix<T>& B);

  /// Collective. Brings the values of a matrix with B's pattern, and nothing else: one exchange.
  void update(const DistMatrix<T>& B);
  const FetchedRows<T>& rows() const { return fetched_; }
  GhostNumbering& columns() { return fetched_.columns; }

 private:
  std::vector<LocalIndex> exported_;  // B's rows that other ranks have as ghosts
  FetchedRows<T> fetched_;
  std::unique_ptr<comm::Exchange> values_;
  std::vector<T> outgoing_;
};

/// A matrix whose pattern is that of a product, as a place for its values.
template <class T>
class KnownResult {
 public:
  /// Local. Numbers C's columns like `columns`, which gets those that it lacks.
  KnownResult(const DistMatrix<T>& C, GhostNumbering& columns);

  /// Local. Throws unsuitable_matrix unless it is told that C has places for all entries.
  void require(bool has_places) const;
  kernels::KnownRows<T> known() const {
    return {.on = &C_.on(), .off = &C_.off(), .off_columns = off_columns_};
  }
  const DistMatrix<T>& matrix() const { return C_; }
  /// Collective. The matrix with these values, which is kept: an agreement.
  DistMatrix<T> with_values(Array<T> on, Array<T> off);

 private:
  DistMatrix<T> C_;
  std::vector<LocalIndex> off_columns_;  // of C's ghosts
};

/// The two parts of a row-distributed matrix.
enum class Part { on, off };

/// L^T X for the two parts L of a row-distributed matrix, X being the other factor: what the
/// outer-product form of a product leaves to do again on an unchanged pattern.
template <class T>
class PartialSums {
 public:
  /// Local. Whether there are places for L^T X with L = on; the rows of L^T X with L = off; and the
  /// values of either at known places.
  using HasPlaces = std::function<bool(const kernels::KnownRows<T>&)>;
  using OffRows = std::function<Csr<T>()>;
  using ValuesOf = std::function<void(Part, const kernels::KnownRows<T>&, T* on_vals, T* off_vals)>;

  /// Collective. C: the product. One reversed row exchange of columns over A.exchange().
  PartialSums(const DistMatrix<T>& A, const DistMatrix<T>& C, GhostNumbering& columns,
              const HasPlaces& has_places, const OffRows& off_rows);

  /// Collective. C for new values: one reversed exchange of values.
  DistMatrix<T> recompute(const ValuesOf& values_of);

 private:
  void find_places(const comm::Records<GlobalIndex>& keys);
  T& at(Offset place, Array<T>& on, Array<T>& off) const {
    const auto p = static_cast<std::size_t>(place);
    return p < on.size() ? on[p] : off[p - on.size()];
  }

  KnownResult<T> C_;
  Csr<T> outgoing_;             // this rank's part of rows that others own
  std::vector<Offset> places_;  // in on().vals, and then off().vals, of C, to which others add
  std::unique_ptr<comm::Exchange> values_;
};

}  // namespace nodewise::matrix
