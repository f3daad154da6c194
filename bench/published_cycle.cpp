// The cycle that Gahvari, Gropp, Jordan, Schulz and Yang model in "Algebraic multigrid on a
// dragonfly network", 2014, table 3 and figures 5 and 6: the 7-point problem with a block of 50 x
// 50 x 25 points on every core of Eos, whose levels are made here and put into the same formulas.
#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
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
constexpr int most_cores = 1024;
constexpr int cores_per_node = 16;

/// Table 3, baseline and distance: milliseconds modelled and measured, by cores and threads.
struct Published {
  double modelled_ms, measured_ms;
};
const std::map<std::pair<int, int>, Published> published = {
    {{1024, 1}, {9.75, 11.3}}, {{1024, 2}, {14.9, 16.3}}, {{1024, 4}, {24.2, 27.6}},
    {{1024, 8}, {44.2, 51.8}}, {{1024, 16}, {86.4, 104}}, {{8192, 1}, {11.7, 13.0}},
    {{8192, 2}, {16.8, 18.1}}, {{8192, 4}, {26.5, 29.7}}, {{8192, 8}, {46.7, 53.9}},
    {{8192, 16}, {88.4, 104}}};

struct Arguments {
  std::vector<int> cores = {8, 64, 128};
  std::vector<int> threads = {1};
  int extrapolate = 0;  // cores; 0: not asked for
  std::string json;
};

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

/// The most that a process sends for one product with M.
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

/// The starts of processes of so many successive cores.
std::vector<GlobalIndex> united(std::span<const GlobalIndex> starts, int cores) {
  std::vector<GlobalIndex> result;
  for (std::size_t k = 0; k < starts.size(); k += static_cast<std::size_t>(cores)) {
    result.push_back(starts[k]);
  }
  return result;
}

/// The levels that a process a core makes, laid out over processes of several.
std::vector<model::LevelWork> levels_of(const amg::Hierarchy<Value>& hierarchy, int cores,
                                        int threads) {
  std::vector<int> node_of_process;
  for (int core = 0; core < cores; core += threads) {
    node_of_process.push_back(core / cores_per_node);
  }
  const mpi::Topology topology(node_of_process);
  std::vector<model::LevelWork> levels;
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const auto fine = united(hierarchy.virtual_starts(l), threads);
    model::LevelWork& level = levels.emplace_back();
    level.unknowns = static_cast<double>(hierarchy.levels()[l].rows);
    for (std::size_t k = 0; k + 1 < fine.size(); ++k) {
      level.active_processes += fine[k] < fine[k + 1] ? 1 : 0;
    }
    level.solve = work_of(*hierarchy.matrix(l), fine, fine, topology);
    if (const FloatMatrix* P = hierarchy.interpolation(l)) {
      level.interpolation =
          work_of(*P, fine, united(hierarchy.virtual_starts(l + 1), threads), topology);
    }
  }
  return levels;
}

/// One number of cores, as processes of so many threads.
struct Mix {
  int cores = 1;
  int threads = 1;
  bool is_extrapolated = false;
  std::vector<model::LevelWork> levels;

  model::JobShape job() const { return {cores / threads, cores_per_node / threads, threads}; }
  std::vector<model::LevelCost> costs(const model::Machine& machine,
                                      const model::Scenario& scenario) const {
    return model::cycle_cost(machine, job(), levels, scenario.penalties);
  }
};

std::vector<Mix> make_mixes(const std::shared_ptr<const mpi::Comm>& comm,
                            const Arguments& arguments, int cores) {
  amg::Options options;  // HMIS and extended+i with at most 4 entries a row are the defaults
  options.set("aggressive_levels", 1);
  amg::ProblemInfo<Value> knowledge;
  for (int core = 0; core <= cores; ++core) {
    knowledge.virtual_starts.push_back(GlobalIndex{core} * Numbering::points_per_core);
  }
  knowledge.symmetric = true;
  const amg::Hierarchy<Value> hierarchy(seven_points(comm, Numbering(cores)), options,
                                        std::move(knowledge));
  std::vector<Mix> mixes;
  for (const int threads : arguments.threads) {
    if (threads <= cores) {
      mixes.push_back({cores, threads, false, levels_of(hierarchy, cores, threads)});
    }
  }
  return mixes;
}

