// What findings share: texts, and options that may help.
#pragma once

#include <string>
#include <vector>

#include "nodewise/advise/finding.hpp"
#include "nodewise/amg/setup/aggregation.hpp"

namespace nodewise::advise::found {

double share(GlobalIndex part, GlobalIndex whole);

/// "in 3 of 1,000 rows"
std::string in_rows(GlobalIndex part, GlobalIndex whole);

inline bool aggregates(const amg::Options& options) {
  return options.method.has_options<amg::AggregationOptions>();
}
inline const amg::AggregationOptions& aggregation(const amg::Options& options) {
  return options.method.options<amg::AggregationOptions>();
}

/// What may help: options that are not in force yet.
class Advice {
 public:
  Advice& add(std::string option) {
    options_.push_back(std::move(option));
    return *this;
  }
  Advice& unless(bool in_force, std::string option) {
    return in_force ? *this : add(std::move(option));
  }
  /// "try a, b or c" behind `before`; where nothing is left, what can still be done.
  std::string text(const std::string& before = "") const;

 private:
  std::vector<std::string> options_;
};

}  // namespace nodewise::advise::found
