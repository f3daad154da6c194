// Products of a sparse matrix on a device.
#pragma once

#include "nodewise/device/buffer.hpp"
#include "nodewise/device/csr_matrix.hpp"
#include "nodewise/device/sell_layout.hpp"

namespace nodewise::device {

/// One step of a polynomial relaxation: step = keep step + take D^-1 (b - A x), and then x + step.
template <class T>
struct RelaxationStep {
  T keep;  ///< 0: the step that there was is not read
  T take;
  bool leaves = true;  ///< the step is written, for another that reads it
};

/// What a kernel sees of a matrix.
template <class T>
struct SellView;

/// Vectors are arrays of the space: x of n_cols, ghosts behind the owned ones, the others of
/// n_rows. They must not overlap, unless it says so. All functions are local; a sum goes through a
/// row's entries in their order in the layout, or where a row has several lanes as sum_by_lanes()
/// does, so that the results are the same to the bit in every space.
template <class T, class Space>
class SellMatrix {
 public:
  SellMatrix(Queue<Space>& queue, const SellLayout<T>& layout);
  /// The layout of a matrix that is on the device, made there, with `factor` times its values. The
  /// queue of `primitives` must outlive this.
  SellMatrix(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A, double factor = 1);

  /// What the layout of the constructors' matrix has, to look at it.
  SellLayout<T> layout() const;
  /// The threads that take a row together; the numbers of rows and entries decide.
  int lanes() const { return lanes_; }
  /// Places for entries over entries: 1 where no slice has a gap.
  double padding() const { return padding_; }
  LocalIndex n_rows() const { return n_rows_; }
  LocalIndex n_cols() const { return n_cols_; }
  std::size_t bytes() const;

  /// y = A x.
  void multiply(const T* x, T* y) const;
  /// y = y + A x.
  void multiply_add(const T* x, T* y) const;
  /// r = b - A x; r may be b.
  void residual(const T* x, const T* b, T* r) const;
  /// RelaxationStep with the residual of x; the new x goes to `next`.
  void relax(RelaxationStep<T> how, const T* inverse_diagonal, const T* b, const T* x, T* step,
             T* next) const;

 private:
  SellView<T> view() const;
  template <class Use>
  void for_products(const T* x, const Use& use) const;
  void make_slices(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A, double factor);

  Queue<Space>& queue_;
  LocalIndex n_rows_, n_cols_;
  Offset nnz_;
  int lanes_;
  double padding_;
  Buffer<Offset, Space> slices_;
  Buffer<LocalIndex, Space> rows_, lengths_, cols_;
  Buffer<T, Space> vals_;
};

}  // namespace nodewise::device
