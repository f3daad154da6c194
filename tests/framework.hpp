// A small problem of elasticity: bars in the plane.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"

#include "amg_support.hpp"

namespace nodewise::test {

/// A framework of n x m nodes in the plane and bars to all eight neighbours, each of two unknowns:
/// stiffness by the formula of a bar, and where the nodes are. Its only motions without resistance
/// are the rigid ones; `clamped` fixes the first column of nodes by stiff springs.
struct Framework {
  Framework(int n, int m, bool clamped) : A(2 * n * m, 2 * n * m) {
    const auto at = [m](int i, int j) { return i * m + j; };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        x.insert(x.end(), {40.0 + i, 7.0 + j});
        for (const auto& [di, dj] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
          if (i + di < n && j + dj >= 0 && j + dj < m) {
            add_bar(at(i, j), at(i + di, j + dj), di, dj);
          }
        }
        for (int c = 0; clamped && i == 0 && c < 2; ++c) {
          A(2 * at(i, j) + c, 2 * at(i, j) + c) += 10;
        }
      }
    }
  }
  std::vector<double> coordinates(const matrix::Layout& rows) const {
    return {x.begin() + (rows.begin() - rows.first()), x.begin() + (rows.end() - rows.first())};
  }

  DenseMatrix A;
  std::vector<double> x;

 private:
  void add_bar(GlobalIndex p, GlobalIndex q, double dx, double dy) {
    const double e[] = {dx, dy, -dx, -dy};
    const GlobalIndex rows[] = {2 * p, 2 * p + 1, 2 * q, 2 * q + 1};
    const double stiffness = 1 / std::pow(dx * dx + dy * dy, 1.5);
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) A(rows[a], rows[b]) += stiffness * e[a] * e[b];
    }
  }
};

/// Collective. The rigid motions of a framework whose rows are laid out so.
inline amg::ProblemInfo<double> rigid_knowledge(const Framework& framework,
                                                const matrix::Layout& rows) {
  amg::ProblemInfo<double> knowledge;
  knowledge.near_null_space = amg::rigid_body_modes<double>(rows, 2, framework.coordinates(rows));
  return knowledge;
}

}  // namespace nodewise::test
