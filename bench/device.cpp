// What a device makes of products, setups, cycles and solves: beside the bandwidth of its copies,
// and to the bit beside the host. One rank; Markdown.
//   nodewise_bench_device --device cuda --problem laplace7:256 laplace27:200
#include <cstring>
#include <iostream>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/device/cg_steps.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/device/vectors.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/offload/cycle.hpp"

#ifdef NODEWISE_CUDA
#include "amgcl_card_peer.hpp"
#include "cusparse_peer.hpp"
#endif
#include "device_setup.hpp"
#include "device_timing.hpp"
#include "measure.hpp"
#include "name_and_value.hpp"
#include "problem.hpp"
#include "program.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;
using device::Buffer;
using device::Host;
using device::Queue;

struct Arguments {
  std::string device = "host";
  std::vector<std::string> problems = {"laplace7:256", "laplace27:200"};
  std::vector<std::string> given;  ///< name=value
  int repeats = 9;
  int copy_megabytes = 1000;
  int threads = 1;  ///< of the host's setup
};

/// Bytes a second at which numbers are read and written elsewhere.
template <class Space>
double copy_rate(Queue<Space>& queue, const Arguments& arguments) {
  const std::int64_t n = std::int64_t{arguments.copy_megabytes} * 1000000 / 16;
  const double one = 1;
  const Buffer<double, Space> factor(queue, std::span<const double>(&one, 1));
  Buffer<double, Space> from(static_cast<std::size_t>(n)), to(static_cast<std::size_t>(n));
  queue.clear(from.data(), from.bytes());
  const Spread s = seconds_of(queue, arguments.repeats, [&] {
    device::scale_into(queue, n, factor.data(), from.data(), to.data());
  });
  return 16.0 * static_cast<double>(n) / s.median;
}

template <class T, class Space>
void print_product(const std::string& name, const Matrix& A, double rate,
                   const Arguments& arguments) {
  Queue<Space> queue;
  const auto matrix = A.with_type<T>();
  const auto layout = device::sell_layout(matrix.on(), matrix.off());
  const device::SellMatrix<T, Space> M(queue, layout);
  const auto n = static_cast<std::size_t>(M.n_rows());
  const std::vector<T> ones(static_cast<std::size_t>(M.n_cols()), T{1});
  const Buffer<T, Space> x(queue, std::span<const T>(ones));
  Buffer<T, Space> y(n);
  const Spread s = seconds_of(queue, arguments.repeats, [&] { M.multiply(x.data(), y.data()); });
  const double bytes = static_cast<double>(layout.nnz) * (sizeof(T) + 4) +
                       static_cast<double>(n) * (2 * sizeof(T) + 8);
  std::cout << fmt::format("| {} | {} | {} | {} | {:.2f} | {} | {:.0f} | {:.0f} |\n", name,
                           sizeof(T) == 8 ? "double" : "single", n, layout.nnz, layout.padding(),
                           milliseconds(s), bytes / s.median / 1e9, 100 * bytes / s.median / rate)
            << std::flush;
}

/// A line; returns the seconds of a solve.
template <class Space>
Spread print_solve(const std::string& name, const std::shared_ptr<const Matrix>& A,
                   const Arguments& arguments) {
  SolverOptions options;
  options.set("device", arguments.device);
  set_from_words(options, arguments.given);
  const Timer setup;
  Solver solver(A, options);
  const double setup_s = setup.seconds();
  const std::vector<double> b = make_rhs(A->rows());
  std::vector<double> x(b.size()), samples;
  for (int k = -1; k < arguments.repeats; ++k) {
    std::fill(x.begin(), x.end(), 0.0);
    const Timer timer;
    solver.solve(b, x);
    if (k >= 0) samples.push_back(timer.seconds());
  }
  if (solver.hierarchy() == nullptr) {  // the cycle is the device's own
    std::cout << fmt::format("| {} | {} | {} | {} | {} | {:.1e} | | {} | {:.3g} |\n", name,
                             solver.options().amg.smoother.name(),
                             solver.record().precision.single ? "single" : "double",
                             solver.record().levels.size(), solver.record().iterations(),
                             true_relative_residual(*A, b, x), milliseconds(spread(samples)),
                             setup_s)
              << std::flush;
    return spread(samples);
  }
  offload::Card<Space> card;
  const amg::MixedPrecisionCycle<double>& cycle = solver.hierarchy()->cycle();
  const auto time_cycle = [&](const auto& host) {
    using T = typename std::decay_t<decltype(host.levels.front().b)>::value_type;
    offload::Cycle<T, Space> there(card, host, offload::restrictions_of(host), {1, 1},
                                   [](const comm::Exchange& /*exchange*/,
                                      std::size_t /*item_bytes*/) { return offload::Leaving(); });
    card.queue.clear(there.b(), static_cast<std::size_t>(A->n_local()) * sizeof(T));
    return seconds_of(card.queue, arguments.repeats, [&] { there.run(); });
  };
  const Spread once = cycle.levels_in_float() != nullptr
                          ? time_cycle(cycle.levels_in_float()->levels())
                          : time_cycle(cycle.levels_in_own_precision());
  std::cout << fmt::format("| {} | {} | {} | {} | {} | {:.1e} | {} | {} | {:.3g} |\n", name,
                           solver.options().amg.smoother.name(),
                           solver.record().precision.single ? "single" : "double",
                           solver.record().levels.size(), solver.record().iterations(),
                           true_relative_residual(*A, b, x), milliseconds(once),
                           milliseconds(spread(samples)), setup_s)
            << std::flush;
  return spread(samples);
}

