// A distributed matrix of dense blocks, for systems whose unknowns come in points.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/kernels/bsr.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// A matrix whose rows and columns are points of block() each, as products with vectors need it.
/// on() and off() are as in DistMatrix, but rows and columns are points, and so are the entries of
/// the exchange. For one vector it brings block() values of each point, for k vectors k block(). It
/// sends as many messages as that of the matrix; where a point has any ghost among its unknowns it
/// brings all. Immutable; DistMatrix::with_blocks() makes it.
template <class T>
class BlockMatrix {
 public:
  /// Local. Made of parts that fit together.
  BlockMatrix(kernels::Bsr<T> on, kernels::Bsr<T> off, std::vector<GlobalIndex> ghosts,
              std::shared_ptr<comm::Exchange> exchange, double fill);

  int block() const { return on_.block; }
  const kernels::Bsr<T>& on() const { return on_; }
  const kernels::Bsr<T>& off() const { return off_; }
  /// The ghost points, ascending, counted from the first point of all.
  std::span<const GlobalIndex> ghosts() const { return ghosts_; }
  /// The local points that have blocks in off(), ascending.
  std::span<const LocalIndex> boundary_points() const { return boundary_points_; }
  comm::Exchange& exchange() const { return *exchange_; }
  /// The entries of the matrix over the places in its blocks, of all ranks.
  double fill() const { return fill_; }
  /// Bytes this rank holds, the exchange not counted.
  std::size_t memory_bytes() const;

  /// Local. The values of a matrix with the same pattern and layout, in the same places.
  BlockMatrix with_values(const DistMatrix<T>& A) const;
  /// Local. The entries on another communicator, where rank r is ranks[r]: as
  /// DistMatrix::with_comm().
  BlockMatrix with_comm(std::shared_ptr<const mpi::Comm> comm, std::span<const int> ranks) const;
  /// Local. As DistMatrix::with_type().
  template <class To>
  BlockMatrix<To> with_type(double factor) const;

 private:
  kernels::Bsr<T> on_, off_;
  std::vector<GlobalIndex> ghosts_;
  std::vector<LocalIndex> boundary_points_;
  std::shared_ptr<comm::Exchange> exchange_;
  double fill_;
};

/// Collective. See DistMatrix::with_blocks(). Nothing, and no exchange is planned, where fill()
/// would be less than `min_fill`.
template <class T>
std::shared_ptr<const BlockMatrix<T>> make_blocks(const DistMatrix<T>& A, int block,
                                                  double min_fill = 0);

/// Collective. `A` with blocks of `unknowns` rows where products with them are faster: where its
/// rows are whole points of so many, 2 to 6, and its blocks are nearly full. Itself otherwise, and
/// where it has such blocks already.
template <class T>
std::shared_ptr<const DistMatrix<T>> with_blocks_where_full(std::shared_ptr<const DistMatrix<T>> A,
                                                            int unknowns);

/// Collective. add_ghost_product() for `width` vectors side by side: x: A.cols() x width, y:
/// A.rows() x width, row-major.
template <class T, class OnProcess>
void add_ghost_blocks_product(T alpha, const BlockMatrix<T>& A, std::span<const T> x,
                              std::span<T> y, int width, OnProcess&& on_process) {
  comm::Exchange& exchange = A.exchange();
  const int values = A.block() * width;
  const std::span<T> ghosts = exchange.template ghost_buffer<T>(values);
  exchange.forward_beside(x, ghosts, values, on_process);
  if (width == 1) {
    kernels::bsr_add_rows(alpha, A.off(), A.boundary_points(), std::span<const T>(ghosts), y);
  } else {
    kernels::bsr_add_rows(alpha, A.off(), A.boundary_points(), std::span<const T>(ghosts), y,
                          width);
  }
}

}  // namespace nodewise::matrix
