#include "nodewise/amg/relax/row_scales.hpp"

#include <algorithm>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

template <class T>
std::vector<RowScales> row_scales(const mpi::Comm& comm,
                                  std::span<const matrix::DistMatrix<T>* const> matrices) {
  std::vector<RowScales> all;
  mpi::collectively(comm, [&] {
    all.resize(matrices.size());
    for (std::size_t l = 0; l < matrices.size(); ++l) {
      if (matrices[l] == nullptr) continue;
      const Array<T> diagonal = matrix::diagonal(*matrices[l]);
      all[l].own.resize(diagonal.size());
      std::transform(diagonal.begin(), diagonal.end(), all[l].own.begin(),
                     [](T d) { return std::sqrt(static_cast<double>(std::abs(d))); });
      all[l].ghosts.resize(static_cast<std::size_t>(matrices[l]->n_ghosts()));
    }
  });
  for (std::size_t l = 0; l < matrices.size(); ++l) {
    if (matrices[l] == nullptr) continue;
    const mpi::Scope scope(comm, "row_scales", static_cast<int>(l));
    matrices[l]->exchange().forward(std::span<const double>(all[l].own), std::span(all[l].ghosts));
  }
  return all;
}

template std::vector<RowScales> row_scales(const mpi::Comm&,
                                           std::span<const matrix::DistMatrix<float>* const>);
template std::vector<RowScales> row_scales(const mpi::Comm&,
                                           std::span<const matrix::DistMatrix<double>* const>);

}  // namespace nodewise::amg::relax