/// Calls visit(amount, grows) for the amounts of an operator; those that grow with the cores are
/// counted by core.
template <class Visit>
void visit_amounts(model::OperatorWork& work, Visit&& visit) {
  visit(work.nonzeros_per_row, false);
  visit(work.sends, false);
  visit(work.elements, false);
  visit(work.messages, true);
}

std::vector<double> amounts_of(model::LevelWork level, bool of_interpolation, int cores) {
  std::vector<double> amounts;
  const auto add = [&](double amount, bool grows) {
    amounts.push_back(grows ? amount / cores : amount);
  };
  if (of_interpolation) {
    visit_amounts(level.interpolation, add);
  } else {
    add(level.unknowns, true);
    add(level.active_processes, true);
    visit_amounts(level.solve, add);
  }
  return amounts;
}

void set_amounts(model::LevelWork& level, bool of_interpolation, int cores,
                 const std::vector<double>& amounts) {
  std::size_t k = 0;
  const auto set = [&](double& amount, bool grows) {
    amount = std::max(0.0, amounts[k++]) * (grows ? cores : 1);
  };
  if (of_interpolation) {
    visit_amounts(level.interpolation, set);
  } else {
    set(level.unknowns, true);
    set(level.active_processes, true);
    visit_amounts(level.solve, set);
  }
}

/// The value at x of the line that is nearest to the points, by least squares; of one point alone
/// its value.
double on_line(std::span<const double> xs, std::span<const double> ys, double x) {
  const auto n = static_cast<double>(xs.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    mean_x += xs[k] / n;
    mean_y += ys[k] / n;
  }
  for (std::size_t k = 0; k < xs.size(); ++k) {
    xx += (xs[k] - mean_x) * (xs[k] - mean_x);
    xy += (xs[k] - mean_x) * (ys[k] - mean_y);
  }
  return xx > 0 ? mean_y + xy / xx * (x - mean_x) : mean_y;
}

/// Every amount of a level (of a core, where it grows with them) on its line over the logarithm of
/// the cores, of the mixes that have the level.
void extrapolate(std::span<const Mix* const> mixes, std::size_t l, bool of_interpolation, Mix& to) {
  std::vector<double> xs;
  std::vector<std::vector<double>> rows;
  for (const Mix* mix : mixes) {
    if (mix->levels.size() <= l + (of_interpolation ? 1 : 0)) continue;
    xs.push_back(std::bit_width(static_cast<unsigned>(mix->cores)));
    rows.push_back(amounts_of(mix->levels[l], of_interpolation, mix->cores));
  }
  if (rows.empty()) return;
  std::vector<double> found;
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    std::vector<double> ys;
    for (const auto& row : rows) ys.push_back(row[k]);
    found.push_back(on_line(xs, ys, std::bit_width(static_cast<unsigned>(to.cores))));
  }
  set_amounts(to.levels[l], of_interpolation, to.cores, found);
}

/// More cores than have been made, from those that have, at least two of them.
Mix extrapolated(const std::vector<Mix>& all, int cores, int threads) {
  std::vector<const Mix*> mixes;
  Mix result = {cores, threads, true, {}};
  for (const Mix& mix : all) {
    if (mix.threads != threads) continue;
    mixes.push_back(&mix);
    result.levels.resize(std::max(result.levels.size(), mix.levels.size()));
  }
  for (std::size_t l = 0; l < result.levels.size(); ++l) {
    extrapolate(mixes, l, false, result);
    extrapolate(mixes, l, true, result);
  }
  return result;
}

