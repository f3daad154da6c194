// The one list of ways to find eigenpairs. Each is described at the end of its own file.
#include "nodewise/eigen/method.hpp"

namespace nodewise::eigen {

const EigenMethod& lanczos_method();
const EigenMethod& lobpcg_method();

Family<EigenMethod>& EigenMethod::family() {
  static Family<EigenMethod> methods(
      "eigensolver", {&lanczos_method(), &lobpcg_method()},
      {"auto",
       "lobpcg with a mass matrix, with a preconditioner that is given by name, and for the "
       "smallest where neither the rows of the matrix nor 30 steps of lanczos show a negative one; "
       "else lanczos"});
  return methods;
}

}  // namespace nodewise::eigen
