#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/mpi/amg.hpp>
#include <amgcl/mpi/coarsening/smoothed_aggregation.hpp>
#include <amgcl/mpi/distributed_matrix.hpp>
#include <amgcl/mpi/inner_product.hpp>
#include <amgcl/mpi/relaxation/spai0.hpp>
#include <amgcl/mpi/solver/cg.hpp>
#include <sstream>

#include "peer.hpp"

namespace nodewise::bench {

namespace {

using Backend = amgcl::backend::builtin<double>;
using Distributed = amgcl::mpi::distributed_matrix<Backend>;
using Multigrid = amgcl::mpi::amg<Backend, amgcl::mpi::coarsening::smoothed_aggregation<Backend>,
                                  amgcl::mpi::relaxation::spai0<Backend>>;
using Cg = amgcl::mpi::solver::cg<Backend>;

/// Rows with global columns.
struct Rows {
  std::vector<std::ptrdiff_t> offsets = {0}, cols;
  std::vector<double> vals;
};

Rows copy_rows(const Matrix& A) {
  Rows rows;
  const auto append = [&rows](const matrix::Csr<double>& part, LocalIndex i, auto&& to_global) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      rows.cols.push_back(to_global(part.cols[at]));
      rows.vals.push_back(part.vals[at]);
    }
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    append(A.on(), i, [&](LocalIndex j) { return A.cols().to_global(j); });
    append(A.off(), i, [&](LocalIndex g) { return A.ghosts()[static_cast<std::size_t>(g)]; });
    rows.offsets.push_back(static_cast<std::ptrdiff_t>(rows.cols.size()));
  }
  return rows;
}

class Amgcl final : public Peer {
 public:
  explicit Amgcl(const System& system)
      : comm_(system.A->comm().get()), rows_(copy_rows(*system.A)), b_(system.b), x_(b_.size()) {}

  void setup() override {
    clear();
    const auto n = static_cast<std::ptrdiff_t>(b_.size());
    multigrid_ = std::make_unique<Multigrid>(
        comm_,
        std::make_shared<Distributed>(comm_, std::tie(n, rows_.offsets, rows_.cols, rows_.vals)));
  }
  int solve(double tolerance, int max_iterations) override {
    Cg::params params;
    params.tol = tolerance;
    params.maxiter = static_cast<std::size_t>(max_iterations);
    const Cg cg(b_.size(), params, Backend::params(), amgcl::mpi::inner_product(comm_));
    std::fill(x_.begin(), x_.end(), 0.0);
    return static_cast<int>(std::get<0>(cg(*multigrid_, b_, x_)));
  }
  void solution(std::span<double> x) override { std::copy(x_.begin(), x_.end(), x.begin()); }
  void clear() override { multigrid_.reset(); }
  /// AMGCL says it in its printed summary only.
  double operator_complexity() const override {
    std::ostringstream text;
    text << *multigrid_;
    const std::string before = "Operator complexity:";
    const std::size_t at = text.str().find(before);
    return at == std::string::npos ? 0.0 : std::stod(text.str().substr(at + before.size()));
  }

 private:
  amgcl::mpi::communicator comm_;
  Rows rows_;
  std::vector<double> b_, x_;
  std::unique_ptr<Multigrid> multigrid_;
};

}  // namespace

std::unique_ptr<Peer> make_amgcl(const System& system) {
  return std::make_unique<Amgcl>(system);
}

}  // namespace nodewise::bench
