// Nodewise beside other libraries, each with choices of its own, on the same systems to the same
// true residual, in the same processes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/io/read.hpp"

#include "contest.hpp"
#include "measure.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems;
  std::vector<std::string> files;
  std::vector<std::string> libraries;  ///< empty: all that are here
  std::string write;                   ///< a folder; empty: solve
  double tolerance = 1e-8;
  int max_iterations = 1000;
  int repeats = 5;
};

/// A run that takes this many times the library's best is not repeated, unless it is so short that
/// it costs nothing, and that warming up tells little.
constexpr double hopeless = 1.75;
constexpr double short_s = 0.02;

using Records = std::vector<Record>;

/// The place of a library's fastest, or -1.
int best_of(const std::string& library, const std::vector<Entrant>& entrants,
            const Records& records) {
  int best = -1;
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    if (entrants[k].library != library || !records[k].solved()) continue;
    const auto median = [&](std::size_t at) { return spread(records[at].total_s).median; };
    if (best < 0 || median(k) < median(static_cast<std::size_t>(best))) best = static_cast<int>(k);
  }
  return best;
}

Records compete(const System& system, const std::vector<Entrant>& entrants, int repeats) {
  Records records(entrants.size());
  for (std::size_t k = 0; k < entrants.size(); ++k) warm_up(system, entrants[k], records[k]);
  std::vector<std::size_t> still;
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    const int best = best_of(entrants[k].library, entrants, records);
    if (!records[k].solved()) continue;
    const double best_s = records[static_cast<std::size_t>(best)].best_s();
    const double limit = std::max(short_s, hopeless * best_s);
    if (records[k].best_s() <= limit) still.push_back(k);
  }
  for (const std::size_t k : still) records[k].forget_times();  // of the warm-up
  run_in_turn(system, entrants, still, repeats, records);
  return records;
}

void print(const std::vector<Entrant>& entrants, const Records& records) {
  std::string text =
      "| library | choices | setup, s | solve, s | total, s | iterations | operator complexity |\n"
      "|---|---|---|---|---|---|---|\n";
  for (std::size_t k = 0; k < entrants.size(); ++k) {
    const Entrant& e = entrants[k];
    const Record& r = records[k];
    text += fmt::format("| {} | {} | ", e.library, e.choices);
    if (!r.solved()) {
      text += fmt::format("not solved: {} | | | | |\n", r.failure);
      continue;
    }
    text += fmt::format("{} | {} | {} | {} | {:.2f} |\n", seconds_text(spread(r.setup_s)),
                        seconds_text(spread(r.solve_s)), seconds_text(spread(r.total_s)),
                        r.iterations, r.operator_complexity);
  }
  std::cout << text << "\n" << std::flush;
}

/// Ratios of one system after another, by the other library's name.
using Ratios = std::map<std::string, std::vector<double>>;

/// The fastest of ours beside the fastest of every other library.
void compare_best(const std::vector<Entrant>& entrants, const Records& records, Ratios& all) {
  const int ours = best_of("Nodewise", entrants, records);
  if (ours < 0) return;
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  for (const std::string library : {"hypre", "PETSc", "AMGCL"}) {
    const int theirs = best_of(library, entrants, records);
    if (theirs < 0) continue;
    const Spread ratio = spread(ratios(records[at(ours)].total_s, records[at(theirs)].total_s));
    all[library].push_back(ratio.median);
    std::cout << fmt::format("- Nodewise ({}) / {} ({}): {}\n", entrants[at(ours)].choices, library,
                             entrants[at(theirs)].choices, to_text(ratio, 2));
  }
}

/// The system in files, for those who solve it elsewhere.
void write(const std::string& name, const Matrix& A, const Arguments& arguments) {
  const std::string stem = arguments.write + "/" + name;
  io::write_matrix(stem + ".petsc", A);
  io::write_vector<double>(stem + "_b.petsc", A.rows(), make_rhs(A.rows()));
}

void solve(const std::string& name, const std::shared_ptr<const Matrix>& A,
           const Arguments& arguments, Ratios& all) {
  if (!arguments.write.empty()) return write(name, *A, arguments);
  const System system{A, make_rhs(A->rows()), arguments.tolerance, arguments.max_iterations};
  // Whoever sets up a system of several unknowns a point knows that it is one.
  const int unknowns = advise::problem_facts(*A).unknowns;
  const std::vector<Entrant> entrants = all_entrants(arguments.libraries, unknowns);
  const std::string load = load_averages();
  const Records records = compete(system, entrants, arguments.repeats);
  const int size = A->comm().size();
  if (!A->comm().is_root()) return;
  std::cout << fmt::format("#### {}, {} rows, {} rank{}{}\n\n", name, A->rows().n_global(), size,
                           size == 1 ? "" : "s",
                           unknowns > 1 ? fmt::format(", {} unknowns a point", unknowns) : "");
  print(entrants, records);
  compare_best(entrants, records, all);
  std::cout << fmt::format("\nLoad averages before: {}; after: {}.\n\n", load, load_averages())
            << std::flush;
}

void print_means(const Ratios& all) {
  for (const auto& [library, values] : all) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    const auto n = static_cast<double>(values.size());
    std::cout << fmt::format(
        "Geometric mean of the fastest Nodewise / the fastest {}: {:.2f} ({})\n", library,
        std::exp(sum / n), values.size());
  }
  std::cout << "\n" << std::flush;
}

void run(const Arguments& arguments) {
  std::vector<std::shared_ptr<void>> libraries;
#ifdef NODEWISE_HAVE_HYPRE
  libraries.push_back(start_hypre());
#endif
#ifdef NODEWISE_HAVE_PETSC
  libraries.push_back(start_petsc());
#endif
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  Ratios of_problems, of_files;
  for (const std::string& text : arguments.problems) {
    const Problem problem = parse_problem(text);
    solve(fmt::format("{}, n = {}", problem.name, problem.n), make_matrix(comm, problem), arguments,
          of_problems);
  }
  for (const std::string& path : arguments.files) {
    solve(std::filesystem::path(path).filename().string(),
          std::make_shared<const Matrix>(io::read_matrix<double>(comm, path)), arguments, of_files);
  }
  if (comm->is_root()) print_means(of_problems);
  if (comm->is_root() && !of_files.empty()) print_means(of_files);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare the best of Nodewise with the best of other libraries; prints Markdown.");
  app.add_option("--problem", arguments.problems, "model problems, name:n");
  app.add_option("--matrix", arguments.files, "files of symmetric positive definite matrices");
  app.add_option("--library", arguments.libraries, "only these: Nodewise, hypre, PETSc, AMGCL");
  app.add_option("--write", arguments.write,
                 "solve nothing; write the systems in PETSc's format to this folder")
      ->check(CLI::ExistingDirectory);
  app.add_option("--tolerance", arguments.tolerance, "on the true relative residual");
  app.add_option("--max-iterations", arguments.max_iterations, "of a solve");
  app.add_option("--repeats", arguments.repeats, "runs of each")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { run(arguments); });
}
