#include "nodewise/partition/part_order.hpp"

#include "nodewise/matrix/assemble.hpp"

namespace nodewise::partition {

PartOrder order_of_parts(std::span<const int> owners, int n_parts) {
  PartOrder order;
  order.starts.assign(static_cast<std::size_t>(n_parts) + 1, 0);
  for (const int part : owners) ++order.starts[static_cast<std::size_t>(part) + 1];
  for (std::size_t p = 1; p < order.starts.size(); ++p) order.starts[p] += order.starts[p - 1];
  std::vector<GlobalIndex> next(order.starts.begin(), order.starts.end() - 1);
  order.rows.resize(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const GlobalIndex place = next[static_cast<std::size_t>(owners[i])]++;
    order.rows[static_cast<std::size_t>(place)] = static_cast<LocalIndex>(i);
  }
  return order;
}

matrix::DistMatrix<double> in_order(const matrix::DistMatrix<double>& A, const PartOrder& order) {
  const kernels::Csr<double>& old = A.on();
  const GlobalIndex first = A.rows().first();
  std::vector<GlobalIndex> number(order.rows.size());
  for (std::size_t k = 0; k < order.rows.size(); ++k) {
    number[static_cast<std::size_t>(order.rows[k])] = first + static_cast<GlobalIndex>(k);
  }
  return matrix::matrix_from_rows<double>(A.rows(), A.cols(), [&](GlobalIndex i, const auto& emit) {
    const LocalIndex row = order.rows[static_cast<std::size_t>(i - first)];
    for (Offset k = old.begin(row); k < old.end(row); ++k) {
      const auto at = static_cast<std::size_t>(k);
      emit(number[static_cast<std::size_t>(old.cols[at])], old.vals[at]);
    }
  });
}

}  // namespace nodewise::partition
