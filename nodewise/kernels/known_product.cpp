#include "nodewise/kernels/known_product.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/point_product.hpp"
#include "nodewise/kernels/product_rows.hpp"

namespace nodewise::kernels {

namespace {

template <class T, class F>
void for_each_column(const KnownRows<T>& known, LocalIndex i, const F& f) {
  for (Offset k = known.on->begin(i); k < known.on->end(i); ++k) {
    f(known.on->cols[static_cast<std::size_t>(k)]);
  }
  if (known.off == nullptr) return;
  for (Offset k = known.off->begin(i); k < known.off->end(i); ++k) {
    const LocalIndex j = known.off->cols[static_cast<std::size_t>(k)];
    f(known.off_columns[static_cast<std::size_t>(j)]);
  }
}

/// Places of one known row after another.
template <class T>
class Places {
 public:
  /// The columns behind the n_cols, as many as ShortRows has, are in no row, and have places behind
  /// all others.
  Places(const KnownRows<T>& known, LocalIndex n_cols)
      : known_(known), places_(static_cast<std::size_t>(n_cols) + ShortRows<T>::width, 0) {
    std::iota(places_.begin() + n_cols, places_.end(), longest_row(known));
  }

  /// Numbers the columns of row i; returns how many it has. Others keep what an earlier row gave
  /// them, which is less than size().
  LocalIndex load(LocalIndex i) {
    LocalIndex n = 0;
    for_each_column(known_, i, [&](LocalIndex j) { places_[static_cast<std::size_t>(j)] = n++; });
    return n;
  }
  const LocalIndex* data() const { return places_.data(); }

  /// More than every place.
  std::size_t size() const { return static_cast<std::size_t>(places_.back()) + 1; }

 private:
  static LocalIndex longest_row(const KnownRows<T>& known) {
    Offset longest = 1;
    for (LocalIndex i = 0; i < known.on->n_rows; ++i) {
      Offset n = known.on->end(i) - known.on->begin(i);
      if (known.off != nullptr) n += known.off->end(i) - known.off->begin(i);
      longest = std::max(longest, n);
    }
    return static_cast<LocalIndex>(longest);
  }

