#include "nodewise/solver/solve_all.hpp"

#include <iterator>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/adaptive_solve.hpp"

namespace nodewise::solver {

namespace {

/// Some columns of a block, side by side.
struct Columns {
  std::size_t first = 0;
  std::size_t count = 0;

  std::vector<double> of(std::span<const double> block, std::size_t width) const {
    std::vector<double> part;
    part.reserve(block.size() / width * count);
    for (std::size_t row = 0; row < block.size(); row += width) {
      const auto from = block.subspan(row + first, count);
      part.insert(part.end(), from.begin(), from.end());
    }
    return part;
  }
  void put(std::span<const double> part, std::span<double> block, std::size_t width) const {
    for (std::size_t i = 0; i < part.size(); ++i) {
      block[i / count * width + first + i % count] = part[i];
    }
  }
};

/// What is solved for in one go.
std::vector<Columns> groups_of(std::size_t n_rhs, bool at_once) {
  const std::size_t most = at_once ? solve::max_block_width : 1;
  const std::size_t n_groups = (n_rhs + most - 1) / most;
  std::vector<Columns> groups;
  for (std::size_t g = 0; g < n_groups; ++g) {
    const std::size_t first = n_rhs * g / n_groups;
    groups.push_back({first, n_rhs * (g + 1) / n_groups - first});
  }
  return groups;
}

}  // namespace

bool solves_at_once(const solve::KrylovMethod& method, int n_rhs) {
  return method.in_double->solve_block != nullptr && n_rhs > 1;
}

std::vector<solve::Report> solve_all(const SolveSetup& setup, std::span<const double> B,
                                     std::span<double> X, int n_rhs, const GroupObserver& observe,
                                     std::vector<EntriesBack>& events) {
  const mpi::Comm& comm = setup.A->comm();
  const solve::MatrixOperator<double> A(setup.A);
  const bool at_once = setup.device == nullptr && solves_at_once(*setup.method, n_rhs);
  const auto k = static_cast<std::size_t>(n_rhs);
  std::vector<solve::Report> reports;
  const auto solve = [&](const Columns& group, std::span<const double> b, std::span<double> x) {
    const auto count = static_cast<int>(group.count);
    const RhsGroup named = {static_cast<int>(group.first), count, n_rhs};
    const solve::Observer observer = observe ? observe(named) : solve::Observer();
    const SolveOnce once = [&](const solve::Options& options, const solve::Observer& hears) {
      if (setup.device != nullptr) {
        return std::vector<solve::Report>{
            setup.device->solve({setup.method, A, nullptr, b, x, options, hears})};
      }
      if (at_once) {
        return setup.method->in_double->solve_block(A, setup.preconditioner, b, x, count, options,
                                                    hears);
      }
      return std::vector<solve::Report>{
          solve::solve_by<double>(setup.method, A, setup.preconditioner, b, x, options, hears)};
    };
    std::vector<solve::Report> some;
    if (setup.device == nullptr && setup.hierarchy != nullptr &&
        has_lost_entries(*setup.hierarchy)) {
      const std::size_t before = events.size();
      some = solve_with_lost_entries(setup, once, observer, events);
      for (std::size_t e = before; e < events.size(); ++e) events[e].rhs = named.first;
    } else {
      some = once(setup.options, observer);
    }
    std::move(some.begin(), some.end(), std::back_inserter(reports));
  };
  const std::vector<Columns> groups = groups_of(k, at_once);
  if (groups.size() == 1) {
    solve(groups.front(), B, X);
    return reports;
  }
  for (const Columns& group : groups) {
    const std::vector<double> b = mpi::collectively(comm, [&] { return group.of(B, k); });
    std::vector<double> x = mpi::collectively(comm, [&] { return group.of(X, k); });
    solve(group, b, x);
    group.put(x, X, k);
  }
  return reports;
}

}  // namespace nodewise::solver
