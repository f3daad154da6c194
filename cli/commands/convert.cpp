// `nodewise convert`.
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/owner_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/partition/arrangement.hpp"
#include "nodewise/predict/predict.hpp"

#include "cli/agreed.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

void take_files_of_convert(Settings& settings) {
  const std::size_t files = settings.files.size();
  const std::size_t read = settings.is_model_problem() ? 0 : 1;
  if (files == read + 1) return;
  const bool writes_else = settings.has("write-partition") || settings.has("write-order");
  if (files == read && writes_else) return;
  fail_usage(
      fmt::format("convert needs {}, but {} given",
                  read == 0 ? "one file to write" : "a file to read and one to write",
                  files == 0 ? "none is" : fmt::format("{} {}", files, files == 1 ? "is" : "are")));
}

void check_convert(const Settings& s) {
  if (s.arranges_rows()) return;
  for (const char* name : {"write-partition", "virtual-ranks", "ranks-per-node", "node-map",
                           "unknowns", "partition-file", "placement"}) {
    if (s.has(name)) fail_usage(fmt::format("--{} needs --partition METHOD", name));
  }
  if (s.has("write-order")) {
    fail_usage("--write-order needs --partition METHOD, --balance or --reorder METHOD");
  }
}

/// The file that the matrix is written to; empty where the partition alone is.
std::string target_of(const Settings& settings) {
  const std::size_t read = settings.is_model_problem() ? 0 : 1;
  return settings.files.size() > read ? settings.files.back() : std::string();
}

/// The rows of the ranks, or of virtual ones, one rank after the other.
class ArrangedRows {
 public:
  /// Collective.
  ArrangedRows(const Matrix& A, const Settings& settings) : rows_(A.rows()) {
    if (settings.has_virtual_ranks()) {
      machine_ = predict::virtual_machine(settings.virtual_machine, settings.placement,
                                          settings.method.placement);
    }
    const solver::MethodOptions& method = settings.method;
    partition::ArrangementOptions wanted = {{method.partition, method.placement}, method.reorder};
    wanted.division.is_virtual = settings.has_virtual_ranks();
    wanted.division.balance = method.balance;
    arrangement_ = about_files(ExitCode::input_file, [&] {
      return partition::Arrangement(wanted, {A, topology(), settings.amg.unknowns});
    });
  }

  /// Collective. The rank, or virtual rank, of each row.
  std::vector<int> owners() const {
    const std::vector<GlobalIndex>& starts = arrangement_->virtual_starts();
    if (!arrangement_->moves()) {
      return std::vector<int>(static_cast<std::size_t>(rows_.n_local()), rows_.comm().rank());
    }
    const comm::Layout& to = arrangement_->steps().back().to();
    std::vector<GlobalIndex> there(static_cast<std::size_t>(to.n_local()), rows_.comm().rank());
    for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
      std::fill(there.begin() + starts[r], there.begin() + starts[r + 1],
                static_cast<GlobalIndex>(r));
    }
    std::vector<GlobalIndex> here(static_cast<std::size_t>(rows_.n_local()));
    arrangement_->back(std::span<const GlobalIndex>(there), std::span(here));
    return {here.begin(), here.end()};
  }

  /// Collective. The matrix with its rows and columns in that order.
  Matrix in_order(const Matrix& A) const {
    return arrangement_->moves() ? arrangement_->there(A) : A;
  }

  /// Collective. Writes which row each one was.
  void write_order(const std::string& path) const {
    std::vector<GlobalIndex> numbers(static_cast<std::size_t>(rows_.n_local()));
    std::iota(numbers.begin(), numbers.end(), rows_.begin());
    if (!arrangement_->moves()) return io::write_order(path, rows_, numbers);
    io::write_order(path, arrangement_->steps().back().to(),
                    arrangement_->there(std::span<const GlobalIndex>(numbers)));
  }

  /// "8 ranks on 2 nodes"
  std::string text() const {
    return fmt::format("{} on {}", counted(topology().n_ranks(), "rank"),
                       counted(topology().n_nodes(), "node"));
  }

 private:
  const mpi::Topology& topology() const {
    return machine_ ? machine_->topology : rows_.comm().topology();
  }

  comm::Layout rows_;
  std::optional<predict::VirtualMachine> machine_;
  std::optional<partition::Arrangement> arrangement_;
};

void write_target(Console& console, const std::string& target, const Matrix& A) {
  if (target.empty()) return;
  about_files(ExitCode::output_file, [&] { io::write_matrix<double>(target, A); });
  console.line(fmt::format("{}: {} x {}, {}", target, grouped(A.rows().n_global()),
                           grouped(A.cols().n_global()), counted(A.nnz_global(), "nonzero")));
}

/// Writes the matrix as it is arranged, the parts, and the order.
void convert_arranged(Console& console, const Matrix& A, const Settings& settings) {
  const ArrangedRows arranged(A, settings);
  const std::string rows = counted(A.rows().n_global(), "row");
  if (const std::string& target = settings.conversion.write_partition; !target.empty()) {
    const std::vector<int> owners = arranged.owners();
    about_files(ExitCode::output_file, [&] { io::write_owners(target, A.rows(), owners); });
    console.line(fmt::format("{}: {} for {}", target, rows, arranged.text()));
  }
  if (const std::string& target = settings.conversion.write_order; !target.empty()) {
    about_files(ExitCode::output_file, [&] { arranged.write_order(target); });
    console.line(fmt::format("{}: the order of {}", target, rows));
  }
  if (!target_of(settings).empty()) {
    write_target(console, target_of(settings), arranged.in_order(A));
  }
}

/// Reads or makes a matrix and writes it in the format of the output's name.
ExitCode run_convert(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  const Settings& settings = call.settings;
  const std::string target = target_of(settings);
  if (settings.has_virtual_ranks()) predict::check_one_process(*world, "divides rows");
  on_root(*world, [&] {
    if (!target.empty()) io::format_of_name(target);  // throws where the ending is not known
    check_writable(target);
    check_writable(settings.conversion.write_partition);
    check_writable(settings.conversion.write_order);
  });
  const std::shared_ptr<const mpi::Comm> comm =
      settings.arranges_rows() && !settings.has_virtual_ranks()
          ? run::place(*world, settings.placement, settings.communication)
          : world;
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  Console console(world->is_root(), settings.console);
  if (settings.arranges_rows()) {
    check_shape(*loaded.A);
    convert_arranged(console, *loaded.A, settings);
  } else {
    write_target(console, target, *loaded.A);
  }
  return ExitCode::success;
}

}  // namespace

const Command& convert_command() {
  static const Command command = {
      {"convert", "write a matrix, or a model problem, in the format that OUT's name ends in", ""},
      {.usage = "IN OUT | --problem NAME OUT",
       .examples = {"convert A.mtx A.petsc", "convert A.petsc A.mtx.gz",
                    "convert -p laplace5 -n 100 A.mtx",
                    "convert A.mtx --partition metis --write-partition A.part  # for its ranks",
                    "convert A.mtx B.mtx --reorder rcm_global"},
       .takes = Affects::matrix | Affects::rows | Affects::placement | Affects::virtual_ranks |
                Affects::conversion | Affects::console,
       .take_arguments = take_files_of_convert,
       .run = run_convert,
       .check = check_convert,
       .writes_matrix = true}};
  return command;
}

}  // namespace nodewise::cli