  const KnownRows<T>& known_;
  std::vector<LocalIndex> places_;  // of every column in the current row
};

/// sums += a multiple of row j of B, at the places of its columns.
template <class T>
inline void add_row(const ExtendedRows<T>& B, LocalIndex j, T a, const LocalIndex* at, T* sums) {
  B.for_each_piece(j, [&](const LocalIndex* js, const T* bs, Offset n, LocalIndex shift) {
    for (Offset q = 0; q < n; ++q) sums[at[js[q] + shift]] += a * bs[q];
  });
}
template <class T>
inline void add_row(const ShortRows<T>& B, LocalIndex j, T a, const LocalIndex* at, T* sums) {
  const LocalIndex* const js = B.cols(j);
  const T* const bs = B.vals(j);
  for (LocalIndex q = 0; q < ShortRows<T>::width; ++q) sums[at[js[q]]] += a * bs[q];
}

/// The terms of row i of L A, each at its place.
template <class T>
[[gnu::noinline]] void add_terms(const Csr<T>& L, const ExtendedRows<T>& A, LocalIndex i,
                                 const std::uint16_t* place, T* sums) {
  for (Offset k = L.begin(i); k < L.end(i); ++k) {
    const T l = L.vals[static_cast<std::size_t>(k)];
    A.for_each_piece(L.cols[static_cast<std::size_t>(k)],
                     [&](const LocalIndex*, const T* as, Offset n, LocalIndex) {
                       for (Offset q = 0; q < n; ++q) sums[place[q]] += l * as[q];
                       place += n;
                     });
  }
}

/// The first entries of a row of values become values that the first terms added to them replace,
/// even by -0.
template <class T>
void clear(T* values, Offset n) {
  std::fill_n(values, n, -T{0});
}

/// Row i of the result from its sums.
template <class T>
void write_row(const KnownRows<T>& known, LocalIndex i, const T* sums, T* on_vals, T* off_vals) {
  const Offset n_on = known.on->end(i) - known.on->begin(i);
  std::copy_n(sums, n_on, on_vals + known.on->begin(i));
  if (known.off == nullptr) return;
  std::copy_n(sums + n_on, known.off->end(i) - known.off->begin(i), off_vals + known.off->begin(i));
}

/// The values of the product of the rows from `begin` to `end`, which are loaded one by one, with
/// B, every entry summed up in the same order as by Product: entries that `direct`, which may be
/// empty, leads to the product come first.
template <class T, class Rows, class Factor>
void known_product(Rows rows, LocalIndex begin, LocalIndex end, const Factor& B, LocalIndex n_cols,
                   std::span<const LocalIndex> direct, const KnownRows<T>& known, T* on_vals,
                   T* off_vals) {
  Places<T> places(known, n_cols);
  std::vector<T> sums(places.size());
  const LocalIndex* const at = places.data();
  const auto column_of = [&](LocalIndex k) {
    return direct.empty() ? n_cols : direct[static_cast<std::size_t>(k)];
  };
  for (LocalIndex i = begin; i < end; ++i) {
    clear(sums.data(), places.load(i));
    rows.load(i);
    rows.for_each_piece([&](const LocalIndex* ks, const T* as, Offset n, LocalIndex shift) {
      for (Offset p = 0; p < n; ++p) {
        const LocalIndex column = column_of(ks[p] + shift);
        if (column < n_cols) sums[static_cast<std::size_t>(at[column])] += as[p];
      }
      for (Offset p = 0; p < n; ++p) {
        const LocalIndex k = ks[p] + shift;
        if (column_of(k) == n_cols) add_row(B, k, as[p], at, sums.data());
      }
    });
    write_row(known, i, sums.data(), on_vals, off_vals);
  }
}

/// The values of the rows from `begin` to `end` of L A B, likewise, where the places of all terms
/// of L A are known.
template <class T, class Factor>
void known_triple_product(const Csr<T>& L, const ExtendedRows<T>& A, const TermPlaces& terms,
                          LocalIndex begin, LocalIndex end, const Factor& B, LocalIndex n_cols,
                          const KnownRows<T>& known, T* on_vals, T* off_vals) {
  Places<T> places(known, n_cols);
  std::vector<T> row_sums(terms.size());
  T* const sums = row_sums.data();
  T* const others = sums + terms.first_other();
  const LocalIndex* const at = places.data();
  for (LocalIndex i = begin; i < end; ++i) {
    const LocalIndex n_others = terms.n_others(i);
    clear(sums, places.load(i));
    clear(others, n_others);
    add_terms(L, A, i, terms.places(i), sums);
    const LocalIndex* const rows = terms.others(i);
    for (LocalIndex p = 0; p < n_others; ++p) add_row(B, rows[p], others[p], at, sums);
    write_row(known, i, sums, on_vals, off_vals);
  }
}

/// Whether there is a place for every entry of the product of the rows from `begin` to `end`, which
/// are loaded one by one, with B.
template <class T, class Rows>
bool has_places_for_rows(const KnownRows<T>& known, Rows rows, LocalIndex begin, LocalIndex end,
                         const ExtendedRows<T>& B) {
  std::vector<LocalIndex> row_of(static_cast<std::size_t>(B.n_cols), -1);  // the last that has it
  for (LocalIndex i = begin; i < end; ++i) {
    for_each_column(known, i, [&](LocalIndex j) {
      if (j < B.n_cols) row_of[static_cast<std::size_t>(j)] = i;
    });
    bool has_all = true;
    rows.load(i);
    rows.for_each_piece([&](const LocalIndex* ks, const T*, Offset n, LocalIndex shift) {
      for (Offset p = 0; p < n; ++p) {
        B.for_each_piece(ks[p] + shift,
                         [&](const LocalIndex* js, const T*, Offset n_j, LocalIndex j_shift) {
                           for (Offset q = 0; q < n_j; ++q) {
                             const LocalIndex j = js[q] + j_shift;
                             has_all &= row_of[static_cast<std::size_t>(j)] == i;
                           }
                         });
      }
    });
    if (!has_all) return false;
  }
  return true;
}

template <class T, class Rows>
bool has_places_for_product(const KnownRows<T>& known, const Rows& rows, const ExtendedRows<T>& B) {
  std::atomic<bool> has_all = true;
  parallel::for_rows(known.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
    if (!has_places_for_rows(known, rows, begin, end, B)) has_all = false;
  });
  return has_all;
}

}  // namespace

template <class T>
bool has_places_for(const KnownRows<T>& known, const ExtendedRows<T>& A, const ExtendedRows<T>& B) {
  return has_places_for_product(known, PlainRows<T>(A), B);
}

