// The list of algorithms of the sparse dynamic data exchange.
#include "nodewise/mpi/settings.hpp"

namespace nodewise::comm::sdde {
const mpi::SparseExchangeMethod& personalized_method();
const mpi::SparseExchangeMethod& nonblocking_method();
const mpi::SparseExchangeMethod& rma_method();
const mpi::SparseExchangeMethod& locality_personalized_method();
const mpi::SparseExchangeMethod& locality_nonblocking_method();
const mpi::SparseExchangeMethod& locality_dense_method();
const mpi::SparseExchangeMethod& locality_rma_method();
}  // namespace nodewise::comm::sdde

namespace nodewise::mpi {

Family<SparseExchangeMethod>& SparseExchangeMethod::family() {
  using namespace comm;
  static Family<SparseExchangeMethod> family(
      "sparse exchange",
      {&sdde::personalized_method(), &sdde::nonblocking_method(), &sdde::rma_method(),
       &sdde::locality_personalized_method(), &sdde::locality_nonblocking_method(),
       &sdde::locality_dense_method(), &sdde::locality_rma_method()},
      {"automatic", "chosen at each call from what all ranks know"});
  return family;
}

}  // namespace nodewise::mpi
