#include "nodewise/amg/sparsify/strong_rows.hpp"

#include <cmath>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using matrix::RowEntry;

template <class T, class F>
void for_each_strong(const DistMatrix<T>& A, const Strength& strength, LocalIndex i, F&& f) {
  const auto visit = [&](const Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex shift) {
    for (auto k = static_cast<std::size_t>(part.begin(i));
         k < static_cast<std::size_t>(part.end(i)); ++k) {
      if (marks[k] != 0) f(part.cols[k] + shift, std::abs(part.vals[k]));
    }
  };
  visit(A.on(), strength.on, 0);
  visit(A.off(), strength.off, A.n_local());
}

}  // namespace

template <class T>
StrongRows<T> strong_rows(const LumpingCall<T>& call, double threshold, double max_row_sum) {
  const DistMatrix<T>& A = call.A;
  Strength strength;
  const auto make = [&] {
    strength = strength_of_connection(A, threshold, max_row_sum);
    comm::Records<RowEntry<T>> rows;
    for (const LocalIndex i : A.exchange().exported_entries()) {
      for_each_strong(A, strength, i, [&](LocalIndex column, T size) {
        rows.data.push_back({call.worth.blocks.global(column), size});
      });
      rows.end_record();
    }
    return rows;
  };
  const auto fetched = A.exchange().forward_records(make, call.failure);
  StrongRows<T> strong;
  if (call.failure) return strong;
  call.failure = mpi::caught([&] {
    const auto append = [&](LocalIndex column, T size) {
      strong.cols.push_back(column);
      strong.sizes.push_back(size);
    };
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for_each_strong(A, strength, i, append);
      strong.begins.push_back(static_cast<Offset>(strong.cols.size()));
    }
    for (std::size_t g = 0; g < fetched.size(); ++g) {
      for (const RowEntry<T>& entry : fetched[g]) {
        const LocalIndex column = call.worth.blocks.local(entry.col);
        if (column >= 0) append(column, entry.value);
      }
      strong.begins.push_back(static_cast<Offset>(strong.cols.size()));
    }
  });
  return strong;
}

template StrongRows<float> strong_rows(const LumpingCall<float>&, double, double);
template StrongRows<double> strong_rows(const LumpingCall<double>&, double, double);

}  // namespace nodewise::amg::sparsify
