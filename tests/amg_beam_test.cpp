// What is asked of aggregation on elasticity: iterations that hardly grow with the size, whatever
// the number of ranks.
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/presets.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_beam_test {

/// Collective. Iterations of conjugate gradients to 1e-8 for a beam with its rigid body modes and a
/// random right-hand side, by the preset for elasticity.
int iterations(int n) {
  const io::GalleryOptions problem{.problem = "beam", .n = n};
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test::test_comm(), problem));
  const int unknowns = problem.problem->unknowns;
  Options options;
  solver::apply_preset(solver::Preset::family().find("elasticity"), {.near_null_space = true},
                       unknowns, {}, options);
  ProblemInfo<double> knowledge;
  knowledge.near_null_space =
      rigid_body_modes<double>(A->rows(), unknowns, io::point_coordinates(A->rows(), problem));
  const Hierarchy<double> hierarchy(A, options, std::move(knowledge));
  std::vector<double> b(static_cast<std::size_t>(A->n_local())), x(b.size(), 0.0);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const GlobalIndex row = A->rows().to_global(static_cast<LocalIndex>(i));
    b[i] = hash_normal(static_cast<std::uint64_t>(row), 1);
  }
  const auto report =
      solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {.tolerance = 1e-8});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

TEST(BeamIterations, HardlyGrowWithTheSize) {
  const int of_small = iterations(7);   // 10,752 unknowns
  const int of_large = iterations(13);  // 61,152
  RecordProperty("small", of_small);
  RecordProperty("large", of_large);
  EXPECT_LE(of_small, 30);
  EXPECT_LE(of_large, 30);
  EXPECT_LT(of_large, 1.5 * of_small);
}

}  // namespace amg_beam_test
}  // namespace nodewise::amg
