// Work of one rank, or of one phase, whose failure decides how the program ends.
#pragma once

#include <optional>
#include <utility>

#include "nodewise/mpi/agree.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

/// Runs `work`; an Error of its that is about files leaves as Failure{code}.
template <class Work>
auto about_files(ExitCode code, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    const ExitCode usual = exit_code(error.code());
    const bool is_file = usual == ExitCode::input_file || usual == ExitCode::usage;
    throw Failure(is_file ? code : usual, error.what());
  }
}

/// Collective. Runs the local `work` on rank 0; where it throws a Failure or an Error, every rank
/// throws the same Failure. One broadcast.
template <class Work>
void on_root(const mpi::Comm& comm, Work&& work) {
  std::optional<Failure> failure;
  if (comm.is_root()) {
    try {
      std::forward<Work>(work)();
    } catch (const Failure& caught) {
      failure = caught;
    } catch (...) {
      const Error error = mpi::current_error();
      failure = Failure(exit_code(error.code()), error.what());
    }
  }
  const int code = mpi::broadcast(comm, failure ? static_cast<int>(failure->code()) : -1, 0);
  if (code < 0) return;
  throw Failure(static_cast<ExitCode>(code),
                mpi::broadcast(comm, failure ? std::string(failure->what()) : "", 0));
}

}  // namespace nodewise::cli
