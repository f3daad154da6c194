// A matrix from the standard input.
#pragma once

#include <string>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::cli {

/// What messages call it, and its name on the command line.
inline constexpr const char* standard_input_name = "-";
inline constexpr const char* standard_input_title = "standard input";

/// A temporary file with what rank 0 reads from its standard input, for every rank to open.
class SpooledInput {
 public:
  /// Collective. Throws Failure, the same on every rank, where the ranks are on several nodes,
  /// which have no temporary folder in common, or there is no room.
  explicit SpooledInput(const mpi::Comm& comm);
  /// Local. Removes the file.
  ~SpooledInput();
  SpooledInput(const SpooledInput&) = delete;
  SpooledInput& operator=(const SpooledInput&) = delete;

  const std::string& path() const { return path_; }

 private:
  void spool();
  void remove();

  std::string path_;
  bool is_owner_ = false;
};

}  // namespace nodewise::cli
