#include "contest.hpp"

#include <cmath>

#include <fmt/format.h>

#include "measure.hpp"

namespace nodewise::bench {

namespace {

/// One setup and one solve; false where the true residual is too large.
bool run_once(const System& system, const Entrant& entrant, Record& record) {
  const mpi::Comm& comm = system.A->comm();
  const std::unique_ptr<Peer> peer = entrant.make(system);
  const double setup_s = timed(comm, [&] { peer->setup(); });
  const double solve_s =
      timed(comm, [&] { record.iterations = peer->solve(record.asked, system.max_iterations); });
  std::vector<double> x(system.b.size());
  peer->solution(x);
  record.residual = true_relative_residual(*system.A, system.b, x);
  record.operator_complexity = peer->operator_complexity();
  record.levels = peer->levels();
  if (!(record.residual <= system.tolerance)) return false;
  record.setup_s.push_back(setup_s);
  record.solve_s.push_back(solve_s);
  record.total_s.push_back(setup_s + solve_s);
  return true;
}

}  // namespace

double Record::best_s() const {
  return spread(total_s).low;
}

void Record::forget_times() {
  setup_s.clear();
  solve_s.clear();
  total_s.clear();
}

void warm_up(const System& system, const Entrant& entrant, Record& record) {
  constexpr int attempts = 3;
  record.asked = system.tolerance;
  try {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      if (run_once(system, entrant, record)) return;
      if (record.iterations >= system.max_iterations || !std::isfinite(record.residual)) break;
      record.asked *= 0.9 * system.tolerance / record.residual;
    }
    record.failure = fmt::format("{} iterations: {:.1e}", record.iterations, record.residual);
  } catch (const std::exception& error) {
    record.failure = error.what();
  }
}

void run_in_turn(const System& system, const std::vector<Entrant>& entrants,
                 std::span<const std::size_t> places, int repeats, std::vector<Record>& records) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t at = 0; at < places.size(); ++at) {
      const std::size_t k = places[(at + static_cast<std::size_t>(repeat)) % places.size()];
      if (!run_once(system, entrants[k], records[k])) {
        records[k].failure = fmt::format("now and then {:.1e}", records[k].residual);
      }
    }
  }
}

}  // namespace nodewise::bench
