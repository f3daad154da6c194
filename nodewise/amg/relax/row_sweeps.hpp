// Gauss-Seidel through rows that see nothing but rows of their own thread.
#pragma once

#include <span>
#include <type_traits>

#include "nodewise/base/types.hpp"
#include "nodewise/kernels/csr.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_product.hpp"

namespace nodewise::amg::relax {

/// The data that sweeps read of a matrix: its rows, the inverse of the smoother's diagonal, the
/// number of columns below the diagonal in each row.
template <class T>
class RowSweeps {
 public:
  /// Local. All must outlive this.
  RowSweeps(const kernels::Csr<T>& A, std::span<const LocalIndex> lower,
            std::span<const T> inverse);

  /// Local. The look-ahead in the memory of the next two, on their way through the rows from first
  /// to last, or some of them after others.
  kernels::RowBlocks<T> ahead(LocalIndex first, LocalIndex last) const { return {A_, first, last}; }
  /// Local. x = inverse (b - L x) for the rows from first to last, one after another: a forward
  /// sweep from x = 0.
  void first(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead, const T* b,
             T* x) const;
  /// Local. The same, and of a symmetric matrix r = -U x in these rows and less U x in those before
  /// them, as far as these rows have to do with it: to U x a row adds what it has below the
  /// diagonal, by columns. Reads half of the matrix.
  void first_with_residual(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead,
                           const T* b, T* x, T* r) const;
  /// Local. The sweep from the last row to the first that follows first(), `shift` being the
  /// smoother's diagonal less A's, or null where that is 0, and of a symmetric matrix
  /// r = b - A x in these rows, as far as they have to do with it. After a forward sweep from zero
  /// b - L x is what the smoother's diagonal makes of x, so that this, too, reads half of the
  /// matrix, and (L x)_j is a sum over what rows have above the diagonal, by columns.
  void backward_with_residual(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead,
                              const T* shift, const T* b, T* x, T* r) const;
  /// Local. r = -U x in rows that have a diagonal.
  void upper_residual(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead,
                      const T* x, T* r) const;
  /// Local. x += inverse (b - A x) for the rows from first to last, one after another.
  void forward(LocalIndex first, LocalIndex last, const T* b, T* x) const;
  /// Local. The same from the last to the first.
  void backward(LocalIndex first, LocalIndex last, const T* b, T* x) const;
  /// Local. The same, up to the order of additions, and y = (D + U) x with what it has made of x, D
  /// being the diagonal of A, in rows that have one. On its way down it looks ahead like this.
  void backward_with_upper(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead,
                           const T* b, T* x, T* y) const;
  /// Local. y += L x.
  void add_lower(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead, const T* x,
                 T* y) const;

 private:
  /// The way they go through rows: with a register for the row before, where nearly all rows have
  /// an entry there and would have to wait for it from the start; otherwise with a product that
  /// does or does not guess where a row ends.
  enum class Form { chained, guessed, unguessed };
  /// Few pointers and no indirection: the loops need all registers.
  struct View {
    const Offset* row_ptr;
    const LocalIndex* cols;
    const T* vals;
    const LocalIndex* lower;
    const T* inverse;
  };

  Form form() const;
  template <class F>
  void with_form(F&& f) const;
  View view() const {
    return {A_.row_ptr.data(), A_.cols.data(), A_.vals.data(), lower_.data(), inverse_.data()};
  }
  template <class Product, bool is_chained>
  [[gnu::always_inline]] static inline T relax_row(const View& A, LocalIndex i, LocalIndex before,
                                                   const T* b, const T* x, bool is_first,
                                                   T previous);

  template <class F>
  void sweep_first(LocalIndex first, LocalIndex last, const kernels::RowBlocks<T>& ahead,
                   const T* b, T* x, F&& follow) const;

  const kernels::Csr<T>& A_;
  std::span<const LocalIndex> lower_;
  std::span<const T> inverse_;
  Form form_;
};

/// Calls f(product, is_chained) as the form is.
template <class T>
template <class F>
void RowSweeps<T>::with_form(F&& f) const {
  switch (form_) {
    case Form::chained:
      return f(kernels::GuessedProduct(), std::true_type());
    case Form::guessed:
      return f(kernels::GuessedProduct(), std::false_type());
    case Form::unguessed:
      return f(kernels::UnguessedProduct(), std::false_type());
  }
}

}  // namespace nodewise::amg::relax
