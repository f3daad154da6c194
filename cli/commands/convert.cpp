#include "cli/commands/convert.hpp"

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/read.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

ExitCode convert_command(const std::shared_ptr<const mpi::Comm>& world, const Settings& settings) {
  const std::string& target = settings.files.back();
  on_root(*world, [&] {
    io::format_of_name(target);  // throws where the ending is not known
    check_writable(target);
  });
  const LoadedMatrix loaded = load_matrix(*world, world, settings);
  about_files(ExitCode::output_file, [&] { io::write_matrix<double>(target, *loaded.A); });
  Console console(world->is_root(), settings.console);
  console.line(fmt::format("{}: {} x {}, {}", target, grouped(loaded.A->rows().n_global()),
                           grouped(loaded.A->cols().n_global()),
                           counted(loaded.A->nnz_global(), "nonzero")));
  return ExitCode::success;
}

}  // namespace nodewise::cli
