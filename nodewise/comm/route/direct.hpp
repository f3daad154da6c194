// The standard route: every owner sends straight to every rank that needs its entries.
#pragma once

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"

namespace nodewise::comm::route {

/// Local and pure. One stage, one message per neighbour.
Plan direct(const Pattern& pattern);

/// Local and pure. The pattern that a direct plan was made of.
Pattern pattern_of(const Plan& direct_plan);

}  // namespace nodewise::comm::route
