// The terms of an exchange's cost. One is a member of ExchangeCost, a function at the end of its
// file and an entry of the list in cost_terms.cpp.
#pragma once

#include <string>
#include <variant>

#include "nodewise/base/family.hpp"
#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/penalties.hpp"

namespace nodewise::model {

/// What a rank's messages of one direction meet in a stage.
struct Surroundings {
  const Charges& charges;
  double node_s = 0;  ///< its node's share of the injection
};

/// A term, in seconds. All functions are local.
struct CostTerm : MethodInfo {
  /// Of what a rank sends in a stage, or receives. The larger of both directions counts, all such
  /// terms together.
  using OfDirection = double (*)(const RankLoad::Direction& load, const Surroundings& around);
  /// Of a rank in a stage.
  using OfRank = double (*)(const Machine& machine, const RankLoad& load, Arrival arrival);
  /// Of a stage, for all ranks together.
  using OfStage = double (*)(const Machine& machine, const NetworkLoad& load);

  Required<double ExchangeCost::*> member;
  Required<std::string> title;  ///< for the heads of tables
  Required<std::variant<OfDirection, OfRank, OfStage>> seconds;
  /// Whether the machine's scenario charges it; otherwise the term is 0.
  Required<bool (*)(const Machine& machine)> is_charged;
  /// Whether the machine has what the term needs; without it the term is 0.
  Required<bool (*)(const Machine& machine)> is_known;

  /// In the order of reports, in which they are added up.
  static Family<CostTerm>& family();
};

}  // namespace nodewise::model
