#include "nodewise/amg/cycle/coarse_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <Eigen/Cholesky>

#include "nodewise/amg/round_off.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/dense.hpp"
#include "nodewise/kernels/equilibrate.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/allreduce.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using Dense = Eigen::MatrixXd;

/// Below this fraction of the largest, a singular value of the scaled matrix is taken for zero:
/// round-off of the Galerkin products leaves about this much.
constexpr double rank_tolerance = 1e-11;

/// The whole matrix, on every rank, and of each row what its entries may be by rounding alone: up
/// to sqrt(noise_i noise_j) for a_ij.
struct Gathered {
  Dense A;
  Eigen::VectorXd noise;
};

/// Local. Calls visit(row, column, value) for the entries of this rank's rows, from 0 on, and with
/// column n for the sizes of what the diagonal ones are sums of.
template <class T, class Visit>
void visit_entries(const matrix::DistMatrix<T>& A, std::span<const double> sizes,
                   const Visit& visit) {
  const GlobalIndex first = A.rows().first();
  LocalIndex place = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = A.rows().to_global(i) - first;
    for (auto k = static_cast<std::size_t>(A.on().begin(i));
         k < static_cast<std::size_t>(A.on().end(i)); ++k) {
      visit(row, A.cols().to_global(A.on().cols[k]) - first, static_cast<double>(A.on().vals[k]));
    }
    for (auto k = static_cast<std::size_t>(A.off().begin(i));
         k < static_cast<std::size_t>(A.off().end(i)); ++k) {
      visit(row, A.ghosts()[static_cast<std::size_t>(A.off().cols[k])] - first,
            static_cast<double>(A.off().vals[k]));
    }
    const auto diagonal = std::abs(static_cast<double>(kernels::diagonal_entry(A.on(), i, place)));
    visit(row, A.rows().n_global(), sizes.empty() ? diagonal : sizes[static_cast<std::size_t>(i)]);
  }
}

/// Whether a dense matrix is short enough for a reduction in few stages.
bool is_gathered_as_sum(GlobalIndex n_rows) {
  constexpr auto most = static_cast<GlobalIndex>(mpi::collectives::automatic_allreduce_bytes /
                                                 static_cast<Offset>(sizeof(double)));
  return n_rows * (n_rows + 1) <= most;
}

/// Collective. The entries of all ranks, in a matrix with a column more for the sizes. A small one
/// is a sum of what the ranks have, which is one step; of a larger one only the entries travel.
template <class T>
Dense gather_entries(const matrix::DistMatrix<T>& A, std::span<const double> sizes) {
  const Eigen::Index n = A.rows().n_global();
  Dense all = Dense::Zero(n, n + 1);
  const auto add = [&all](GlobalIndex row, GlobalIndex column, double value) {
    all(row, column) += value;
  };
  if (is_gathered_as_sum(n)) {
    visit_entries(A, sizes, add);
    mpi::sum_in_place(A.comm(),
                      std::span<double>(all.data(), static_cast<std::size_t>(all.size())));
    return all;
  }
  std::vector<double> entries;  // row, column, value; indices this small are exact
  visit_entries(A, sizes, [&](GlobalIndex row, GlobalIndex column, double value) {
    entries.insert(entries.end(), {static_cast<double>(row), static_cast<double>(column), value});
  });
  const auto gathered = mpi::concatenate_all(A.comm(), std::span<const double>(entries));
  for (std::size_t k = 0; k < gathered.size(); k += 3) {
    add(static_cast<GlobalIndex>(gathered[k]), static_cast<GlobalIndex>(gathered[k + 1]),
        gathered[k + 2]);
  }
  return all;
}

template <class T>
Gathered gather_dense(const matrix::DistMatrix<T>& A, std::span<const double> sizes) {
  const Eigen::Index n = A.rows().n_global();
  const Dense all = gather_entries(A, sizes);
  constexpr double margin =
      round_off_units * static_cast<double>(std::numeric_limits<T>::epsilon());
  return {all.leftCols(n), margin * all.col(n)};
}

/// Sets rows that are nothing but noise to zero, and what columns have of it.
void drop_noise(Dense& A, const Eigen::VectorXd& noise) {
  const Eigen::VectorXd roots = noise.cwiseSqrt();
  const auto is_noise = [&](Eigen::Index i, Eigen::Index j) {
    return std::abs(A(i, j)) <= roots(i) * roots(j);
  };
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    bool all = true;
    for (Eigen::Index j = 0; all && j < A.cols(); ++j) all = is_noise(i, j);
    if (all) rows.push_back(i);
  }
  for (const Eigen::Index i : rows) {
    A.row(i).setZero();
    for (Eigen::Index k = 0; k < A.rows(); ++k) {
      if (is_noise(k, i)) A(k, i) = 0;
    }
  }
}

std::span<const double> entries(const Dense& A) {
  return {A.data(), static_cast<std::size_t>(A.size())};
}

