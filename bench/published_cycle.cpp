// The cycle that Gahvari, Gropp, Jordan, Schulz and Yang model in "Algebraic multigrid on a
// dragonfly network", 2014, table 3: the 7-point problem with a block of 50 x 50 x 25 points on
// every core of Eos, whose levels are made here and put into the same formulas.
#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/timer.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"
#include "nodewise/model/cycle_cost.hpp"

#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

using Value = float;  // so that 64 million rows take 19 GB
using FloatMatrix = matrix::DistMatrix<Value>;

constexpr std::array<int, 3> block = {50, 50, 25};  // points of a core along x, y, z
constexpr int published_cores = 1024;
constexpr double published_s = 9.75e-3;  // baseline and distance

constexpr int cores_per_node = 16;

/// Cores along x, y and z: powers of two, z doubled first, so that 1,024 make a cube of 400 points.
std::array<int, 3> grid_of(int cores) {
  std::array<int, 3> grid = {1, 1, 1};
  for (std::size_t d = 2; cores > 1; d = (d + 2) % 3, cores /= 2) grid[d] *= 2;
  return grid;
}

/// The points of the problem, numbered core by core, and those of a core along x, then y, then z.
class Numbering {
 public:
  explicit Numbering(int cores) : grid_(grid_of(cores)) {
    for (std::size_t d = 0; d < 3; ++d) size_[d] = grid_[d] * block[d];
  }
  LocalIndex n_points() const {
    return narrow<LocalIndex>(std::int64_t{size_[0]} * size_[1] * size_[2]);
  }
  bool has(const std::array<int, 3>& at) const {
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) inside = inside && at[d] >= 0 && at[d] < size_[d];
    return inside;
  }
  LocalIndex number(const std::array<int, 3>& at) const {
    LocalIndex core = 0, place = 0;
    for (const std::size_t d : {2U, 1U, 0U}) {
      core = core * grid_[d] + at[d] / block[d];
      place = place * block[d] + at[d] % block[d];
    }
    return core * points_per_core + place;
  }
  std::array<int, 3> point(LocalIndex number) const {
    LocalIndex core = number / points_per_core, place = number % points_per_core;
    std::array<int, 3> at = {};
    for (std::size_t d = 0; d < 3; ++d) {
      at[d] = core % grid_[d] * block[d] + place % block[d];
      core /= grid_[d];
      place /= block[d];
    }
    return at;
  }
  static constexpr LocalIndex points_per_core = block[0] * block[1] * block[2];

 private:
  std::array<int, 3> grid_, size_ = {};
};

/// The 7-point stencil, 6 and -1, on one process.
std::shared_ptr<const FloatMatrix> seven_points(const std::shared_ptr<const mpi::Comm>& comm,
                                                const Numbering& points) {
  const LocalIndex n = points.n_points();
  matrix::SplitRows<Value> split{kernels::Csr<Value>(n, n), kernels::Csr<Value>(n, 0), {}};
  const auto n_entries =
      std::size_t{7} * static_cast<std::size_t>(n);  // some at the border too many
  Array<Offset> row_ptr(static_cast<std::size_t>(n) + 1);
  Array<LocalIndex> cols(n_entries);
  Array<Value> vals(n_entries);
  std::vector<LocalIndex> row;
  Offset end = 0;
  row_ptr[0] = 0;
  for (LocalIndex i = 0; i < n; ++i) {
    row = {i};
    std::array<int, 3> at = points.point(i);
    for (std::size_t d = 0; d < 3; ++d) {
      for (const int step : {-1, 2}) {
        at[d] += step;
        if (points.has(at)) row.push_back(points.number(at));
      }
      --at[d];
    }
    std::sort(row.begin(), row.end());
    for (const LocalIndex j : row) {
      cols[static_cast<std::size_t>(end)] = j;
      vals[static_cast<std::size_t>(end++)] = j == i ? 6 : -1;
    }
    row_ptr[static_cast<std::size_t>(i) + 1] = end;
  }
  cols.resize(static_cast<std::size_t>(end));
  vals.resize(static_cast<std::size_t>(end));
  split.on.row_ptr = std::move(row_ptr);
  split.on.cols = std::move(cols);
  split.on.vals = std::move(vals);
  const auto layout = comm::Layout::uniform(comm, n);
  return std::make_shared<const FloatMatrix>(layout, layout, std::move(split));
}

