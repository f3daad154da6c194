// The standard route: every owner sends straight to every rank that needs its entries.
#pragma once

#include <memory>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/planner.hpp"

namespace nodewise::comm::route {

/// Local and pure. One stage, one message per neighbour.
Plan direct(const Pattern& pattern);

/// Local. The same as a planner of no rounds, for what plans by planners. `pattern` must outlive
/// it.
std::unique_ptr<Planner> direct_planner(const Pattern& pattern);

/// Local and pure. The pattern that a direct plan was made of.
Pattern pattern_of(const Plan& direct_plan);

}  // namespace nodewise::comm::route
