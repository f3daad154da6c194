#include "cli/interruption.hpp"

#include <csignal>

#include "nodewise/io/replacement.hpp"

namespace nodewise::cli {

namespace {

volatile std::sig_atomic_t watched = 0;
volatile std::sig_atomic_t come = 0;

extern "C" void on_signal(int number) {
  if (watched != 0 && come == 0) {
    come = 1;
    return;
  }
  io::remove_unfinished();
  std::signal(number, SIG_DFL);
  std::raise(number);  // delivered when this handler returns
}

}  // namespace

void handle_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // What the program was started to ignore (nohup) it goes on ignoring.
    if (std::signal(number, on_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

Interruptible::Interruptible() {
  watched = 1;
}

Interruptible::~Interruptible() {
  watched = 0;
}

bool is_interrupted() noexcept {
  return come != 0;
}

}  // namespace nodewise::cli
