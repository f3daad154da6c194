#include "nodewise/solver/record.hpp"

#include <cmath>
#include <limits>

namespace nodewise::solver {

const char* to_string(RhsKind kind) noexcept {
  switch (kind) {
    case RhsKind::given:
      return "given";
    case RhsKind::file:
      return "file";
    case RhsKind::problem:
      return "problem";
    case RhsKind::random:
      return "random";
    case RhsKind::ones:
      return "ones";
    case RhsKind::consistent:
      return "consistent";
  }
  return "unknown";
}

std::size_t worst_of(std::span<const solve::Report> reports) {
  const auto worse = [](const solve::Report& a, const solve::Report& b) {
    if (a.converged() != b.converged()) return !a.converged();
    if (!a.converged()) return false;
    if (a.iterations != b.iterations) return a.iterations > b.iterations;
    return a.true_relative_residual > b.true_relative_residual;
  };
  std::size_t worst = 0;
  for (std::size_t c = 1; c < reports.size(); ++c) {
    if (worse(reports[c], reports[worst])) worst = c;
  }
  return worst;
}

double average_convergence_factor(const solve::Report& report) {
  if (report.iterations == 0 || report.history.size() < 2 || report.history.front() == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double reduction = report.history.back() / report.history.front();
  return std::pow(reduction, 1.0 / static_cast<double>(report.history.size() - 1));
}

}  // namespace nodewise::solver
