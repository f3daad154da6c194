// Products of two or three local sparse matrices whose pattern is known: values only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Where the entries of a product are: row i has those of row i of `on` and of row i of `off`,
/// which may be null. Columns of `on` are columns of the product, column j of `off` is
/// off_columns[j].
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

/// Which entry of its row of L A every term belongs to, so that it need not be found out again for
/// all new values. Two bytes a term: each entry of L has one for each entry of a row of A.
class TermPlaces {
 public:
  TermPlaces() = default;
  /// Local. Of no use, and empty, where a row of L A has more than 2^16 entries.
  template <class T>
  TermPlaces(const Csr<T>& L, const ExtendedRows<T>& A);

  bool is_empty() const { return lengths_.empty(); }
  /// Of row i: the place of each term in its row, in their order, and how many places there are.
  const std::uint16_t* terms(LocalIndex i) const {
    return places_.data() + begins_[static_cast<std::size_t>(i)];
  }
  LocalIndex length(LocalIndex i) const { return lengths_[static_cast<std::size_t>(i)]; }
  LocalIndex max_length() const { return max_length_; }

 private:
  std::vector<Offset> begins_;  // of the terms of each row
  std::vector<LocalIndex> lengths_;
  Array<std::uint16_t> places_;
  LocalIndex max_length_ = 0;
};

/// Local. The values of triple_product(L, A, B, unknowns), likewise, with what `terms` knows of L
/// and A, if that is anything. Products by points do without.
template <class T>
void triple_product_values(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                           const KnownRows<T>& known, T* on_vals, T* off_vals, int unknowns = 1,
                           const TermPlaces& terms = {});

}  // namespace nodewise::kernels