template <class T>
bool has_places_for(const KnownRows<T>& known, const Csr<T>& L, const ExtendedRows<T>& A,
                    const ExtendedRows<T>& B) {
  return has_places_for_product(known, ProductRows<T>(L, A), B);
}

template <class T>
void spgemm_values(const ExtendedRows<T>& A, const ExtendedRows<T>& B, const KnownRows<T>& known,
                   T* on_vals, T* off_vals) {
  parallel::for_rows(known.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
    known_product(PlainRows<T>(A), begin, end, B, B.n_cols, {}, known, on_vals, off_vals);
  });
}

namespace {

/// Calls f(columns, n, shift) for the terms of row i of L A, in their order.
template <class T, class F>
void for_each_term(const Csr<T>& L, const ExtendedRows<T>& A, LocalIndex i, F&& f) {
  for (Offset k = L.begin(i); k < L.end(i); ++k) {
    A.for_each_piece(
        L.cols[static_cast<std::size_t>(k)],
        [&](const LocalIndex* js, const T*, Offset n, LocalIndex shift) { f(js, n, shift); });
  }
}

/// Names, one row after another, the places in the product that `direct` leads to.
template <class T>
class DirectPlaces {
 public:
  DirectPlaces(const KnownRows<T>& known, std::span<const LocalIndex> direct, LocalIndex n_cols)
      : places_(known, n_cols), direct_(direct), n_cols_(n_cols) {}

  auto operator()(LocalIndex i) {
    places_.load(i);
    return [at = places_.data(), direct = direct_.data(), n_cols = n_cols_](LocalIndex j) {
      return direct[j] < n_cols ? at[direct[j]] : LocalIndex{-1};
    };
  }

 private:
  Places<T> places_;
  std::span<const LocalIndex> direct_;
  LocalIndex n_cols_;
};
struct NoDirectPlaces {
  auto operator()(LocalIndex) const {
    return [](LocalIndex) { return LocalIndex{-1}; };
  }
};

}  // namespace

template <class T>
TermPlaces::TermPlaces(const Csr<T>& L, const ExtendedRows<T>& A, const KnownRows<T>& known,
                       std::span<const LocalIndex> direct, LocalIndex n_cols) {
  const auto n = static_cast<std::size_t>(L.n_rows);
  begins_.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    begins_[i + 1] = begins_[i];
    for_each_term(
        L, A, static_cast<LocalIndex>(i),
        [&](const LocalIndex*, Offset n_terms, LocalIndex) { begins_[i + 1] += n_terms; });
  }
  row_ptr_.assign(n + 1, 0);
  places_.resize(static_cast<std::size_t>(begins_.back()));
  first_other_ = static_cast<LocalIndex>(Places<T>(known, n_cols).size());
  if (direct.empty()) {
    find_places(L, A, NoDirectPlaces());
  } else {
    find_places(L, A, DirectPlaces<T>(known, direct, n_cols));
  }
  size_ = first_other_ + *std::max_element(row_ptr_.begin(), row_ptr_.end());
  constexpr Offset most = Offset{std::numeric_limits<std::uint16_t>::max()} + 1;
  if (size_ <= most) {
    list_others(L, A);
  } else {
    *this = {};
  }
}

/// `direct(i)` gives what tells the place of a term of row i by its column, -1 for others.
template <class T, class PlacesOf>
void TermPlaces::find_places(const Csr<T>& L, const ExtendedRows<T>& A, const PlacesOf& direct) {
  parallel::for_rows(L.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    RowMarks marks(A.n_cols);
    PlacesOf places_of_row = direct;
    for (LocalIndex i = begin; i < end; ++i) {
      const auto u = static_cast<std::size_t>(i);
      const auto place_of = places_of_row(i);
      auto row = marks.open();
      std::uint16_t* place = places_.data() + begins_[u];
      for_each_term(L, A, i, [&](const LocalIndex* js, Offset n_terms, LocalIndex shift) {
        for (Offset q = 0; q < n_terms; ++q) {
          LocalIndex at = place_of(js[q] + shift);
          bool is_new = false;
          if (at < 0) at = first_other_ + row.place(js[q] + shift, is_new);
          *place++ = static_cast<std::uint16_t>(at);
        }
      });
      marks.close(row);
      row_ptr_[u + 1] = marks.length();
    }
  });
}