/// What is found on the way to an inverse.
struct Found {
  bool singular = false;
  bool indefinite = false;  // and symmetric
};

/// The inverse of a symmetric matrix if that is positive definite and no eigenvalue is so small
/// that it might be taken for zero.
std::optional<Dense> definite_inverse(const Dense& A) {
  const Eigen::LLT<Dense> factors(A);
  if (factors.info() != Eigen::Success || !(factors.rcond() > 1e4 * rank_tolerance)) return {};
  const Dense inverse = factors.solve(Dense::Identity(A.rows(), A.cols()));
  return (inverse + inverse.transpose()) / 2;
}

/// The inverse of a symmetric matrix, zero on its null space, to within the noise of its rows:
/// symmetric as well. A Cholesky factorization is enough for most, in a quarter of the time.
Dense symmetric_inverse(const Dense& A, const Eigen::VectorXd& noise, Found& found) {
  const Dense symmetric = (A + A.transpose()) / 2;
  if (noise.maxCoeff() < 100 * rank_tolerance) {
    if (const std::optional<Dense> inverse = definite_inverse(symmetric)) return *inverse;
  }
  const Eigen::Index n = A.rows();
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(entries(symmetric));
  const Eigen::VectorXd values = Eigen::VectorXd::Map(eigen.values.data(), n);
  const Dense vectors = Dense::Map(eigen.vectors.data(), n, n);
  const double cut = rank_tolerance * values.cwiseAbs().maxCoeff();
  Eigen::VectorXd inverted = values;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const double uncertain = vectors.col(i).cwiseAbs2().dot(noise);
    const bool zero = !(std::abs(values(i)) > std::max(cut, uncertain));
    found.singular = found.singular || zero;
    found.indefinite = found.indefinite || (!zero && values(i) < 0);
    inverted(i) = zero ? 0.0 : 1.0 / values(i);
  }
  return vectors * inverted.asDiagonal() * vectors.transpose();
}

/// 1 / sqrt(size), 1 for 0.
Eigen::VectorXd scale_for(const Eigen::VectorXd& sizes) {
  return sizes.unaryExpr([](double size) { return size > 0 ? 1.0 / std::sqrt(size) : 1.0; });
}

/// X with A X A = A. The matrix is scaled first, so that a small row is not mistaken for a zero
/// one: a symmetric matrix to a unit diagonal, so that its inverse is symmetric, another by rows
/// and columns.
Dense generalised_inverse(Dense A, const Eigen::VectorXd& noise, Found& found) {
  drop_noise(A, noise);
  const Eigen::VectorXd scale = scale_for(A.diagonal().cwiseAbs());
  Dense scaled = A;
  scaled = scale.asDiagonal() * scaled * scale.asDiagonal();
  if ((scaled - scaled.transpose()).norm() <= 1e-10 * scaled.norm()) {
    return scale.asDiagonal() *
           symmetric_inverse(scaled, noise.cwiseProduct(scale.cwiseAbs2()), found) *
           scale.asDiagonal();
  }
  const auto factors = kernels::equilibrating_factors(A.rows(), [&A](std::size_t i, std::size_t j) {
    return std::abs(A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
  });
  const Eigen::Map<const Eigen::VectorXd> rows(factors.first.data(), A.rows());
  const Eigen::Map<const Eigen::VectorXd> cols(factors.second.data(), A.rows());
  A = rows.asDiagonal() * A * cols.asDiagonal();
  const std::size_t rank =
      kernels::invert_generalised({A.data(), static_cast<std::size_t>(A.size())}, rank_tolerance);
  found.singular = rank < static_cast<std::size_t>(A.rows());
  return cols.asDiagonal() * A * rows.asDiagonal();
}

}  // namespace

template <class T>
template <class U>
CoarseSolver<T>::CoarseSolver(const matrix::DistMatrix<U>& A, double factor,
                              const Choice<CoarseSolveMethod>& where,
                              std::span<const double> sizes) {
  const mpi::Scope scope(A.comm(), "coarse_setup");
  if (chosen(where).has_factors) {
    set_up_factors(A, factor);
  } else {
    set_up_inverse(A, factor, chosen(where), sizes);
  }
}

/// Collective.
template <class T>
template <class U>
void CoarseSolver<T>::set_up_factors(const matrix::DistMatrix<U>& A, double factor) {
  try {
    factors_ = solve::factorize(A.template with_type<double>(factor));
  } catch (const Error& error) {  // the same on every rank
    throw Error(error.code(), std::string("`coarse_solve factors`: ") + error.what());
  }
  indefinite_ = factors_->is_indefinite();
  mpi::collectively(A.comm(), [&] { reserve_workspace(1); });
}

