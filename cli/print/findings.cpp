#include "cli/print/findings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/base/parallel.hpp"

#include "cli/print/summary.hpp"

namespace nodewise::cli {

std::vector<advise::Finding> find_before_solve(const System& system,
                                               const amg::Hierarchy<double>* hierarchy,
                                               const amg::NearNullSpace<double>& near_null_space,
                                               const Settings& settings,
                                               const SolveRecord& record) {
  advise::SystemFacts facts = hierarchy != nullptr ? advise::hierarchy_facts(*hierarchy)
                                                   : advise::matrix_facts<double>(system.A);
  facts.null_vectors =
      advise::null_vector_facts<double>(*system.A, near_null_space, system.b, system.n_rhs);
  facts.symmetric = record.matrix.symmetric;
  facts.krylov = record.method;
  const bool for_symmetric = solve::needs_symmetric_preconditioner(record.method);
  const bool chebyshev =
      hierarchy != nullptr && settings.amg.smoother == amg::SmootherKind::chebyshev;
  if ((for_symmetric || chebyshev) && !record.matrix.symmetric) {
    facts.asymmetry = advise::problem_facts(*system.A, false).asymmetry;
  }
  return advise::findings(facts, settings.amg);
}

void find_after_solve(SolveRecord& record, const Settings& settings) {
  const bool has_amg = settings.method.preconditioner == PreconditionerChoice::amg;
  for (const solve::Report& report : record.reports) {
    const advise::SolveFacts solve = {report.outcome, has_amg,
                                      record.machine.ranks * parallel::threads()};
    for (advise::Finding& finding : advise::findings(solve, settings.amg)) {
      const bool known =
          std::any_of(record.findings.begin(), record.findings.end(),
                      [&](const advise::Finding& f) { return f.kind == finding.kind; });
      if (!known) record.findings.push_back(std::move(finding));
    }
  }
}

void print_findings(Console& console, const std::vector<advise::Finding>& findings) {
  if (findings.empty()) return;
  console.line("Findings");
  for (const advise::Finding& finding : findings) {
    print_entry(console, fmt::format("level {}", finding.level),
                finding.text + ": " + finding.advice);
  }
  console.line();
}

Json findings_json(const std::vector<advise::Finding>& findings) {
  Json json = Json::array();
  for (const advise::Finding& finding : findings) {
    json.push_back({{"kind", advise::to_string(finding.kind)},
                    {"level", finding.level},
                    {"count", finding.count},
                    {"magnitude", number(finding.magnitude)},
                    {"text", finding.text},
                    {"advice", finding.advice}});
  }
  return json;
}

}  // namespace nodewise::cli
