// Solves by AMGCL on a card, as a library that is loaded where cuSPARSE is: AMGCL needs it.
// Smoothed aggregation, sparse approximate inverses, conjugate gradients, all in double precision:
// what AMGCL takes by itself, and its one kind of number for cards.
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/cuda.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <tuple>

#include "amgcl_card.hpp"

namespace {

using Backend = amgcl::backend::cuda<double>;
using Multigrid =
    amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;
using Solver = amgcl::make_solver<Multigrid, amgcl::solver::cg<Backend>>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void run(AmgclCardCall& call) {
  const auto n = static_cast<std::ptrdiff_t>(call.n);
  const std::ptrdiff_t nnz = call.begins[n];
  const auto matrix =
      std::make_tuple(n, amgcl::make_iterator_range(call.begins, call.begins + n + 1),
                      amgcl::make_iterator_range(call.cols, call.cols + nnz),
                      amgcl::make_iterator_range(call.vals, call.vals + nnz));
  Backend::params backend;
  AMGCL_CALL_CUDA(cusparseCreate(&backend.cusparse_handle));
  Solver::params params;
  params.solver.tol = call.tolerance;
  const auto begin = Clock::now();
  const Solver solver(matrix, params, backend);
  cudaDeviceSynchronize();
  call.setup_s = seconds_since(begin);
  for (int k = -1; k < call.repeats; ++k) {  // the first warms up
    const thrust::device_vector<double> b(call.b, call.b + n);
    thrust::device_vector<double> x(n, 0.0);
    cudaDeviceSynchronize();
    const auto start = Clock::now();
    call.iterations = static_cast<int>(std::get<0>(solver(b, x)));
    cudaDeviceSynchronize();
    if (k >= 0) call.solve_s[k] = seconds_since(start);
    thrust::copy(x.begin(), x.end(), call.x);
  }
  cusparseDestroy(backend.cusparse_handle);
}

}  // namespace

extern "C" int nodewise_amgcl_card(AmgclCardCall* call) {
  try {
    run(*call);
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(call->message, sizeof(call->message), "%s", error.what());
    return 1;
  }
}
