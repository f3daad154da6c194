#include <functional>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/routing/network_probe.hpp"
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
Choice chosen_by_examination(const Matrix& A, const std::vector<NamedValue>& given) {
  const advise::ProblemFacts facts = advise::problem_facts(A);
  const solver::PresetChoice choice = solver::choose_preset(facts, {});
  amg::Options options;
  solver::apply_preset(*choice.preset, {}, facts.unknowns, given, options);
  return {options, facts.symmetric};
}

/// Whether a hierarchy with these options looks at the network first.
bool looks_at_network(const amg::Options& options) {
  return amg::routes_of_level(options, 0).solve.is_automatic() ||
         options.redistribution->decide != nullptr || options.sparsification->asks_costs;
}

class Nodewise final : public Peer {
 public:
  Nodewise(const System& system, Choose choose)
      : A_(system.A),
        b_(system.b),
        choose_(std::move(choose)),
        x_(b_.size()),
        unseen_(mpi::Comm::create(A_->comm().get(), A_->comm().topology())) {}

  void setup() override {
    clear();
    const Choice choice = choose_(*A_);
    // That of the matrix remembers what earlier runs have seen, and a user's first solve would not.
    if (looks_at_network(choice.options) && unseen_->topology().n_nodes() > 1) {
      (void)routing::probe_network(*unseen_);
    }
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
  std::vector<PeerLevel> levels() const override {
    std::vector<PeerLevel> levels;
    for (const amg::LevelInfo& info : hierarchy_->levels()) {
      levels.push_back({info.active_ranks, info.traffic.messages_off_node});
    }
    return levels;
  }

 private:
  std::shared_ptr<const Matrix> A_;
  std::vector<double> b_;
  Choose choose_;
  std::vector<double> x_;
  std::shared_ptr<const mpi::Comm> unseen_;
  std::unique_ptr<amg::Hierarchy<double>> hierarchy_;
};

}  // namespace

std::unique_ptr<Peer> make_nodewise(const System& system, const amg::Options& options) {
  // Symmetric: as all here are, and as hypre and PETSc take for granted.
  return std::make_unique<Nodewise>(system, [options](const Matrix&) { return Choice{options}; });
}

std::unique_ptr<Peer> make_nodewise(const System& system, const std::vector<NamedValue>& given) {
  return std::make_unique<Nodewise>(
      system, [given](const Matrix& A) { return chosen_by_examination(A, given); });
}

}  // namespace nodewise::bench