#ifdef NODEWISE_CUDA

template <class T>
void print_peer(const std::string& name, const Matrix& A, const Arguments& arguments) {
  Queue<device::Cuda> queue;
  const auto matrix = A.with_type<T>();
  const device::SellMatrix<T, device::Cuda> M(queue,
                                              device::sell_layout(matrix.on(), matrix.off()));
  const std::vector<T> ones(static_cast<std::size_t>(M.n_cols()), T{1});
  const Buffer<T, device::Cuda> x(queue, std::span<const T>(ones));
  Buffer<T, device::Cuda> y(static_cast<std::size_t>(M.n_rows()));
  const Spread ours = seconds_of(queue, arguments.repeats, [&] { M.multiply(x.data(), y.data()); });
  const CusparseTimes theirs = time_cusparse(matrix.on(), arguments.repeats);
  const double best = std::min(theirs.csr.median, theirs.sliced_ell.median);
  std::cout << fmt::format("| {} | {} | {} | {} | {} | {:.2f} |\n", name,
                           sizeof(T) == 8 ? "double" : "single", milliseconds(ours),
                           milliseconds(theirs.csr), milliseconds(theirs.sliced_ell),
                           best / ours.median)
            << std::flush;
}

template <class T, class Space>
std::vector<T> read(Queue<Space>& queue, const Buffer<T, Space>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.get(queue, std::span<T>(values));
  return values;
}

/// What a space makes of a product, a residual, a step of a relaxation and sums, from outputs that
/// are no numbers before.
template <class T, class Space>
std::vector<T> all_results(const device::SellLayout<T>& layout, const std::vector<T>& x,
                           const std::vector<T>& b) {
  Queue<Space> queue;
  const device::SellMatrix<T, Space> A(queue, layout);
  const std::vector<T> nothing(b.size(), std::numeric_limits<T>::quiet_NaN());
  const Buffer<T, Space> dx(queue, std::span<const T>(x)), db(queue, std::span<const T>(b));
  std::vector<T> all;
  const auto keep = [&](const Buffer<T, Space>& result) {
    const std::vector<T> values = read(queue, result);
    all.insert(all.end(), values.begin(), values.end());
  };
  Buffer<T, Space> y(queue, std::span<const T>(nothing)), step(queue, std::span<const T>(nothing)),
      next(queue, std::span<const T>(nothing));
  A.multiply(dx.data(), y.data());
  keep(y);
  A.residual(dx.data(), db.data(), y.data());
  keep(y);
  A.multiply_add(dx.data(), y.data());
  keep(y);
  A.relax({T(0), T(0.7)}, db.data(), db.data(), dx.data(), step.data(), next.data());
  A.relax({T(0.3), T(0.9)}, db.data(), db.data(), dx.data(), step.data(), next.data());
  keep(step);
  keep(next);
  return all;
}

template <class Space>
double all_sums(const std::vector<double>& v) {
  Queue<Space> queue;
  const Buffer<double, Space> dv(queue, std::span<const double>(v));
  device::CgSteps<Space> steps(queue, static_cast<std::int64_t>(v.size()));
  steps.square(dv.data());
  device::CgNumbers numbers;
  queue.copy_out(&numbers, steps.numbers(), sizeof(numbers));
  queue.wait();
  return numbers.rr.v[0];
}

