#include "nodewise/calibrate/stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <time.h>

namespace nodewise::calibrate {

namespace {

/// Waits without taking the core from those that measure.
void wait_quietly(MPI_Request& request) {
  for (int tries = 0;; ++tries) {
    int done = 0;
    mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (tries < 100) continue;  // those that are about to come are not waited for asleep
    const timespec pause{0, 100'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

double PathTimes::largest_latency_s() const {
  double largest = std::numeric_limits<double>::quiet_NaN();
  for (const Repeats& of_pair : shortest) {
    if (!of_pair.empty()) largest = std::fmax(largest, of_pair.median());
  }
  return largest;
}

double Repeats::median() const {
  return quantile(0.5);
}

double Repeats::quantile(double part) const {
  if (seconds.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double OverlapTimes::fraction() const {
  const double m = message.median();
  const double w = work.median();
  return std::clamp((m + w - both.median()) / std::min(m, w), 0.0, 1.0);
}

Stopwatch::Stopwatch(std::shared_ptr<const mpi::Comm> comm, double seconds, double total_weight,
                     PartObserver observe)
    : comm_(std::move(comm)),
      observe_(std::move(observe)),
      seconds_(seconds),
      weight_left_(total_weight),
      end_(seconds) {}

void Stopwatch::begin(const std::string& part, double weight) {
  const double left = std::max(seconds_ - now_, 0.0);
  begin_ = now_;
  end_ = now_ + left * std::min(weight / std::max(weight_left_, weight), 1.0);
  weight_left_ -= weight;
  if (observe_) observe_(now_, part);
}

double Stopwatch::longest(double mine) {
  const double local[2] = {mine, timer_.seconds()};
  double all[2] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(local, all, 2, MPI_DOUBLE, MPI_MAX, comm_->get(), &request),
             "MPI_Iallreduce");
  wait_quietly(request);
  now_ = all[1];
  return all[0];
}

void measure_in_turn(Stopwatch& stopwatch, std::size_t count, int most_repeats,
                     const std::function<double(std::size_t)>& measure,
                     const std::function<void(std::size_t, double)>& warm_up,
                     const std::function<void(std::size_t, double)>& store) {
  for (int repeat = 0; repeat <= most_repeats; ++repeat) {
    for (std::size_t k = 0; k < count; ++k) {
      if (repeat > 1 && !stopwatch.is_time_left()) return;
      const double seconds = stopwatch.longest(measure(k));
      // A clock that does not resolve what it measures has measured nothing.
      if (seconds > 0) (repeat == 0 ? warm_up : store)(k, seconds);
    }
  }
}

}  // namespace nodewise::calibrate
