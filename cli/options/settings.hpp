// Everything the command line can say, as plain structs with defaults and one table of fields each.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/calibrate/options.hpp"
#include "nodewise/eigen/options.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/predict/options.hpp"
#include "nodewise/roofline/options.hpp"
#include "nodewise/run/placement.hpp"
#include "nodewise/solve/report.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/tune.hpp"

#include "cli/commands/command.hpp"

namespace nodewise::cli {

enum class ProgressChoice { automatic, live, lines };
enum class Shell { none, bash, zsh };

/// What is made of the matrix file, for every command that reads one.
struct SourceOptions {
  bool graph_laplacian = false;
  bool ignore_memory_check = false;
  /// A caller's own, in place of a file; null: there is none.
  std::shared_ptr<const matrix::DistMatrix<double>> given = nullptr;
};

struct RhsOptions {
  std::string rhs;
  bool random_rhs = false;
  bool problem_rhs = false;
  int rhs_seed = 0;
  int rhs_count = 1;
  bool remove_constants = false;
  std::string initial_guess;
};

struct OptionsFile {
  std::string options;  ///< a file of them
};

/// What makes the problem of eigenpairs a generalised one.
struct MassOptions {
  std::string mass;  ///< the file of B
};

/// What is known of the problem besides its matrix.
struct KnowledgeOptions {
  std::string near_null_space;
  std::string left_near_null_space;
  std::string coordinates;
  std::string row_fields;
};

/// What is written of a matrix besides itself.
struct ConversionOptions {
  std::string write_partition;
  std::string write_order;
};

struct ResultOptions {
  std::string output;
  bool output_anyway = false;
  std::string json;
  std::string report;  ///< a page, which the Python package makes
  bool profile = false;
  bool details = false;
};

struct ConsoleOptions {
  bool quiet = false;
  ProgressChoice progress = ProgressChoice::automatic;
};

/// What `nodewise options` prints.
struct PageOptions {
  bool markdown = false;
  bool exit_codes = false;
  bool presets = false;
  bool man = false;
  Shell completion = Shell::none;
};

/// One parsed command line.
struct Settings {
  const Command* command = nullptr;  ///< null: the help of the program
  bool help = false;                 ///< --help after a command
  bool help_all = false;             ///< --help-all
  std::vector<std::string> files;    ///< positional arguments
  std::set<std::string> given;       ///< long names of the options that were given, without dashes

  SourceOptions source;
  io::GalleryOptions gallery;
  RhsOptions rhs;
  run::PlacementOptions placement;
  mpi::CommSettings communication;
  OptionsFile options_file;
  solver::MethodOptions method;
  solve::Options solver;
  eigen::Options eigen;  ///< tolerance and iterations are those of `solver`
  MassOptions mass;
  amg::Options amg;
  /// What was given of `amg`, by names of the library and in the order of the tables. What belongs
  /// to a method that only the preset will choose is here alone until then.
  std::vector<NamedValue> given_amg;
  /// What was given of options that belong to a Krylov method, likewise.
  std::vector<NamedValue> given_of_methods;
  KnowledgeOptions knowledge;
  ResultOptions result;
  ConversionOptions conversion;
  ConsoleOptions console;
  predict::VirtualOptions virtual_machine;
  calibrate::CalibrateOptions calibrate;
  predict::PredictOptions predict;
  solver::TuneOptions tune;
  std::string benchmark;  // what `bench` measures
  roofline::BenchOptions bench;
  PageOptions page;

  bool has(const std::string& option) const { return given.count(option) != 0; }
  /// What was given of an option of a method that is not chosen yet; none where nothing was.
  std::optional<std::string> given_text(std::string_view name) const;
  bool is_model_problem() const { return has("problem"); }
  bool gives_near_null_space() const { return has("near-null-space") || has("coordinates"); }
  /// Whether a near null space is given, or is that of a model problem: then unless another method
  /// than aggregation is asked for, which has no use for it.
  bool knows_near_null_space() const;
  /// Whether the preset may be `elasticity`, by name, by the rule or by trial.
  bool may_be_elasticity() const;
  /// Whether some route is to be chosen.
  bool asks_for_routes() const;
  /// Whether routes, ranks of levels, what they lose, or places of parts are to be chosen by costs.
  bool asks_for_costs() const;
  /// Whether costs may choose how data leave devices.
  bool chooses_ways_of_devices() const;
  /// Whether rows may change their ranks, or their order.
  bool arranges_rows() const {
    return method.partition.is_automatic() || method.partition->moves_rows ||
           method.balance != partition::Balance::automatic || method.reorder->renumbers;
  }
  bool has_virtual_ranks() const { return virtual_machine.virtual_ranks > 0; }
};

std::span<const Field<SourceOptions>> source_fields();
std::span<const Field<RhsOptions>> rhs_fields();
std::span<const Field<OptionsFile>> options_file_fields();
std::span<const Field<MassOptions>> mass_fields();
std::span<const Field<KnowledgeOptions>> knowledge_fields();
std::span<const Field<ResultOptions>> result_fields();
std::span<const Field<ConversionOptions>> conversion_fields();
std::span<const Field<ConsoleOptions>> console_fields();
std::span<const Field<PageOptions>> page_fields();

}  // namespace nodewise::cli
