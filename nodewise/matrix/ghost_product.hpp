// A matrix's product with ghosts, and what can be done while they travel.
#pragma once

#include <span>
#include <utility>

#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Collective. Brings the ghosts, behind which all of a product is to be computed. x: A.cols().
/// What is returned refers to `A` and its exchange, until the next one.
template <class T>
kernels::GhostColumns<T> bring_ghosts(const DistMatrix<T>& A, std::span<const T> x) {
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>();
  A.exchange().forward(x, ghosts);
  return {A.off(), A.boundary_rows(), A.ghosts_on_node(), ghosts};
}

/// Collective. y += alpha A_off x_ghosts, where on_process() runs while the first messages travel,
/// and the product with the ghosts of this node while those of other nodes do. x: A.cols(), read
/// until the end; y: A.rows(), not touched before on_process() has returned. One exchange of A. The
/// order of the additions is the same for every route and transport.
template <class T, class OnProcess>
void add_ghost_product(T alpha, const DistMatrix<T>& A, std::span<const T> x, std::span<T> y,
                       OnProcess&& on_process) {
  comm::Exchange& exchange = A.exchange();
  const std::span<T> buffer = exchange.template ghost_buffer<T>();
  const std::span<const T> ghosts = buffer;
  const std::span<const char> on_node = A.ghosts_on_node();
  const bool early = !on_node.empty() && exchange.overlap() == comm::Overlap::naive &&
                     std::cmp_equal(exchange.early_ghosts().size(), A.n_ghosts_on_node());
  if (early) {
    exchange.start(x, buffer);
    exchange.working(on_process);
    exchange.advance();
  } else {  // all at once, or a route that brings ghosts of the node in several steps
    exchange.forward_beside(x, buffer, 1, on_process);
  }
  if (on_node.empty()) {
    return kernels::spmv_add_rows(alpha, A.off(), A.boundary_rows(), ghosts, y);
  }
  kernels::spmv_add_rows_where(alpha, A.off(), A.boundary_rows(), on_node, char{1}, ghosts, y);
  if (early) exchange.finish();
  kernels::spmv_add_rows_where(alpha, A.off(), A.boundary_rows(), on_node, char{0}, ghosts, y);
}

}  // namespace nodewise::matrix
