#include <functional>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/presets.hpp"

#include "peer.hpp"

namespace nodewise::bench {

namespace {

/// The options for a matrix, and whether that is symmetric.
struct Choice {
  amg::Options options;
  bool symmetric = true;
};
/// Collective.
using Choose = std::function<Choice(const Matrix&)>;

/// Collective. By the rule of the command line.
Choice chosen_by_examination(const Matrix& A, amg::Precision precision) {
  const advise::ProblemFacts facts = advise::problem_facts(A);
  const solver::PresetChoice choice = solver::choose_preset(facts, {});
  amg::Options options;
  options.precision = precision;
  const std::string name = get_option(view(options, amg::option_fields()), "precision");
  const std::vector<NamedValue> given = {{"precision", name}};
  solver::apply_preset(*choice.preset, {}, facts.unknowns, given, options);
  return {options, facts.symmetric};
}

class Nodewise final : public Peer {
 public:
  Nodewise(const System& system, Choose choose)
      : A_(system.A), b_(system.b), choose_(std::move(choose)), x_(b_.size()) {}

  void setup() override {
    clear();
    const Choice choice = choose_(*A_);
    amg::ProblemInfo<double> knowledge;
    knowledge.symmetric = choice.symmetric;
    hierarchy_ = std::make_unique<amg::Hierarchy<double>>(A_, choice.options, knowledge);
  }
  int solve(double tolerance, int max_iterations) override {
    std::fill(x_.begin(), x_.end(), 0.0);
    solve::Options options;
    options.tolerance = tolerance;
    options.max_iterations = max_iterations;
    // The hierarchy's, which setup() may have put into blocks: these serve the products as well.
    const solve::MatrixOperator<double> A(hierarchy_->matrix(0));
    return solve::cg<double>(A, hierarchy_.get(), b_, x_, options).iterations;
  }
  void solution(std::span<double> x) override { std::copy(x_.begin(), x_.end(), x.begin()); }
  void clear() override { hierarchy_.reset(); }
  double operator_complexity() const override { return hierarchy_->operator_complexity(); }

 private:
  std::shared_ptr<const Matrix> A_;
  std::vector<double> b_;
  Choose choose_;
  std::vector<double> x_;
  std::unique_ptr<amg::Hierarchy<double>> hierarchy_;
};

}  // namespace

std::unique_ptr<Peer> make_nodewise(const System& system, const amg::Options& options) {
  // Symmetric: as all here are, and as hypre and PETSc take for granted.
  return std::make_unique<Nodewise>(system, [options](const Matrix&) { return Choice{options}; });
}

std::unique_ptr<Peer> make_nodewise(const System& system, amg::Precision precision) {
  return std::make_unique<Nodewise>(
      system, [precision](const Matrix& A) { return chosen_by_examination(A, precision); });
}

}  // namespace nodewise::bench
