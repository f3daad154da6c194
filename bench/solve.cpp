// Whole solves over the routes and with coarse levels on fewer ranks, or with other choices, and
// hypre's on the same links in the same processes.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/read.hpp"

#include "contest.hpp"
#include "measure.hpp"
#include "name_and_value.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:24", "rotated_fe:120"};
  std::vector<std::string> matrices;      ///< files, in place of the problems where there are any
  std::vector<std::string> active_ranks;  ///< empty: by the nodes
  std::vector<std::string> given;         ///< name=value
  std::vector<std::string> choices;       ///< "name=a+name=b", in place of routes and ranks
  double tolerance = 1e-8;
  int max_iterations = 500;
  int repeats = 5;
  int ranks_per_node = 0;
};

const std::string ours = "Nodewise";

std::vector<NamedValue> join(std::vector<NamedValue> values, const std::vector<NamedValue>& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

/// Of words name=value.
std::vector<NamedValue> parse_options(std::span<const std::string> words) {
  std::vector<NamedValue> values;
  for (const std::string& word : words) values.push_back(name_and_value(word));
  return values;
}

/// What is given to all of ours.
std::vector<NamedValue> given_options(const Arguments& arguments) {
  return parse_options(arguments.given);
}

/// Ours with each of the choices, over the routes that costs say are best.
void add_choices(const Arguments& arguments, std::vector<Entrant>& all) {
  for (const std::string& choice : arguments.choices) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < choice.size();) {
      const std::size_t end = std::min(choice.find('+', at), choice.size());
      words.push_back(choice.substr(at, end - at));
      at = end + 1;
    }
    const std::vector<NamedValue> given =
        join(join({{"route", "automatic"}}, given_options(arguments)), parse_options(words));
    all.push_back({ours, fmt::format("automatic | {}", choice),
                   [given](const System& system) { return make_nodewise(system, given); }});
  }
}

/// Ours on all ranks, on as many as costs say, and on given numbers.
void add_nodewise(const Arguments& arguments, const std::string& route, std::vector<Entrant>& all) {
  const auto add = [&](const std::string& ranks, const std::vector<NamedValue>& options) {
    const std::vector<NamedValue> given =
        join(join(given_options(arguments), {{"route", route}}), options);
    all.push_back({ours, fmt::format("{} | {}", route, ranks),
                   [given](const System& system) { return make_nodewise(system, given); }});
  };
  for (const std::string name : {"none", "automatic", "model_2014"}) {
    add(name, {{"redistribution", name}});
  }
  for (const std::string& ranks : arguments.active_ranks) {
    add("ranks " + ranks, {{"redistribution", "ranks"}, {"active_ranks", ranks}});
  }
}

#ifdef NODEWISE_HAVE_HYPRE
/// HMIS, extended+i and four entries a row, which are the defaults of ours too, and then with the
/// first level coarsened aggressively, as a preset of ours may have it.
void add_hypre(std::vector<Entrant>& all) {
  amg::Options usual;
  usual.set("smoother", "gauss_seidel").set("sweep_order", "symmetric");
  amg::Options aggressive = usual;
  aggressive.set("aggressive_levels", 1).set("aggressive_paths", 2);
  const auto add = [&](const std::string& choices, const amg::Options& options) {
    all.push_back({"hypre", choices + " | ",
                   [options](const System& system) { return make_hypre(system, options); }});
  };
  add("usual choices", usual);
  add("aggressive", aggressive);
}
#endif

std::vector<Entrant> entrants_of(const Arguments& arguments) {
  std::vector<Entrant> all;
  if (arguments.choices.empty()) {
    for (const std::string route : {"direct", "automatic"}) add_nodewise(arguments, route, all);
  } else {
    add_choices(arguments, all);
  }
#ifdef NODEWISE_HAVE_HYPRE
  add_hypre(all);
#endif
  return all;
}

/// Those of the fastest of ours, or of the first of hypre; null where there is none.
const Record* fastest_of_ours(const std::vector<Entrant>& entrants,
                              const std::vector<Record>& records) {
  const Record* best = nullptr;
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    if (entrants[k].library != ours || !records[k].solved()) continue;
    const auto median = [](const Record& record) { return spread(record.total_s).median; };
    if (best == nullptr || median(records[k]) < median(*best)) best = &records[k];
  }
  return best;
}
const Record* usual_hypre(const std::vector<Entrant>& entrants,
                          const std::vector<Record>& records) {
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    if (entrants[k].library == "hypre") return records[k].solved() ? &records[k] : nullptr;
  }
  return nullptr;
}