/// The most that a core sends for one product with M.
model::OperatorWork work_of(const FloatMatrix& M, std::span<const GlobalIndex> rows,
                            std::span<const GlobalIndex> cols, const mpi::Topology& topology) {
  const auto patterns = comm::virtual_patterns(cols, matrix::virtual_ghosts(M.on(), rows, cols));
  const auto plans = comm::virtual_plans(patterns, topology, "direct");
  model::OperatorWork work;
  work.nonzeros_per_row =
      static_cast<double>(M.nnz_global()) / static_cast<double>(M.rows().n_global());
  for (const comm::Traffic& sent : comm::virtual_traffic(plans, topology)) {
    const auto messages = static_cast<double>(sent.messages_on_node + sent.messages_off_node);
    const auto elements = static_cast<double>(sent.entries_on_node + sent.entries_off_node);
    work.sends = std::max(work.sends, messages);
    work.elements = std::max(work.elements, elements);
    work.messages += messages;
  }
  return work;
}

std::vector<model::LevelWork> levels_of(const amg::Hierarchy<Value>& hierarchy,
                                        const mpi::Topology& topology) {
  std::vector<model::LevelWork> levels;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const auto fine = hierarchy.virtual_starts(l);
    model::LevelWork& level = levels.emplace_back();
    level.unknowns = static_cast<double>(hierarchy.levels()[l].rows);
    level.solve = work_of(*hierarchy.matrix(l), fine, fine, topology);
    if (const FloatMatrix* P = hierarchy.interpolation(l)) {
      level.interpolation = work_of(*P, fine, hierarchy.virtual_starts(l + 1), topology);
    }
  }
  return levels;
}

void model_cycle(const std::shared_ptr<const mpi::Comm>& comm, const model::Machine& machine,
                 int cores) {
  const Timer timer;
  amg::Options options;  // HMIS and extended+i with at most 4 entries a row are the defaults
  options.set("aggressive_levels", 1);
  amg::ProblemInfo<Value> knowledge;
  for (int core = 0; core <= cores; ++core) {
    knowledge.virtual_starts.push_back(GlobalIndex{core} * Numbering::points_per_core);
  }
  knowledge.symmetric = true;
  const amg::Hierarchy<Value> hierarchy(seven_points(comm, Numbering(cores)), options,
                                        std::move(knowledge));
  std::vector<int> node_of_core;
  for (int core = 0; core < cores; ++core) node_of_core.push_back(core / cores_per_node);
  const auto costs = model::cycle_cost(machine, {cores, cores_per_node, 1},
                                       levels_of(hierarchy, mpi::Topology(node_of_core)),
                                       model::Scenario::family().find("distance").penalties);
  std::cout << fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |\n", cores,
                           hierarchy.levels().front().rows, costs.size(),
                           hierarchy.operator_complexity(), 1e3 * costs.front().total(),
                           1e3 * model::total_s(costs), timer.seconds())
            << std::flush;
}

void run(const std::vector<int>& numbers_of_cores) {
  const auto comm = make_comm(0);
  if (comm->size() > 1) {
    throw Error(ErrorCode::invalid_argument, "virtual ranks live in one process: start one");
  }
  const model::Machine machine = io::shipped_machine("eos");
  std::cout << "| cores | rows | levels | operator complexity | finest level, ms | cycle, ms | "
               "made in, s |\n|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const int cores : numbers_of_cores) model_cycle(comm, machine, cores);
  std::cout << fmt::format("\nPublished for {} cores: {:.2f} ms.\n", published_cores,
                           1e3 * published_s);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> cores = {8, 64, 128};
  CLI::App app(
      "Model a published cycle, level by level, for more and more cores; prints Markdown.");
  std::set<int> powers;
  for (int power = 1; power <= published_cores; power *= 2) powers.insert(power);
  app.add_option("--cores", cores, "one or more; 18 MB of memory for each")
      ->check(CLI::IsMember(powers));
  return run_program(app, argc, argv, [&] { run(cores); });
}
