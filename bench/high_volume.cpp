// Many messages at once between ranks of a node, the same bytes in all: algorithm 3.1 and figures
// 3.3 and 3.4 of Bienz 2018. Receives are posted in the order of the sends, and in the opposite
// one. A line of JSON for each number of messages, the median of the rounds of the slowest pair;
// then one for each order, with the cost of searching queues that is fitted to it.
//   mpirun -n 2 nodewise_bench_high_volume --bytes 65536 --messages 1,16,256,4096
#include <algorithm>
#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/calibrate/ping_pong.hpp"
#include "nodewise/model/fit.hpp"

#include "program.hpp"

namespace {

using namespace nodewise;

struct Arguments {
  int repeats = 21;
  double bytes = 65536;
  std::vector<int> messages = {1, 4, 16, 64, 256, 1024, 4096};
};

struct Point {
  int messages = 0;
  bool reversed = false;
  std::vector<double> seconds = {};

  double median() const {
    std::vector<double> sorted = seconds;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
};

/// Each rank of the first half talks with one of the second.
std::vector<calibrate::RankPair> halves(const mpi::Comm& comm) {
  if (comm.size() < 2) throw Error(ErrorCode::invalid_argument, "needs 2 ranks");
  std::vector<calibrate::RankPair> pairs;
  for (int r = 0; r < comm.size() / 2; ++r) pairs.emplace_back(r, r + comm.size() / 2);
  return pairs;
}

std::vector<Point> measure(const mpi::Comm& comm, const Arguments& arguments) {
  calibrate::Talk talk(comm, arguments.bytes);
  const bool speaks = talk.join(halves(comm));
  std::vector<Point> points;
  for (const int n : arguments.messages) {
    for (const bool reversed : {false, true}) points.push_back({n, reversed});
  }
  for (int k = 0; k <= arguments.repeats; ++k) {  // the first one warms up
    for (Point& point : points) {
      const double bytes = std::floor(arguments.bytes / point.messages);
      const double mine = speaks ? talk.high_volume(point.messages, bytes, point.reversed) : 0;
      double longest = 0;
      mpi::check(MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                 "MPI_Allreduce");
      if (k > 0) point.seconds.push_back(longest);
    }
  }
  return points;
}

void write(const mpi::Comm& comm, const std::vector<Point>& points, const Arguments& arguments) {
  if (comm.rank() != 0) return;
  for (const bool reversed : {false, true}) {
    const char* const order = reversed ? "reversed" : "in_order";
    std::vector<model::VolumeSample> samples;
    for (const Point& point : points) {
      if (point.reversed != reversed) continue;
      samples.push_back({static_cast<double>(point.messages), point.median()});
      std::cout << fmt::format(
          "{{\"ranks\": {}, \"bytes\": {:.0f}, \"messages\": {}, \"order\": \"{}\", \"seconds\": "
          "{:.4e}}}\n",
          comm.size(), arguments.bytes, point.messages, order, point.median());
    }
    const model::QueueFit fit = model::fit_queue(samples);
    std::cout << fmt::format(
        "{{\"ranks\": {}, \"bytes\": {:.0f}, \"fit\": \"{}\", \"base_s\": {:.4e}, "
        "\"per_message_s\": {:.4e}, \"queue_search_s\": {:.4e}, \"relative_error\": {:.3f}}}\n",
        comm.size(), arguments.bytes, order, fit.base_s.value, fit.per_message_s.value,
        fit.queue_search_s.value, fit.relative_error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Many messages at once between ranks of a node, the same bytes in all");
  app.add_option("--bytes", arguments.bytes, "of all messages of a rank together");
  app.add_option("--messages", arguments.messages, "numbers of messages, four at least")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", arguments.repeats)->check(CLI::PositiveNumber);
  return bench::run_program(app, argc, argv, [&] {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD);
    write(*comm, measure(*comm, arguments), arguments);
  });
}