std::string ratio_text(const Record* above, const Record* below) {
  if (above == nullptr || below == nullptr) return "";
  return to_text(spread(ratios(above->total_s, below->total_s)), 2);
}

/// "16, 4, 1 | 6, 10", without the product of the last level, which is solved directly.
std::string levels_text(const std::vector<PeerLevel>& levels) {
  std::vector<int> ranks;
  std::vector<std::int64_t> messages;
  for (const PeerLevel& level : levels) {
    ranks.push_back(level.active_ranks);
    messages.push_back(level.messages_off_node);
  }
  if (!messages.empty()) messages.pop_back();
  return fmt::format("{} | {} | {}", levels.size(), fmt::join(ranks, ", "),
                     fmt::join(messages, ", "));
}

void print(const std::vector<Entrant>& entrants, const std::vector<Record>& records) {
  const Record* best = fastest_of_ours(entrants, records);
  const Record* hypre = usual_hypre(entrants, records);
  std::string text =
      "| | routes | choices | setup, s | solve, s | total, s | first / total | total / best of "
      "Nodewise | hypre / total | iterations | levels | their ranks | messages between nodes in a "
      "product |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const Record* first = records.front().solved() ? &records.front() : nullptr;
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    const Record& r = records[k];
    text += fmt::format("| {} | {} | ", entrants[k].library, entrants[k].choices);
    if (!r.solved()) {
      text += fmt::format("not solved: {} | | | | | | | | | |\n", r.failure);
      continue;
    }
    text += fmt::format(
        "{} | {} | {} | {} | {} | {} | {} | {} |\n", seconds_text(spread(r.setup_s)),
        seconds_text(spread(r.solve_s)), seconds_text(spread(r.total_s)), ratio_text(first, &r),
        ratio_text(&r, best), ratio_text(hypre, &r), r.iterations, levels_text(r.levels));
  }
  std::cout << text << "\n" << std::flush;
}

void solve(const std::string& name, const std::shared_ptr<const Matrix>& A,
           const Arguments& arguments) {
  const System system{A, make_rhs(A->rows()), arguments.tolerance, arguments.max_iterations};
  const std::vector<Entrant> entrants = entrants_of(arguments);
  const std::string load = load_averages();
  std::vector<Record> records(entrants.size());
  std::vector<std::size_t> solved;
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    warm_up(system, entrants[k], records[k]);
    if (!records[k].solved()) continue;
    records[k].forget_times();
    solved.push_back(k);
  }
  run_in_turn(system, entrants, solved, arguments.repeats, records);
  const mpi::Comm& comm = A->comm();
  if (!comm.is_root()) return;
  std::cout << fmt::format("#### {}: {} rows, {} ranks on {} nodes, {} of each\n\n", name,
                           A->rows().n_global(), comm.size(), comm.topology().n_nodes(),
                           counted(arguments.repeats, "solve"));
  print(entrants, records);
  std::cout << fmt::format("Load averages before: {}; after: {}.\n\n", load, load_averages())
            << std::flush;
}

void run(Arguments arguments) {
#ifdef NODEWISE_HAVE_HYPRE
  const std::shared_ptr<void> library = start_hypre();
#endif
  const std::shared_ptr<const mpi::Comm> comm = make_comm(arguments.ranks_per_node);
  if (arguments.active_ranks.empty()) {  // one a node, and one in all from level 2 on
    const std::string nodes = std::to_string(comm->topology().n_nodes());
    arguments.active_ranks = {nodes + ",1", nodes};
  }
  for (const std::string& file : arguments.matrices) {
    const std::string name = std::filesystem::path(file).filename().string();
    solve(name.substr(0, name.find('.')),
          std::make_shared<const Matrix>(io::read_matrix<double>(comm, file)), arguments);
  }
  if (!arguments.matrices.empty()) return;
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    solve(fmt::format("{}, n = {}", problem.name, problem.n), make_matrix(comm, problem),
          arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare whole solves over routes and ranks of coarse levels, and with hypre.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--matrix", arguments.matrices, "files of square matrices, in place of problems");
  app.add_option("--active-ranks", arguments.active_ranks,
                 "lists of ranks by level, such as 4,1; without, by the number of nodes");
  app.add_option("--given", arguments.given, "name=value, an option of all of ours");
  app.add_option("--choice", arguments.choices,
                 "name=a+name=b, options of ours to compare in place of routes and ranks");
  app.add_option("--tolerance", arguments.tolerance, "on the true relative residual");
  app.add_option("--max-iterations", arguments.max_iterations, "of a solve");
  app.add_option("--repeats", arguments.repeats, "runs of each")->check(CLI::PositiveNumber);
  add_ranks_per_node(app, arguments.ranks_per_node);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
