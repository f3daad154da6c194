// The one list of model problems. Each is described at the end of its own file.
#include "nodewise/io/model_problem.hpp"

namespace nodewise::io {

namespace problems {
const ModelProblem& laplace5_problem();
const ModelProblem& laplace7_problem();
const ModelProblem& laplace9_problem();
const ModelProblem& laplace27_problem();
const ModelProblem& rotated_fe_problem();
const ModelProblem& rotated_fd_problem();
const ModelProblem& random_problem();
const ModelProblem& kronecker_problem();
const ModelProblem& preferential_problem();
const ModelProblem& unstructured_problem();
const ModelProblem& convection2d_problem();
const ModelProblem& convection3d_problem();
const ModelProblem& grad_div2d_problem();
const ModelProblem& grad_div3d_problem();
const ModelProblem& dg2d_problem();
const ModelProblem& dg3d_problem();
const ModelProblem& beam_problem();
const ModelProblem& unstructured_beam_problem();
const ModelProblem& dg_elasticity2d_problem();
const ModelProblem& dg_elasticity3d_problem();
const ModelProblem& holstein_hubbard_problem();
}  // namespace problems

Family<ModelProblem>& ModelProblem::family() {
  static Family<ModelProblem> members("problem", {&problems::laplace5_problem(),
                                                  &problems::laplace7_problem(),
                                                  &problems::laplace9_problem(),
                                                  &problems::laplace27_problem(),
                                                  &problems::rotated_fe_problem(),
                                                  &problems::rotated_fd_problem(),
                                                  &problems::random_problem(),
                                                  &problems::kronecker_problem(),
                                                  &problems::preferential_problem(),
                                                  &problems::unstructured_problem(),
                                                  &problems::convection2d_problem(),
                                                  &problems::convection3d_problem(),
                                                  &problems::grad_div2d_problem(),
                                                  &problems::grad_div3d_problem(),
                                                  &problems::dg2d_problem(),
                                                  &problems::dg3d_problem(),
                                                  &problems::beam_problem(),
                                                  &problems::unstructured_beam_problem(),
                                                  &problems::dg_elasticity2d_problem(),
                                                  &problems::dg_elasticity3d_problem(),
                                                  &problems::holstein_hubbard_problem()});
  return members;
}

}  // namespace nodewise::io