template <class T>
void TermPlaces::list_others(const Csr<T>& L, const ExtendedRows<T>& A) {
  std::partial_sum(row_ptr_.begin(), row_ptr_.end(), row_ptr_.begin());
  others_.resize(static_cast<std::size_t>(row_ptr_.back()));
  parallel::for_rows(L.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    for (LocalIndex i = begin; i < end; ++i) {
      const std::uint16_t* place = places(i);
      LocalIndex* const rows = others_.data() + row_ptr_[static_cast<std::size_t>(i)];
      for_each_term(L, A, i, [&](const LocalIndex* js, Offset n_terms, LocalIndex shift) {
        for (Offset q = 0; q < n_terms; ++q, ++place) {
          if (*place >= first_other_) rows[*place - first_other_] = js[q] + shift;
        }
      });
    }
  });
}

namespace {

template <class T>
Offset longest_row(const ExtendedRows<T>& B, LocalIndex n_rows) {
  Offset longest = 0;
  for (LocalIndex i = 0; i < n_rows; ++i) {
    Offset length = 0;
    B.for_each_piece(i, [&](const LocalIndex*, const T*, Offset n, LocalIndex) { length += n; });
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace

template <class T>
ShortRows<T>::ShortRows(const ExtendedRows<T>& B) {
  const LocalIndex n_rows = B.n_rows();
  constexpr LocalIndex most_columns = std::numeric_limits<LocalIndex>::max() - width;
  if (B.n_cols > most_columns || longest_row(B, n_rows) > width) return;
  cols_.resize(static_cast<std::size_t>(n_rows) * width);
  vals_.resize(cols_.size());
  parallel::for_range(static_cast<std::size_t>(n_rows), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      LocalIndex* const cols = cols_.data() + i * width;
      T* const vals = vals_.data() + i * width;
      Offset length = 0;
      B.for_each_piece(static_cast<LocalIndex>(i),
                       [&](const LocalIndex* js, const T* bs, Offset n, LocalIndex shift) {
                         for (Offset q = 0; q < n; ++q, ++length) {
                           cols[length] = js[q] + shift;
                           vals[length] = bs[q];
                         }
                       });
      for (; length < width; ++length) {
        cols[length] = B.n_cols + static_cast<LocalIndex>(length);
        vals[length] = 0;
      }
    }
  });
}

template <class T>
void triple_product_values(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                           const KnownRows<T>& known, T* on_vals, T* off_vals, int unknowns,
                           const TripleHints<T>& hints) {
  if (comes_in_points(unknowns, L, B) && comes_in_points(unknowns, known)) {
    return point_triple_product_values(unknowns, L, A, B, known, on_vals, off_vals);
  }
  const bool knows_terms = hints.terms != nullptr && !hints.terms->is_empty();
  const auto multiply = [&](const auto& factor) {
    parallel::for_rows(known.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
      if (knows_terms) {
        known_triple_product(L, A, *hints.terms, begin, end, factor, B.n_cols, known, on_vals,
                             off_vals);
      } else {
        known_product(ProductRows<T>(L, A), begin, end, factor, B.n_cols, hints.direct, known,
                      on_vals, off_vals);
      }
    });
  };
  if (hints.short_rows == nullptr || hints.short_rows->is_empty()) {
    multiply(B);
  } else {
    multiply(*hints.short_rows);
  }
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template bool has_places_for(const KnownRows<T>&, const ExtendedRows<T>&,                        \
                               const ExtendedRows<T>&);                                            \
  template bool has_places_for(const KnownRows<T>&, const Csr<T>&, const ExtendedRows<T>&,         \
                               const ExtendedRows<T>&);                                            \
  template void spgemm_values(const ExtendedRows<T>&, const ExtendedRows<T>&, const KnownRows<T>&, \
                              T*, T*);                                                             \
  template TermPlaces::TermPlaces(const Csr<T>&, const ExtendedRows<T>&, const KnownRows<T>&,      \
                                  std::span<const LocalIndex>, LocalIndex);                        \
  template void triple_product_values(const Csr<T>&, const ExtendedRows<T>&,                       \
                                      const ExtendedRows<T>&, const KnownRows<T>&, T*, T*, int,    \
                                      const TripleHints<T>&);                                      \
  template class ShortRows<T>;
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
