#include "nodewise/solver/find.hpp"

#include <algorithm>

#include "nodewise/advise/problem_facts.hpp"

namespace nodewise::solver {

std::vector<advise::Finding> find_before_solve(
    const std::shared_ptr<const matrix::DistMatrix<double>>& A,
    const amg::Hierarchy<double>* hierarchy, const amg::NearNullSpace<double>& near_null_space,
    std::span<const double> b, int n_rhs, const SolveRecord& record) {
  const amg::Options& options = record.options.amg;
  advise::SystemFacts facts =
      hierarchy != nullptr ? advise::hierarchy_facts(*hierarchy) : advise::matrix_facts<double>(A);
  const PreconditionerFacts& preconditioner = record.options.method.preconditioner->facts;
  if (preconditioner.wants_diagonal || preconditioner.suits_indefinite) {
    // It sees to what has no diagonal.
    for (advise::LevelFacts& level : facts.levels) level.near_zero_diagonals = 0;
  }
  facts.null_vectors = advise::null_vector_facts<double>(*A, near_null_space, b, n_rhs);
  facts.symmetric = record.matrix.symmetric;
  facts.krylov = &*record.method;
  const bool for_symmetric = record.method->needs_symmetric_preconditioner;
  const bool real_spectrum = hierarchy != nullptr && options.smoother->needs_real_spectrum;
  if ((for_symmetric || real_spectrum) && !record.matrix.symmetric) {
    facts.asymmetry = advise::problem_facts(*A, false).asymmetry;
  }
  return advise::findings(facts, options);
}

void find_after_solve(SolveRecord& record) {
  const bool has_amg = record.options.method.preconditioner->is_multigrid;
  const int parts = record.machine.ranks * record.machine.threads;
  for (const solve::Report& report : record.reports) {
    const advise::SolveFacts solve = {report.outcome, has_amg, parts};
    for (advise::Finding& finding : advise::findings(solve, record.options.amg)) {
      const bool known =
          std::any_of(record.findings.begin(), record.findings.end(),
                      [&](const advise::Finding& f) { return f.kind == finding.kind; });
      if (!known) record.findings.push_back(std::move(finding));
    }
  }
}

}  // namespace nodewise::solver
