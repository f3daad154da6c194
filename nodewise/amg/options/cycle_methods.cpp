// The lists of cycles and of coarse solves. Each is described at the end of its own file.
#include "nodewise/amg/options/cycle_method.hpp"

namespace nodewise::amg {

const CycleMethod& v_cycle();
const CycleMethod& w_cycle();
const CycleMethod& f_cycle();
const CycleMethod& k_cycle();
const CycleMethod& additive_cycle();

const CoarseSolveMethod& every_rank_coarse_solve();
const CoarseSolveMethod& every_node_coarse_solve();
const CoarseSolveMethod& one_rank_coarse_solve();
const CoarseSolveMethod& relaxation_coarse_solve();
const CoarseSolveMethod& factors_coarse_solve();

Family<CycleMethod>& CycleMethod::family() {
  static Family<CycleMethod> methods(
      "cycle", {&v_cycle(), &w_cycle(), &f_cycle(), &k_cycle(), &additive_cycle()});
  return methods;
}

Family<CoarseSolveMethod>& CoarseSolveMethod::family() {
  static Family<CoarseSolveMethod> methods(
      "coarse_solve",
      {&every_rank_coarse_solve(), &every_node_coarse_solve(), &one_rank_coarse_solve(),
       &factors_coarse_solve(), &relaxation_coarse_solve()},
      {"auto", "every_rank"});
  return methods;
}

}  // namespace nodewise::amg
