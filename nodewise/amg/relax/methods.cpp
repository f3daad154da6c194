// The one list of smoothers. Each is described at the end of its own file.
#include "nodewise/amg/relax/smoother_method.hpp"

namespace nodewise::amg::relax {

const SmootherMethod& l1_gauss_seidel_method();
const SmootherMethod& gauss_seidel_method();
const SmootherMethod& two_stage_gauss_seidel_method();
const SmootherMethod& l1_jacobi_method();
const SmootherMethod& jacobi_method();
const SmootherMethod& chebyshev_method();
const SmootherMethod& ilu0_method();
const SmootherMethod& l1_block_gauss_seidel_method();
const SmootherMethod& block_gauss_seidel_method();
const SmootherMethod& l1_block_jacobi_method();
const SmootherMethod& block_jacobi_method();
const SmootherMethod& fc_jacobi_method();

Family<SmootherMethod>& SmootherMethod::family() {
  static Family<SmootherMethod> methods(
      "smoother",
      {&l1_gauss_seidel_method(), &gauss_seidel_method(), &two_stage_gauss_seidel_method(),
       &l1_jacobi_method(), &jacobi_method(), &chebyshev_method(), &ilu0_method(),
       &l1_block_gauss_seidel_method(), &block_gauss_seidel_method(), &l1_block_jacobi_method(),
       &block_jacobi_method(), &fc_jacobi_method()});
  return methods;
}

}  // namespace nodewise::amg::relax
