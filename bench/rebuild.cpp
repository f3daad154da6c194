// Setting up again for new values on the same pattern, beside the setup itself.
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/hierarchy.hpp"

#include "measure.hpp"
#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

struct Arguments {
  std::vector<std::string> problems = {"laplace27:60", "rotated_fe:600"};
  std::vector<std::string> amg;  ///< name=value
  int repeats = 5;
};

/// Options of hierarchies that are compared.
struct Variant {
  std::string name;
  std::vector<std::string> amg;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string method : {"classical", "aggregation"}) {
    for (const std::string cycle : {"v", "w", "f", "k"}) {
      all.push_back({method + ", " + cycle, {"method=" + method, "cycle=" + cycle}});
    }
  }
  all.push_back({"classical, chebyshev", {"smoother=chebyshev"}});
  all.push_back({"classical, single precision", {"precision=single"}});
  return all;
}

struct Entrant {
  Variant variant;
  amg::Options options;
  std::vector<double> setup_s, first_s, again_s;
};

/// One setup, the rebuild that plans, and one that knows the way; the values change each time.
void measure(Entrant& entrant, const std::shared_ptr<const Matrix>& A,
             const std::shared_ptr<const Matrix>& other) {
  const mpi::Comm& comm = A->comm();
  std::unique_ptr<amg::Hierarchy<double>> hierarchy;
  entrant.setup_s.push_back(timed(
      comm, [&] { hierarchy = std::make_unique<amg::Hierarchy<double>>(A, entrant.options); }));
  entrant.first_s.push_back(timed(comm, [&] { hierarchy->rebuild(other); }));
  entrant.again_s.push_back(timed(comm, [&] { hierarchy->rebuild(A); }));
}

/// The entries on arrays of their own, as whoever assembles in every step has them, larger by half.
std::shared_ptr<const Matrix> with_other_values(const std::shared_ptr<const mpi::Comm>& comm,
                                                const Problem& problem) {
  const std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
  Array<double> on = A->on().vals;
  Array<double> off = A->off().vals;
  for (double& value : on) value *= 1.5;
  for (double& value : off) value *= 1.5;
  return std::make_shared<const Matrix>(A->with_values(std::move(on), std::move(off)));
}

void print(const std::vector<Entrant>& entrants) {
  std::cout << "| hierarchy | setup, s | first rebuild, s | rebuild, s | first / setup, % | "
               "rebuild / setup, % |\n|---|---|---|---|---|---|\n";
  const auto percent = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> shares = ratios(a, b);
    for (double& share : shares) share *= 100;
    return to_text(spread(shares), 0);
  };
  for (const Entrant& e : entrants) {
    std::cout << fmt::format("| {} | {} | {} | {} | {} | {} |\n", e.variant.name,
                             seconds_text(spread(e.setup_s)), seconds_text(spread(e.first_s)),
                             seconds_text(spread(e.again_s)), percent(e.first_s, e.setup_s),
                             percent(e.again_s, e.setup_s));
  }
}

amg::Options options_of(const Variant& variant, const Arguments& arguments) {
  amg::Options options;
  set_from_words(options, variant.amg);
  set_from_words(options, arguments.amg);
  return options;
}

void run(const std::shared_ptr<const mpi::Comm>& comm, const Problem& problem,
         const Arguments& arguments) {
  const std::shared_ptr<const Matrix> A = make_matrix(comm, problem);
  const std::shared_ptr<const Matrix> other = with_other_values(comm, problem);
  std::vector<Entrant> entrants;
  for (const Variant& variant : variants()) {
    entrants.push_back({variant, options_of(variant, arguments), {}, {}, {}});
  }
  const std::string load = load_averages();
  for (int repeat = 0; repeat < arguments.repeats; ++repeat) {  // in turn, each time another first
    for (std::size_t k = 0; k < entrants.size(); ++k) {
      measure(entrants[(k + static_cast<std::size_t>(repeat)) % entrants.size()], A, other);
    }
  }
  if (!comm->is_root()) return;
  std::cout << fmt::format("#### {}, n = {}, {} rank{}\n\n", problem.name, problem.n, comm->size(),
                           comm->size() == 1 ? "" : "s");
  print(entrants);
  std::cout << fmt::format("\nLoad averages before: {}; after: {}.\n\n", load, load_averages())
            << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Compare rebuilding a hierarchy for new values with its setup; prints Markdown.");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--amg", arguments.amg, "name=value, an option of all hierarchies");
  app.add_option("--repeats", arguments.repeats, "setups of each hierarchy")
      ->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] {
    const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
    for (const std::string& text : arguments.problems) run(comm, parse_problem(text), arguments);
  });
}
