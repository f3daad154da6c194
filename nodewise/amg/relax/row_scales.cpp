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
  const auto for_levels = [&](const auto& work) {
    for (std::size_t l = 0; l < matrices.size(); ++l) {
      if (matrices[l] == nullptr) continue;
      const mpi::Scope scope(comm, "row_scales", static_cast<int>(l));
      work(matrices[l]->exchange(), all[l]);
    }
  };
  for_levels([](comm::Exchange& exchange, RowScales& scales) {
    exchange.start(std::span<const double>(scales.own), std::span(scales.ghosts));
  });
  for_levels([](comm::Exchange& exchange, RowScales&) { exchange.finish(); });
  return all;
}

template std::vector<RowScales> row_scales(const mpi::Comm&,
                                           std::span<const matrix::DistMatrix<float>* const>);
template std::vector<RowScales> row_scales(const mpi::Comm&,
                                           std::span<const matrix::DistMatrix<double>* const>);

}  // namespace nodewise::amg::relax
