#include "cli/options/settings.hpp"

#include <utility>

#include "nodewise/base/parallel.hpp"
#include "nodewise/solver/presets.hpp"

namespace nodewise::cli {

namespace {

/// A text that is taken as it is; `type` is what the help calls it ("file", "list").
template <class S>
Field<S> text_field(std::string name, std::string S::*member, std::string type,
                    std::string meaning) {
  return {{std::move(name), std::move(type), std::move(meaning), ""},
          [member](const S& s) { return s.*member; },
          [member](S& s, std::string_view text) { s.*member = std::string(text); }};
}

}  // namespace

std::span<const Field<SourceOptions>> source_fields() {
  static const std::vector<Field<SourceOptions>> fields = {
      field("graph_laplacian", &SourceOptions::graph_laplacian,
            "take the file as the adjacency matrix W of a graph and use its grounded Laplacian, "
            "diag(W 1) - W without the last row and column"),
      field("ignore_memory_check", &SourceOptions::ignore_memory_check,
            "start even where the estimated need exceeds the memory available"),
  };
  return fields;
}

std::span<const Field<RhsOptions>> rhs_fields() {
  static const std::vector<Field<RhsOptions>> fields = {
      text_field("rhs", &RhsOptions::rhs, "file",
                 "the right-hand side b, or several, one a column; without it b = A 1, so that "
                 "the error is known"),
      field("random_rhs", &RhsOptions::random_rhs,
            "take standard normal numbers, hashed from the row number, as the right-hand side"),
      field("rhs_seed", &RhsOptions::rhs_seed, "seed of --random-rhs", 0),
      field("rhs_count", &RhsOptions::rhs_count,
            "so many right-hand sides by --random-rhs, of the seeds from --rhs-seed on", 1, 1000),
  };
  return fields;
}

std::span<const Field<PlacementOptions>> placement_fields() {
  static const std::vector<Field<PlacementOptions>> fields = {
      text_field("node_map", &PlacementOptions::node_map, "list",
                 "treat rank r as placed on the r-th node of this list, such as 0,0,1,1; without "
                 "it MPI is asked which ranks share a node"),
      field("ranks_per_node", &PlacementOptions::ranks_per_node,
            "treat every so many successive ranks as one node; 0 asks MPI", 0),
      field("domains", &PlacementOptions::domains,
            "divide nodes by the memory (NUMA domain) or the socket (package) that ranks are bound "
            "to: two_step and three_step are then applied inside the nodes too",
            {"none", "numa", "package"}),
      text_field("domain_map", &PlacementOptions::domain_map, "list",
                 "treat rank r as placed in the r-th domain of this list, counted on each node for "
                 "itself, such as 0,0,1,1"),
      field("threads", &PlacementOptions::threads,
            "threads that each rank runs its loops on; messages are sent by one of them", 1,
            parallel::max_threads),
  };
  return fields;
}

std::span<const Field<MethodOptions>> method_fields() {
  const std::vector<std::string> presets = solver::preset_names();
  const std::vector<Word> words(presets.begin(), presets.end());
  static const std::vector<Field<MethodOptions>> fields = {
      {{"preset", "choice",
        "a named set of options for a kind of problem (docs/methods/presets.md); options that are "
        "given win over it. auto looks at the matrix and says why it chose",
        "", words},
       [](const MethodOptions& s) { return s.preset; },
       [presets, words](MethodOptions& s, std::string_view text) {
         const int k = detail::parse_choice("preset", text, words);
         s.preset = presets[static_cast<std::size_t>(k)];
       }},
      field("solver", &MethodOptions::solver,
            "Krylov method; auto takes cg where the matrix is symmetric, unless all of its "
            "diagonal is negative, and gmres where it is not",
            {"auto", "cg", "flexible_cg", "pipelined_cg", "enlarged_cg", "minres", "gmres",
             "fgmres", "bicgstab", "stationary"}),
      field("preconditioner", &MethodOptions::preconditioner,
            "algebraic multigrid, division by the diagonal, or nothing", {"amg", "jacobi", "none"}),
  };
  return fields;
}

std::span<const Field<KnowledgeOptions>> knowledge_fields() {
  static const std::vector<Field<KnowledgeOptions>> fields = {
      text_field("near_null_space", &KnowledgeOptions::near_null_space, "file",
                 "vectors that the matrix nearly maps to zero, one a column, which an aggregation "
                 "is to represent; without them, the constant of every unknown"),
      text_field(
          "left_near_null_space", &KnowledgeOptions::left_near_null_space, "file",
          "as many vectors that the transposed matrix nearly maps to zero, for --restriction "
          "smoothed; without them, those of the matrix"),
      text_field("coordinates", &KnowledgeOptions::coordinates, "file",
                 "the coordinates of the points, one a row: the near null space is then that of "
                 "linear elasticity, the rigid body modes, with as many unknowns as coordinates"),
  };
  return fields;
}

std::span<const Field<ResultOptions>> result_fields() {
  static const std::vector<Field<ResultOptions>> fields = {
      text_field("output", &ResultOptions::output, "file",
                 "write the solution x; calibrate: the machine file"),
      field("output_anyway", &ResultOptions::output_anyway,
            "write the best iterate even where the solver did not converge"),
      text_field("json", &ResultOptions::json, "file", "write the report as JSON"),
      field("profile", &ResultOptions::profile,
            "print the messages and the time of every operation on every level"),
  };
  return fields;
}

std::span<const Field<ConsoleOptions>> console_fields() {
  static const std::vector<Field<ConsoleOptions>> fields = {
      field("quiet", &ConsoleOptions::quiet, "print nothing but errors"),
      field("progress", &ConsoleOptions::progress,
            "one line that changes, or a line for every level and iteration; auto takes live on a "
            "terminal and lines elsewhere",
            {"auto", "live", "lines"}),
  };
  return fields;
}

std::span<const Field<VirtualOptions>> virtual_fields() {
  constexpr int most_ranks = 10'000'000;
  static const std::vector<Field<VirtualOptions>> fields = {
      field(
          "virtual_ranks", &VirtualOptions::virtual_ranks,
          "count, or predict, what so many ranks would send to each other; needs --ranks-per-node "
          "or --node-map, which place them; 0: count nothing",
          0, most_ranks),
      field("placement", &VirtualOptions::placement,
            "with --ranks-per-node: successive virtual ranks fill one node after the other, or go "
            "to the next node each",
            {"block", "round_robin"}),
      text_field("routes", &VirtualOptions::routes, "list",
                 "the routes of virtual ranks to look at, some of direct, two_step, three_step"),
  };
  return fields;
}

std::span<const Field<PredictOptions>> predict_fields() {
  static const std::vector<Field<PredictOptions>> fields = {
      text_field(
          "machine", &PredictOptions::machine, "machine",
          "the machine whose costs are taken, for predictions or --route automatic (without it a "
          "short look at the network), and whose memory --profile compares with: a machine file, "
          "or "
          "the name of a shipped one"),
      text_field("rank_counts", &PredictOptions::rank_counts, "list",
                 "predict a cycle on each of these numbers of ranks, too, such as 64,512,4096: a "
                 "curve of strong scaling"),
      field("arrival", &PredictOptions::arrival,
            "in which order messages reach a rank, compared with that of its receives, which "
            "decides how long queues are searched",
            {"in_order", "random", "observed", "reversed"}),
      field("s_per_flop", &PredictOptions::s_per_flop,
            "the time of a floating-point operation of a sparse product, in seconds, in the place "
            "of what the machine says; 0: what it says",
            0.0, 1.0),
  };
  return fields;
}

std::span<const Field<CalibrateOptions>> calibrate_fields() {
  static const std::vector<Field<CalibrateOptions>> fields = {
      field("seconds", &CalibrateOptions::seconds,
            "about how long to measure; everything is measured at least once", 0, 86400),
      field("largest_message", &CalibrateOptions::largest_message,
            "the longest message of ping-pong and injection, in bytes", 4096, 1073741824),
      text_field("base", &CalibrateOptions::base, "machine",
                 "a machine file, or the name of a machine that is part of the program, for what "
                 "cannot be measured on these ranks"),
      text_field("name", &CalibrateOptions::name, "text", "what to call the machine in its file"),
  };
  return fields;
}

std::span<const Field<TuneOptions>> tune_fields() {
  static const std::vector<Field<TuneOptions>> fields = {
      field("max_seconds", &TuneOptions::max_seconds,
            "begin no candidate after this time; an iteration of one in progress is its last", 0.0),
      field("max_candidates", &TuneOptions::max_candidates,
            "the most combinations of options that are tried", 1, 1000),
  };
  return fields;
}

std::span<const Field<BenchOptions>> bench_fields() {
  static const std::vector<Field<BenchOptions>> fields = {
      field("vectors", &BenchOptions::vectors,
            "how many vectors side by side the product with several has", 2, 64),
  };
  return fields;
}

std::span<const Field<PageOptions>> page_fields() {
  static const std::vector<Field<PageOptions>> fields = {
      field("markdown", &PageOptions::markdown, "print the reference page docs/options.md"),
      field("exit_codes", &PageOptions::exit_codes, "print the reference page docs/exit-codes.md"),
      field("presets", &PageOptions::presets, "print the table of presets"),
  };
  return fields;
}

}  // namespace nodewise::cli
