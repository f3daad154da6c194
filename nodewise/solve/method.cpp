#include "nodewise/solve/method.hpp"

#include <fmt/format.h>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/iteration.hpp"

namespace nodewise::solve {

namespace {

/// Takes part in the agreement that every method begins with, so that ranks that were given a
/// method say the same.
void refuse(const Choice<KrylovMethod>& method, const mpi::Comm& comm) {
  const auto error = mpi::caught([&] {
    throw Error(ErrorCode::invalid_argument,
                method.is_automatic()
                    ? std::string("solve: no method was chosen")
                    : fmt::format("solve: {} is not made for these numbers", method.name()));
  });
  mpi::agree_on_same(comm, error, {0, agreed_arguments});
}

}  // namespace

std::string names_by_norms(bool know_all) {
  std::vector<std::string> names;
  for (const KrylovMethod& method : KrylovMethod::family()) {
    if (method.knows_all_norms == know_all) names.push_back(method.name);
  }
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : nodewise::detail::join(names, ", ") + " and " + last;
}

std::string title_of(const Choice<KrylovMethod>& method) {
  const OptionSet* own = method.own();
  if (own == nullptr || own->size() == 0) return method->title;
  return fmt::format("{}({})", *method->title, own->get(0));
}

template <class T>
Report solve_by(const Choice<KrylovMethod>& method, const Operator<T>& A,
                const Operator<T>* preconditioner, std::span<const T> b, std::span<T> x,
                const Options& options, const Observer& observe) {
  const bool open = method.is_automatic() || method->functions<T>().solve == nullptr;
  if (open) refuse(method, A.layout().comm());
  const mpi::Scope scope(A.layout().comm(), "vector_updates", mpi::no_level);
  return method->functions<T>().solve({method, A, preconditioner, b, x, options, observe});
}

template Report solve_by(const Choice<KrylovMethod>&, const Operator<double>&,
                         const Operator<double>*, std::span<const double>, std::span<double>,
                         const Options&, const Observer&);
template Report solve_by(const Choice<KrylovMethod>&, const Operator<float>&,
                         const Operator<float>*, std::span<const float>, std::span<float>,
                         const Options&, const Observer&);

}  // namespace nodewise::solve
