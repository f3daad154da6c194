#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "peer.hpp"

namespace nodewise::bench {

namespace {

class Nodewise final : public Peer {
 public:
  Nodewise(const System& system, const amg::Options& options)
      : A_(system.A), b_(system.b), options_(options), x_(b_.size()) {}

  void setup() override {
    clear();
    hierarchy_ = std::make_unique<amg::Hierarchy<double>>(A_, options_);
  }
  int solve(double tolerance, int max_iterations) override {
    std::fill(x_.begin(), x_.end(), 0.0);
    solve::Options options;
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    return solve::cg<double>(solve::MatrixOperator<double>(A_), hierarchy_.get(), b_, x_, options)
        .iterations;
  }
  void solution(std::span<double> x) override { std::copy(x_.begin(), x_.end(), x.begin()); }
  void clear() override { hierarchy_.reset(); }
  double operator_complexity() const override { return hierarchy_->operator_complexity(); }

 private:
  std::shared_ptr<const Matrix> A_;
  std::vector<double> b_;
  amg::Options options_;
  std::vector<double> x_;
  std::unique_ptr<amg::Hierarchy<double>> hierarchy_;
};

}  // namespace

std::unique_ptr<Peer> make_nodewise(const System& system, const amg::Options& options) {
  return std::make_unique<Nodewise>(system, options);
}

}  // namespace nodewise::bench
