#include "nodewise/matrix/product_traffic.hpp"

#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::matrix {

using model::KernelTraffic;

namespace {

/// A part of `rows` rows in blocks: an index for each, and a place for each row of blocks.
template <class V, class T>
model::StoredMatrix stored(const kernels::Bsr<T>& part, double rows, double columns) {
  const double block = part.block;
  return {.rows = rows,
          .columns = columns,
          .nonzeros = static_cast<double>(part.vals.size()),
          .value_bytes = sizeof(V),
          .column_bytes = sizeof(LocalIndex) / (block * block),
          .row_bytes = sizeof(Offset) / block};
}

template <class V, class T>
model::StoredMatrix own_part_in_rows(const DistMatrix<T>& A) {
  return {static_cast<double>(A.on().n_rows), static_cast<double>(A.on().n_cols),
          static_cast<double>(A.on().nnz()), sizeof(V)};
}

/// By rows, for products with the transpose, which do not know blocks.
template <class V>
model::StoredMatrix ghost_part_in_rows(const DistMatrix<double>& A) {
  return {static_cast<double>(A.boundary_rows().size()),
          static_cast<double>(A.n_ghosts()),
          static_cast<double>(A.off().nnz()),
          sizeof(V),
          sizeof(LocalIndex),
          sizeof(Offset) + sizeof(LocalIndex)};
}

}  // namespace

template <class V, class T>
model::StoredMatrix own_part(const DistMatrix<T>& A) {
  if (const auto* blocks = A.blocks()) return stored<V>(blocks->on(), A.n_local(), A.on().n_cols);
  return own_part_in_rows<V>(A);
}

template <class V, class T>
model::StoredMatrix ghost_part(const DistMatrix<T>& A) {
  if (const auto* blocks = A.blocks()) {
    const double block = blocks->block();
    model::StoredMatrix part =
        stored<V>(blocks->off(), block * static_cast<double>(blocks->boundary_points().size()),
                  block * static_cast<double>(blocks->ghosts().size()));
    part.row_bytes += sizeof(LocalIndex) / block;
    return part;
  }
  model::StoredMatrix part{static_cast<double>(A.boundary_rows().size()),
                           static_cast<double>(A.n_ghosts()), static_cast<double>(A.off().nnz()),
                           sizeof(V)};
  part.row_bytes += sizeof(LocalIndex);
  return part;
}

template <class V, class T>
KernelTraffic traffic_of_product(const DistMatrix<T>& A, int width) {
  return model::product_traffic(own_part<V>(A), width) +
         model::product_traffic(ghost_part<V>(A), width);
}

template <class V, class T>
KernelTraffic traffic_of_product_behind(const DistMatrix<T>& A) {
  KernelTraffic traffic = traffic_of_product<V>(A);
  // Products in blocks write what has ghosts twice in any case.
  if (A.blocks() == nullptr) {
    traffic.written_bytes -= model::product_traffic(ghost_part<V>(A)).written_bytes;
  }
  return traffic;
}

template <class V>
KernelTraffic traffic_of_own_product(const DistMatrix<double>& A) {
  return model::product_traffic(own_part_in_rows<V>(A));
}

template <class V>
KernelTraffic traffic_of_residual(const DistMatrix<double>& A) {
  return traffic_of_product<V>(A) + model::vector_traffic(A.n_local(), 1, 0, 1, sizeof(V));
}

template <class V>
KernelTraffic traffic_of_transposed(const DistMatrix<double>& A) {
  return model::transposed_traffic(own_part_in_rows<V>(A)) +
         model::transposed_traffic(ghost_part_in_rows<V>(A));
}

#define NODEWISE_INSTANTIATE(V)                                                   \
  template model::StoredMatrix own_part<V>(const DistMatrix<double>&);            \
  template model::StoredMatrix ghost_part<V>(const DistMatrix<double>&);          \
  template KernelTraffic traffic_of_product_behind<V>(const DistMatrix<double>&); \
  template KernelTraffic traffic_of_product<V>(const DistMatrix<double>&, int);   \
  template KernelTraffic traffic_of_residual<V>(const DistMatrix<double>&);       \
  template KernelTraffic traffic_of_transposed<V>(const DistMatrix<double>&);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE
template KernelTraffic traffic_of_own_product<double>(const DistMatrix<double>&);
template KernelTraffic traffic_of_product<float>(const DistMatrix<float>&, int);

}  // namespace nodewise::matrix
