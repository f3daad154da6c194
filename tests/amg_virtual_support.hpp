// What the tests of hierarchies on virtual ranks have in common.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/exchange.hpp"

#include "amg_support.hpp"

namespace nodewise::test {

using Starts = std::vector<GlobalIndex>;

inline const Family<comm::RouteMethod>& all_routes = comm::RouteMethod::family();

inline Starts starts_of(const comm::Layout& layout) {
  return {layout.starts().begin(), layout.starts().end()};
}

inline void expect_equal(const comm::Traffic& got, const comm::Traffic& expected) {
  EXPECT_EQ(got.messages_on_node, expected.messages_on_node);
  EXPECT_EQ(got.messages_off_node, expected.messages_off_node);
  EXPECT_EQ(got.entries_on_node, expected.entries_on_node);
  EXPECT_EQ(got.entries_off_node, expected.entries_off_node);
}

inline amg::Options options_for(comm::Route route, const std::string& coarsening) {
  amg::Options options;
  options.max_coarse_rows = 4;
  options.route = route;
  options.set("coarsening", coarsening);
  return options;
}

}  // namespace nodewise::test