/// Whether the card multiplies by long rows as the host does, to the bit: 32 threads take one. The
/// rows are of any length up to twice the mean of 100.
template <class T>
void check_long_rows() {
  constexpr LocalIndex n = 1000;
  kernels::Csr<T> A(n, n);
  Array<Offset> begins = {0};
  Array<LocalIndex> cols;
  for (LocalIndex i = 0; i < n; ++i) {
    for (LocalIndex k = 0; k < i % 201; ++k) {
      cols.push_back((7 * i + 11 * k) % n);
      A.vals.push_back(static_cast<T>((i + 3 * k) % 997) / T(997) - T(0.5));
    }
    begins.push_back(static_cast<Offset>(cols.size()));
  }
  A.row_ptr = std::move(begins);
  A.cols = std::move(cols);
  const std::vector<T> x(A.vals.begin(), A.vals.begin() + n), b(A.vals.end() - n, A.vals.end());
  const auto layout = device::sell_layout(A, kernels::Csr<T>(n, 0));
  const auto host = all_results<T, Host>(layout, x, b);
  const auto card = all_results<T, device::Cuda>(layout, x, b);
  if (layout.lanes != 32 || std::memcmp(host.data(), card.data(), host.size() * sizeof(T)) != 0) {
    throw Error(ErrorCode::internal, "a product by long rows on the card is not that of the host");
  }
}

/// Whether the card does what the host does, to the bit; says how many numbers were compared.
template <class T>
void check_products(const Matrix& A) {
  const auto M = A.with_type<T>();
  const auto layout = device::sell_layout(M.on(), M.off());
  const std::vector<double> values = make_rhs(A.rows());
  std::vector<T> x(values.begin(), values.end()), b(values.rbegin(), values.rend());
  const auto host = all_results<T, Host>(layout, x, b);
  const auto card = all_results<T, device::Cuda>(layout, x, b);
  if (std::memcmp(host.data(), card.data(), host.size() * sizeof(T)) != 0) {
    throw Error(ErrorCode::internal, "a product on the card is not that of the host");
  }
  const double on_host = all_sums<Host>(values), on_card = all_sums<device::Cuda>(values);
  if (on_host != on_card) {
    throw Error(ErrorCode::internal,
                fmt::format("a sum on the card is {:.17g}, on the host {:.17g}", on_card, on_host));
  }
  std::cout << fmt::format("{} numbers in {} precision: the same on card and host, to the bit.\n",
                           host.size() + 1, sizeof(T) == 8 ? "double" : "single");
}

/// The same of a whole setup.
void check_setup(const std::shared_ptr<const Matrix>& A) {
  DeviceSetup<Host> on_host(A);
  DeviceSetup<device::Cuda> on_card(A);
  const std::vector<double> host = all_numbers(on_host), card = all_numbers(on_card);
  if (host.size() != card.size() ||
      std::memcmp(host.data(), card.data(), host.size() * sizeof(double)) != 0) {
    throw Error(ErrorCode::internal, "a setup on the card is not that of the host");
  }
  std::cout << fmt::format("{} numbers of a setup: the same on card and host, to the bit.\n",
                           host.size());
}

#endif

using NamedMatrices = std::vector<std::pair<std::string, std::shared_ptr<const Matrix>>>;

/// Products beside those of cuSPARSE, where the device is a card.
template <class Space>
void print_peers(const NamedMatrices& matrices, const Arguments& arguments) {
#ifdef NODEWISE_CUDA
  if constexpr (std::is_same_v<Space, device::Cuda>) {
    const std::string why_not = why_no_cusparse();
    if (!why_not.empty()) {
      std::cout << "\nNOT MEASURED beside cuSPARSE: " << why_not << ".\n";
      return;
    }
    std::cout << "\n| product | precision | here, ms | cuSPARSE CSR, ms | cuSPARSE sliced ELL, ms "
                 "| its best / here |\n|---|---|---|---|---|---|\n";
    for (const auto& [name, A] : matrices) {
      print_peer<double>(name, *A, arguments);
      print_peer<float>(name, *A, arguments);
    }
  }
#else
  static_cast<void>(matrices);
  static_cast<void>(arguments);
#endif
}

