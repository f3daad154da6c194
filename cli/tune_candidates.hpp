// The combinations of options that `nodewise tune` tries.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nodewise/advise/problem_facts.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// Options of the command line, without dashes, and their values.
using OptionList = std::vector<std::pair<std::string, std::string>>;

struct Candidate {
  OptionList options;  ///< beside those that were given
  Settings settings;   ///< with them
};

/// Local. The candidates for a matrix with these facts: first what the rule of --preset auto
/// chooses, then the defaults, then others, at most --max-candidates. None of them changes an
/// option that was given, and no two are the same in all options.
std::vector<Candidate> tune_candidates(const Settings& given, const advise::ProblemFacts& facts);

/// "--smoother chebyshev --unknowns 3"
std::string option_words(const OptionList& options);

}  // namespace nodewise::cli
