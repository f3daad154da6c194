// `nodewise convert`.
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/io/owner_file.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/partition/division.hpp"
#include "nodewise/partition/part_order.hpp"
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
  if (files == read && settings.has("write-partition")) return;
  fail_usage(
      fmt::format("convert needs {}, but {} given",
                  read == 0 ? "one file to write" : "a file to read and one to write",
                  files == 0 ? "none is" : fmt::format("{} {}", files, files == 1 ? "is" : "are")));
}

void check_convert(const Settings& s) {
  if (s.has_partition()) return;
  for (const char* name : {"write-partition", "virtual-ranks", "ranks-per-node", "node-map",
                           "unknowns", "partition-file", "placement"}) {
    if (s.has(name)) fail_usage(fmt::format("--{} needs --partition METHOD", name));
  }
}

/// The file that the matrix is written to; empty where the partition alone is.
std::string target_of(const Settings& settings) {
  const std::size_t read = settings.is_model_problem() ? 0 : 1;
  return settings.files.size() > read ? settings.files.back() : std::string();
}

/// The rows of the ranks, or of virtual ones, one rank after the other.
class DividedRows {
 public:
  /// Collective.
  DividedRows(const Matrix& A, const Settings& settings) {
    if (settings.has_virtual_ranks()) {
      machine_ = predict::virtual_machine(settings.virtual_machine, settings.placement,
                                          settings.method.placement);
    }
    const mpi::Topology& topology = machine_ ? machine_->topology : A.comm().topology();
    partition::DivisionOptions wanted = {settings.method.partition, settings.method.placement};
    wanted.is_virtual = settings.has_virtual_ranks();
    division_ = about_files(ExitCode::input_file, [&] {
      return partition::divide(wanted, {A, topology, settings.amg.unknowns});
    });
  }
  std::span<const int> owners() const { return division_.owners; }

  /// Collective. The matrix with its rows and columns in that order.
  Matrix in_order(const Matrix& A) const {
    if (!machine_) return matrix::redistribute(A, comm::RowMove::to_owners(A.rows(), owners()));
    return partition::in_order(A,
                               partition::order_of_parts(owners(), machine_->topology.n_ranks()));
  }

  /// "8 ranks on 2 nodes"
  std::string text(const Matrix& A) const {
    const mpi::Topology& topology = machine_ ? machine_->topology : A.comm().topology();
    return fmt::format("{} on {}", counted(topology.n_ranks(), "rank"),
                       counted(topology.n_nodes(), "node"));
  }

 private:
  std::optional<predict::VirtualMachine> machine_;
  partition::Division division_;
};

void write_target(Console& console, const std::string& target, const Matrix& A) {
  if (target.empty()) return;
  about_files(ExitCode::output_file, [&] { io::write_matrix<double>(target, A); });
  console.line(fmt::format("{}: {} x {}, {}", target, grouped(A.rows().n_global()),
                           grouped(A.cols().n_global()), counted(A.nnz_global(), "nonzero")));
}

/// Writes the matrix in the order of the parts, and the parts.
void convert_divided(Console& console, const Matrix& A, const Settings& settings) {
  const DividedRows divided(A, settings);
  const std::string& target = settings.conversion.write_partition;
  if (!target.empty()) {
    about_files(ExitCode::output_file,
                [&] { io::write_owners(target, A.rows(), divided.owners()); });
    console.line(
        fmt::format("{}: {} for {}", target, counted(A.rows().n_global(), "row"), divided.text(A)));
  }
  if (!target_of(settings).empty()) {
    write_target(console, target_of(settings), divided.in_order(A));
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
  });
  const std::shared_ptr<const mpi::Comm> comm =
      settings.has_partition() && !settings.has_virtual_ranks()
          ? run::place(*world, settings.placement, settings.communication)
          : world;
  const LoadedMatrix loaded = load_matrix(*world, comm, settings);
  Console console(world->is_root(), settings.console);
  if (settings.has_partition()) {
    check_shape(*loaded.A);
    convert_divided(console, *loaded.A, settings);
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
                    "convert A.mtx --partition metis --write-partition A.part  # for its ranks"},
       .takes = Affects::matrix | Affects::rows | Affects::placement | Affects::virtual_ranks |
                Affects::conversion | Affects::console,
       .take_arguments = take_files_of_convert,
       .run = run_convert,
       .check = check_convert,
       .writes_matrix = true}};
  return command;
}

}  // namespace nodewise::cli
