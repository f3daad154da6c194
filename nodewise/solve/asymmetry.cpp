#include "nodewise/solve/asymmetry.hpp"

#include <cmath>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

template <class T>
double asymmetry(const Operator<T>& M, std::uint64_t seed) {
  const comm::Layout& layout = M.layout();
  const auto n = static_cast<std::size_t>(layout.n_local());
  Array<T> u, v, Mu, Mv;
  mpi::collectively(layout.comm(), [&] {
    for (Array<T>* a : {&u, &v, &Mu, &Mv}) a->resize(n);
  });
  for (std::size_t i = 0; i < n; ++i) {
    const auto key = static_cast<std::uint64_t>(layout.to_global(static_cast<LocalIndex>(i)));
    u[i] = static_cast<T>(2 * hash_uniform(key, 2 * seed) - 1);
    v[i] = static_cast<T>(2 * hash_uniform(key, 2 * seed + 1) - 1);
  }
  M.apply(u, Mu);
  M.apply(v, Mv);
  const auto [Mu_v, u_Mv, Mu_Mu, v_v] =
      sum_all(layout.comm(), dot_local<T>(Mu, v), dot_local<T>(u, Mv), dot_local<T>(Mu, Mu),
              dot_local<T>(v, v));
  const double scale = std::sqrt(Mu_Mu) * std::sqrt(v_v);
  return scale == 0 ? std::abs(Mu_v - u_Mv) : std::abs(Mu_v - u_Mv) / scale;
}

template double asymmetry(const Operator<double>&, std::uint64_t);
template double asymmetry(const Operator<float>&, std::uint64_t);

}  // namespace nodewise::solve
