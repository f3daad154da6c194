#include "nodewise/solve/cg_tests.hpp"

#include <cmath>

#include <fmt/format.h>

namespace nodewise::solve {

template <class T>
bool accepts_preconditioner(Iteration<T>& it, double rz) {
  const int iteration = it.report().iterations + 1;
  if (!std::isfinite(rz)) {
    it.stop(Outcome::not_finite,
            fmt::format("the preconditioner returned NaN or infinite values in iteration {}",
                        iteration));
    return false;
  }
  if (!(rz > 0)) {
    it.stop(
        Outcome::indefinite_preconditioner,
        fmt::format(
            "r.Mr = {:.2e} in iteration {}: the preconditioner is not positive "
            "definite, as CG needs it; use `solver gmres`, or another smoother or preconditioner",
            rz, iteration));
    return false;
  }
  return true;
}

template <class T>
bool accepts_matrix(Iteration<T>& it, double pq, double alpha) {
  const int iteration = it.report().iterations + 1;
  if (!std::isfinite(pq) || (pq > 0 && !std::isfinite(alpha))) {
    it.stop(Outcome::not_finite,
            fmt::format("p.Ap = {:.2e} in iteration {}: the matrix or the preconditioner has NaN, "
                        "infinite or huge entries",
                        pq, iteration));
    return false;
  }
  if (!(pq > 0)) {
    it.stop(Outcome::indefinite_matrix,
            fmt::format("p.Ap = {:.2e} in iteration {}: the matrix is not positive definite, as "
                        "CG needs it; use `solver gmres`",
                        pq, iteration));
    return false;
  }
  return true;
}

template bool accepts_preconditioner(Iteration<float>&, double);
template bool accepts_preconditioner(Iteration<double>&, double);
template bool accepts_matrix(Iteration<float>&, double, double);
template bool accepts_matrix(Iteration<double>&, double, double);

}  // namespace nodewise::solve
