#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/iteration.hpp"
#include "nodewise/solve/krylov.hpp"

namespace nodewise::solve {

namespace {

/// A number that is no method. Takes part in the agreement that every method begins with, so that
/// ranks that were given a method say the same.
void refuse(Method method, const mpi::Comm& comm) {
  const auto error = mpi::caught([&] {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("solve: no method has the number {}", static_cast<int>(method)));
  });
  mpi::agree_on_same(comm, error, {0, agreed_arguments});
}

}  // namespace

const char* to_string(Method method) noexcept {
  switch (method) {
    case Method::cg:
      return "cg";
    case Method::flexible_cg:
      return "flexible_cg";
    case Method::pipelined_cg:
      return "pipelined_cg";
    case Method::enlarged_cg:
      return "enlarged_cg";
    case Method::minres:
      return "minres";
    case Method::gmres:
      return "gmres";
    case Method::fgmres:
      return "fgmres";
    case Method::bicgstab:
      return "bicgstab";
    case Method::stationary:
      return "stationary";
  }
  return "unknown";
}

bool knows_norm(Method method, ResidualNorm norm) noexcept {
  const bool never_has_Mr =
      method == Method::gmres || method == Method::fgmres || method == Method::bicgstab;
  return norm == ResidualNorm::unpreconditioned || !never_has_Mr;
}

bool needs_fixed_preconditioner(Method method) noexcept {
  return method != Method::flexible_cg && method != Method::fgmres && method != Method::stationary;
}

bool needs_symmetric_preconditioner(Method method) noexcept {
  return method == Method::cg || method == Method::pipelined_cg || method == Method::enlarged_cg ||
         method == Method::minres;
}

template <class T>
Report solve_by(Method method, const Operator<T>& A, const Operator<T>* preconditioner,
                std::span<const T> b, std::span<T> x, const Options& options,
                const Observer& observe) {
  switch (method) {
    case Method::flexible_cg:
      return flexible_cg(A, preconditioner, b, x, options, observe);
    case Method::pipelined_cg:
      return pipelined_cg(A, preconditioner, b, x, options, observe);
    case Method::enlarged_cg:
      return enlarged_cg(A, preconditioner, b, x, options, observe);
    case Method::minres:
      return minres(A, preconditioner, b, x, options, observe);
    case Method::gmres:
      return gmres(A, preconditioner, b, x, options, observe);
    case Method::fgmres:
      return fgmres(A, preconditioner, b, x, options, observe);
    case Method::bicgstab:
      return bicgstab(A, preconditioner, b, x, options, observe);
    case Method::stationary:
      return stationary(A, preconditioner, b, x, options, observe);
    case Method::cg:
      return cg(A, preconditioner, b, x, options, observe);
  }
  refuse(method, A.layout().comm());
  return {};
}

template Report solve_by(Method, const Operator<double>&, const Operator<double>*,
                         std::span<const double>, std::span<double>, const Options&,
                         const Observer&);
template Report solve_by(Method, const Operator<float>&, const Operator<float>*,
                         std::span<const float>, std::span<float>, const Options&, const Observer&);

}  // namespace nodewise::solve
