// Signals that ask the program to end.
#pragma once

namespace nodewise::cli {

/// Local. From now on SIGINT, SIGTERM and SIGHUP remove unfinished files before they end the
/// process.
void handle_signals();

/// While one exists, a first signal does not end the process: the work that goes on asks
/// is_interrupted() and ends itself. A second signal ends the process.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

/// Local. Whether a signal has come.
bool is_interrupted() noexcept;

}  // namespace nodewise::cli