void print(const Mix& mix, const model::Machine& machine) {
  const auto costs = mix.costs(machine, model::Scenario::family().find("distance"));
  const double cycle_ms = 1e3 * model::total_s(costs);
  std::string in_table = " | | ";
  if (const auto found = published.find({mix.cores, mix.threads}); found != published.end()) {
    in_table = fmt::format("{:.3g} | {:.2f} | {:.3g}", found->second.modelled_ms,
                           cycle_ms / found->second.modelled_ms, found->second.measured_ms);
  }
  std::cout << fmt::format("| {}{} | {} x {} | {:.0f} | {} | {:.2f} | {:.2f} | {} |\n", mix.cores,
                           mix.is_extrapolated ? " (extrapolated)" : "",
                           cores_per_node / mix.threads, mix.threads, mix.levels.front().unknowns,
                           costs.size(), 1e3 * costs.front().total(), cycle_ms, in_table)
            << std::flush;
}

/// For scripts/published-cycle-plot: seconds by level and scenario.
void write_json(const std::string& path, const std::vector<Mix>& mixes,
                const model::Machine& machine) {
  std::ofstream out(path);
  out << "{\"mixes\": [";
  for (const Mix& mix : mixes) {
    out << (&mix == &mixes.front() ? "\n" : ",\n")
        << fmt::format(
               "  {{\"cores\": {}, \"threads\": {}, \"extrapolated\": {}, "
               "\"seconds\": {{",
               mix.cores, mix.threads, mix.is_extrapolated);
    std::string separator;
    for (const model::Scenario& scenario : model::Scenario::family()) {
      std::vector<double> seconds;
      for (const auto& cost : mix.costs(machine, scenario)) seconds.push_back(cost.total());
      out << fmt::format("{}\"{}\": [{:.6g}]", separator, *scenario.name, fmt::join(seconds, ", "));
      separator = ", ";
    }
    out << "}}";
  }
  out << "\n]}\n";
  if (!out.flush()) throw Error(ErrorCode::file_io, "cannot write " + path);
}

void run(const Arguments& arguments) {
  const auto comm = make_comm(0);
  if (comm->size() > 1) {
    throw Error(ErrorCode::invalid_argument, "virtual ranks live in one process: start one");
  }
  const model::Machine machine = io::shipped_machine("eos");
  std::cout << "| cores | ranks x threads | rows | levels | finest level, ms | cycle, ms | "
               "published, ms | ratio | measured there, ms |\n"
               "|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  std::vector<Mix> mixes;
  for (const int cores : arguments.cores) {
    for (Mix& mix : make_mixes(comm, arguments, cores)) {
      print(mix, machine);
      mixes.push_back(std::move(mix));
    }
  }
  std::vector<Mix> beyond;
  for (const int threads : arguments.threads) {
    if (arguments.extrapolate == 0) break;
    Mix mix = extrapolated(mixes, arguments.extrapolate, threads);
    if (mix.levels.empty()) continue;  // no number of cores had room for such ranks
    print(beyond.emplace_back(std::move(mix)), machine);
  }
  mixes.insert(mixes.end(), beyond.begin(), beyond.end());
  if (!arguments.json.empty()) write_json(arguments.json, mixes, machine);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Model a published cycle, level by level, for more and more cores; prints Markdown.");
  std::set<int> powers, mixes;
  for (int power = 1; power <= most_cores; power *= 2) powers.insert(power);
  for (int power = 1; power <= cores_per_node; power *= 2) mixes.insert(power);
  app.add_option("--cores", arguments.cores, "one or more, ascending; 18 MB of memory for each")
      ->check(CLI::IsMember(powers));
  app.add_option("--threads", arguments.threads, "of a rank, one or more; as many ranks fewer")
      ->check(CLI::IsMember(mixes));
  app.add_option("--extrapolate", arguments.extrapolate,
                 "cores, more than fit: what each level sends continued from those made")
      ->check(CLI::IsMember(std::set<int>{2048, 4096, 8192}));
  app.add_option("--json", arguments.json, "a file for scripts/published-cycle-plot");
  return run_program(app, argc, argv, [&] { run(arguments); });
}
