#include "nodewise/io/collective.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

void share_error(const mpi::Comm& comm, const std::optional<Error>& error, int root) {
  constexpr int none = -1;
  const int code = mpi::broadcast(comm, error ? static_cast<int>(error->code()) : none, root);
  if (code == none) return;
  const std::string text = mpi::broadcast(comm, error ? std::string(error->what()) : "", root);
  throw Error(static_cast<ErrorCode>(code), text);
}

void share_first_error(const mpi::Comm& comm, const std::optional<Error>& error) {
  const int failed = mpi::min(comm, error ? comm.rank() : comm.size());
  if (failed < comm.size()) share_error(comm, error, failed);
}

void require_memory(const mpi::Comm& comm, std::int64_t bytes, const std::string& what) {
  const std::vector<std::int64_t> all = mpi::gather_all(comm, bytes);
  const mpi::Topology& topology = comm.topology();
  std::optional<Error> error;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * page;
  double needed = 0;
  for (int r = 0; r < comm.size(); ++r) {
    if (topology.same_node(r, comm.rank())) {
      needed += static_cast<double>(all[static_cast<std::size_t>(r)]);
    }
  }
  if (there > 0 && needed > there) {
    error.emplace(ErrorCode::out_of_memory,
                  fmt::format("{} needs {:.1f} GiB on a machine that has {:.1f} GiB", what,
                              needed / (1 << 30), there / (1 << 30)));
  }
  share_first_error(comm, error);
}

}  // namespace nodewise::io