/// Collective.
template <class T>
template <class U>
void CoarseSolver<T>::set_up_inverse(const matrix::DistMatrix<U>& A, double factor,
                                     const CoarseSolveMethod& where,
                                     std::span<const double> sizes) {
  const Gathered gathered = gather_dense(A, sizes);
  const Dense& dense = gathered.A;
  Found found;
  const auto error = mpi::caught([&] {
    if (!dense.allFinite()) {
      throw Error(ErrorCode::unsuitable_matrix,
                  "multigrid setup: the coarsest matrix has entries that are not finite");
    }
    holders_.emplace(A.rows(), where);
    all_b_.resize(static_cast<std::size_t>(dense.rows()));
    held_x_.resize(static_cast<std::size_t>(holders_->n_held()));
    const std::span<const int> order = holders_->order();
    const auto first = static_cast<std::size_t>(holders_->first_held());
    const std::span<const int> held = order.subspan(first, held_x_.size());
    Dense inverse;
    if (!held_x_.empty()) inverse = generalised_inverse(dense, gathered.noise, found);
    for (int k = 0; k < holders_->n_held(); ++k) {
      const int i = held[static_cast<std::size_t>(k)];
      for (const int j : order) inverse_rows_.push_back(static_cast<T>(inverse(i, j) / factor));
    }
  });
  std::int64_t seen[] = {found.singular, found.indefinite};
  mpi::agree_on_sums(A.comm(), error, seen);
  singular_ = seen[0] > 0;
  indefinite_ = seen[1] > 0;
  holders_->connect();
}

/// Collective.
template <class T>
void CoarseSolver<T>::solve_by_factors(std::span<const T> B, std::span<T> X, int width) const {
  of_factors_.resize(2 * B.size());
  const std::span<double> b = std::span(of_factors_).first(B.size());
  const std::span<double> x = std::span(of_factors_).subspan(B.size());
  std::copy(B.begin(), B.end(), b.begin());
  factors_->apply_block(b, x, width, {});
  std::transform(x.begin(), x.end(), X.begin(), [](double value) { return static_cast<T>(value); });
}

template <class T>
void CoarseSolver<T>::solve(std::span<const T> b, std::span<T> x) const {
  if (factors_) return solve_by_factors(b, x, 1);
  holders_->gather(b, std::span<T>(all_b_), 1);
  const T* row = inverse_rows_.data();
  for (T& xi : held_x_) {
    T sum{};
    for (const T bj : all_b_) sum += *row++ * bj;
    xi = sum;
  }
  holders_->scatter(std::span<const T>(held_x_), x, 1);
}

template <class T>
void CoarseSolver<T>::reserve_workspace(int width) const {
  if (factors_) {
    const auto n_local = static_cast<std::size_t>(factors_->layout().n_local());
    of_factors_.reserve(2 * n_local * static_cast<std::size_t>(width));
    return;
  }
  const std::size_t needed = (all_b_.size() + held_x_.size()) * static_cast<std::size_t>(width);
  if (together_.size() < needed) together_.resize(needed);
}

template <class T>
void CoarseSolver<T>::solve(std::span<const T> B, std::span<T> X, int width) const {
  if (factors_) return solve_by_factors(B, X, width);
  const auto w = static_cast<std::size_t>(width);
  reserve_workspace(width);
  const std::span<T> all_B = std::span<T>(together_).first(all_b_.size() * w);
  const std::span<T> held_X = std::span<T>(together_).subspan(all_B.size(), held_x_.size() * w);
  holders_->gather(B, all_B, width);
  std::fill(held_X.begin(), held_X.end(), T{});
  const T* row = inverse_rows_.data();
  for (std::size_t i = 0; i < held_X.size(); i += w) {
    for (std::size_t j = 0; j < all_B.size(); j += w, ++row) {
      for (std::size_t c = 0; c < w; ++c) held_X[i + c] += *row * all_B[j + c];
    }
  }
  holders_->scatter(std::span<const T>(held_X), X, width);
}

template class CoarseSolver<float>;
template class CoarseSolver<double>;
template CoarseSolver<float>::CoarseSolver(const matrix::DistMatrix<float>&, double,
                                           const Choice<CoarseSolveMethod>&,
                                           std::span<const double>);
template CoarseSolver<float>::CoarseSolver(const matrix::DistMatrix<double>&, double,
                                           const Choice<CoarseSolveMethod>&,
                                           std::span<const double>);
template CoarseSolver<double>::CoarseSolver(const matrix::DistMatrix<double>&, double,
                                            const Choice<CoarseSolveMethod>&,
                                            std::span<const double>);

const CoarseSolveMethod& factors_coarse_solve() {
  static const CoarseSolveMethod method = {
      {"factors", "all ranks, by factors of MUMPS: for many rows, `max_coarse_rows`",
       "Amestoy, Duff, L'Excellent, Koster 2001"},
      {.holder = nullptr,
       .has_groups = false,
       .has_several_holders = false,
       .has_factors = true,
       .place = " by factors"}};
  return method;
}

}  // namespace nodewise::amg
