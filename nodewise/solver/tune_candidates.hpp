// The combinations of options that tune() tries.
#pragma once

#include <vector>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/solver/options.hpp"
#include "nodewise/solver/problem.hpp"

namespace nodewise::solver {

struct Candidate {
  NamedValues options;  ///< beside those that were given
  Options all;          ///< with them
};

/// Local. The candidates for a matrix with these facts: first what the rule of preset `auto`
/// chooses, then the defaults, then others, at most so many. None of them changes an option that
/// was given, and no two are the same in all options.
std::vector<Candidate> tune_candidates(const Options& given, const Problem& problem,
                                       const advise::ProblemFacts& facts, int max_candidates);

}  // namespace nodewise::solver