/// Solves beside those of AMGCL, likewise.
template <class Space>
void print_amgcl(const NamedMatrices& matrices, const std::vector<Spread>& solves,
                 const Arguments& arguments) {
#ifdef NODEWISE_CUDA
  if constexpr (std::is_same_v<Space, device::Cuda>) {
    const std::string why_not = why_no_amgcl();
    if (!why_not.empty()) {
      std::cout << "\nNOT MEASURED beside AMGCL: " << why_not << ".\n";
      return;
    }
    std::cout
        << "\n| solve to 1e-8 by AMGCL | iterations | residual | solve, ms | its solve / here "
           "| setup on the host, s |\n|---|---|---|---|---|---|\n";
    for (std::size_t k = 0; k < matrices.size(); ++k) {
      const auto& [name, A] = matrices[k];
      const std::vector<double> b = make_rhs(A->rows());
      const AmgclRun run = run_amgcl(A->on(), b, 1e-8, arguments.repeats);
      std::cout << fmt::format("| {} | {} | {:.1e} | {} | {:.2f} | {:.3g} |\n", name,
                               run.iterations, true_relative_residual(*A, b, run.x),
                               milliseconds(run.solve), run.solve.median / solves[k].median,
                               run.setup_s)
                << std::flush;
    }
  }
#else
  static_cast<void>(matrices);
  static_cast<void>(solves);
  static_cast<void>(arguments);
#endif
}

template <class Space>
void run_in(const std::shared_ptr<const mpi::Comm>& comm, const Arguments& arguments) {
  Queue<Space> queue;
  const double rate = copy_rate(queue, arguments);
  std::cout << fmt::format("Copies: {:.0f} GB/s.\n\n", rate / 1e9);
  NamedMatrices matrices;
  for (const std::string& text : arguments.problems) {
    matrices.emplace_back(text, make_matrix(comm, parse_problem(text)));
  }
  std::cout
      << "| product | precision | rows | entries | places / entries | ms | GB/s | of copies, % |\n"
         "|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, A] : matrices) {
    print_product<double, Space>(name, *A, rate, arguments);
    print_product<float, Space>(name, *A, rate, arguments);
  }
  print_peers<Space>(matrices, arguments);
  std::cout
      << "\n| product of matrices | of | entries | multiplications | new, ms | other values, ms "
         "| of these 10^9 a second |\n|---|---|---|---|---|---|---|\n";
  for (const auto& [name, A] : matrices) print_matrix_products<Space>(name, A, arguments.repeats);
  std::cout << "\n| setup on the device | rows | levels | new, ms | other values, ms | MB |\n"
               "|---|---|---|---|---|---|\n";
  for (const auto& [name, A] : matrices) print_setup<Space>(name, A, arguments.repeats);
  std::cout << "\n| solve to 1e-8 | smoother | cycle in | levels | iterations | residual | cycle, "
               "ms | solve, "
               "ms | setup, s |\n|---|---|---|---|---|---|---|---|---|\n";
  std::vector<Spread> solves;
  for (const auto& [name, A] : matrices) {
    solves.push_back(print_solve<Space>(name, A, arguments));
  }
  print_amgcl<Space>(matrices, solves, arguments);
  std::cout << "\n";
}

void measure_all(const Arguments& arguments) {
  const std::shared_ptr<const mpi::Comm> comm = mpi::Comm::create(MPI_COMM_WORLD);
  if (comm->size() > 1) {
    throw Error(ErrorCode::invalid_argument, "this benchmark is for one rank");
  }
  if (arguments.threads > 1) parallel::set_threads(arguments.threads);
  if (arguments.device == "host") return run_in<Host>(comm, arguments);
  const device::DeviceInfo card = device::cuda_devices();
  if (card.count == 0) throw Error(ErrorCode::unsupported, card.why_none);
#ifdef NODEWISE_CUDA
  std::cout << fmt::format("#### {}, {:.0f} GB\n\n", card.name,
                           static_cast<double>(card.memory) / 1e9);
  for (const char* problem : {"laplace27:20", "rotated_fe:101", "random:3000"}) {
    const auto A = make_matrix(comm, parse_problem(problem));
    check_products<float>(*A);
    check_products<double>(*A);
    check_setup(A);
  }
  check_long_rows<float>();
  check_long_rows<double>();
  run_in<device::Cuda>(comm, arguments);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measure products, cycles and solves on a device; prints Markdown.");
  app.add_option("--device", arguments.device, "host or cuda");
  app.add_option("--problem", arguments.problems, "name:n, one or more");
  app.add_option("--given", arguments.given, "name=value, options of the solver");
  app.add_option("--repeats", arguments.repeats, "runs of each")->check(CLI::PositiveNumber);
  app.add_option("--copy-megabytes", arguments.copy_megabytes, "read and written by a copy");
  app.add_option("--threads", arguments.threads, "of the host")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] { measure_all(arguments); });
}
