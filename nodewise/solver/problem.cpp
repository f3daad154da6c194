#include "nodewise/solver/problem.hpp"

#include <fmt/format.h>

namespace nodewise::solver {

amg::ProblemInfo<double> problem_info(const comm::Layout& rows, const Problem& problem,
                                      const Options& options, bool symmetric) {
  amg::ProblemInfo<double> info;
  if (problem.make) {
    info = problem.make(options);
  } else if (problem.dimensions > 0) {
    if (problem.dimensions != options.amg.unknowns) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there are {} coordinates a point, which needs `unknowns {}`",
                              problem.dimensions, problem.dimensions));
    }
    info.near_null_space =
        amg::rigid_body_modes<double>(rows, problem.dimensions, problem.coordinates);
  } else {
    info.near_null_space = problem.near_null_space;
  }
  if (!problem.make) info.left_near_null_space = problem.left_near_null_space;
  info.symmetric = symmetric;
  return info;
}

}  // namespace nodewise::solver
