// The one list of Krylov methods. Each is described at the end of its own file.
#include "nodewise/solve/method.hpp"

namespace nodewise::solve {

const KrylovMethod& cg_method();
const KrylovMethod& flexible_cg_method();
const KrylovMethod& pipelined_cg_method();
const KrylovMethod& enlarged_cg_method();
const KrylovMethod& minres_method();
const KrylovMethod& gmres_method();
const KrylovMethod& fgmres_method();
const KrylovMethod& gcr_method();
const KrylovMethod& bicgstab_method();
const KrylovMethod& idr_method();
const KrylovMethod& stationary_method();

Family<KrylovMethod>& KrylovMethod::family() {
  static Family<KrylovMethod> methods(
      "solver",
      {&cg_method(), &flexible_cg_method(), &pipelined_cg_method(), &enlarged_cg_method(),
       &minres_method(), &gmres_method(), &fgmres_method(), &gcr_method(), &bicgstab_method(),
       &idr_method(), &stationary_method()},
      {"auto",
       "cg where the matrix is symmetric, unless all of its diagonal is negative; else "
       "gmres"});
  return methods;
}

}  // namespace nodewise::solve
