// Products of two or three local sparse matrices whose pattern is known: values only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// The places of a product's entries: row i has those of row i of `on` and of row i of `off`, which
/// may be null. Columns of `on` are columns of the product; column j of `off` is off_columns[j].
template <class T>
struct KnownRows {
  const Csr<T>* on = nullptr;
  const Csr<T>* off = nullptr;
  std::span<const LocalIndex> off_columns = {};
};

/// Local. Whether `known` has a place for every entry of spgemm(A, known.on->n_rows, B).
template <class T>
bool has_places_for(const KnownRows<T>& known, const ExtendedRows<T>& A, const ExtendedRows<T>& B);

/// Local. Whether `known` has a place for every entry of L A B.
template <class T>
bool has_places_for(const KnownRows<T>& known, const Csr<T>& L, const ExtendedRows<T>& A,
                    const ExtendedRows<T>& B);

/// Local. The values of spgemm(A, known.on->n_rows, B), bit for bit, at the known places: on_vals
/// and off_vals are arrays like known.on->vals and known.off->vals. Nothing is searched or sorted.
/// Every entry of the product must have a place; places without an entry get zero.
template <class T>
void spgemm_values(const ExtendedRows<T>& A, const ExtendedRows<T>& B, const KnownRows<T>& known,
                   T* on_vals, T* off_vals);

/// The place of every term of L A in a row of sums, kept so that products for new values need not
/// look it up. Terms that `direct`, B's direct_columns(), leads to the product have their place
/// there; the others come behind and are multiplied by their rows of B. Costs two bytes a term, and
/// each entry of L has a term for each entry of a row of A; and four bytes for each of the others.
class TermPlaces {
 public:
  TermPlaces() = default;
  /// Local. `known` has the rows of L A B, and B has n_cols columns. Stays empty, and is of no use,
  /// where a row of sums would have more than 2^16 of them.
  template <class T>
  TermPlaces(const Csr<T>& L, const ExtendedRows<T>& A, const KnownRows<T>& known,
             std::span<const LocalIndex> direct, LocalIndex n_cols);

  bool is_empty() const { return row_ptr_.empty(); }
  /// Returns the places of row i's terms, in their order.
  const std::uint16_t* places(LocalIndex i) const {
    return places_.data() + begins_[static_cast<std::size_t>(i)];
  }
  /// Returns how many other terms row i has, from first_other() on, and the row of B of each.
  LocalIndex n_others(LocalIndex i) const {
    const auto u = static_cast<std::size_t>(i);
    return static_cast<LocalIndex>(row_ptr_[u + 1] - row_ptr_[u]);
  }
  const LocalIndex* others(LocalIndex i) const {
    return others_.data() + row_ptr_[static_cast<std::size_t>(i)];
  }
  LocalIndex first_other() const { return first_other_; }
  /// More than every place.
  std::size_t size() const { return static_cast<std::size_t>(size_); }

 private:
  template <class T, class PlacesOf>
  void find_places(const Csr<T>& L, const ExtendedRows<T>& A, const PlacesOf& direct);
  template <class T>
  void list_others(const Csr<T>& L, const ExtendedRows<T>& A);

  std::vector<Offset> begins_;  // of the terms of each row
  Array<std::uint16_t> places_;
  std::vector<Offset> row_ptr_;  // of the others
  Array<LocalIndex> others_;
  LocalIndex first_other_ = 0;
  Offset size_ = 0;
};

/// The rows of a factor with at most four entries a row, as truncated interpolations have, each
/// filled up to four with zeros in columns behind all others. No end of a row has to be guessed
/// then; a wrong guess takes as long as four entries.
template <class T>
class ShortRows {
 public:
  static constexpr LocalIndex width = 4;

  ShortRows() = default;
  /// Local. Empty where a row is longer. The columns from B.n_cols on, `width` of them, are added.
  explicit ShortRows(const ExtendedRows<T>& B);

  bool is_empty() const { return cols_.empty(); }
  const LocalIndex* cols(LocalIndex i) const {
    return cols_.data() + static_cast<std::size_t>(i) * width;
  }
  const T* vals(LocalIndex i) const { return vals_.data() + static_cast<std::size_t>(i) * width; }

 private:
  Array<LocalIndex> cols_;
  Array<T> vals_;
};

/// What is known of a triple product besides its places. Products by points do without.
template <class T>
struct TripleHints {
  std::span<const LocalIndex> direct = {};  ///< as triple_product() was told
  const TermPlaces* terms = nullptr;        ///< of the same; nothing where they are empty
  const ShortRows<T>* short_rows = nullptr;
};

/// Local. The values of triple_product(L, A, B, unknowns, hints.direct), likewise.
template <class T>
void triple_product_values(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                           const KnownRows<T>& known, T* on_vals, T* off_vals, int unknowns = 1,
                           const TripleHints<T>& hints = {});

}  // namespace nodewise::kernels
