// Reverse Cuthill-McKee, by Boost.Graph.
#include <cstdint>
#include <utility>

#ifdef NODEWISE_BOOST_GRAPH
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>
#include <boost/property_map/property_map.hpp>
#endif

#include "nodewise/partition/reordering_method.hpp"

namespace nodewise::partition {

namespace {

#ifdef NODEWISE_BOOST_GRAPH

using BoostGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, std::uint32_t, std::uint64_t>;

BoostGraph boost_graph(const PointGraph& graph) {
  std::vector<std::uint32_t> from, to(graph.neighbours.begin(), graph.neighbours.end());
  from.reserve(to.size());
  for (std::size_t k = 0; k + 1 < graph.begins.size(); ++k) {
    const auto n = static_cast<std::size_t>(graph.begins[k + 1] - graph.begins[k]);
    from.insert(from.end(), n, static_cast<std::uint32_t>(k));
  }
  return {boost::construct_inplace_from_sources_and_targets, from, to,
          static_cast<std::uint32_t>(graph.n_points())};
}

/// Each component from a point at its rim.
std::vector<LocalIndex> order_by_rcm(const PointGraph& graph) {
  std::vector<LocalIndex> order(static_cast<std::size_t>(graph.n_points()));
  if (order.empty()) return order;
  const BoostGraph boosted = boost_graph(graph);
  const auto index = get(boost::vertex_index, boosted);
  std::vector<boost::default_color_type> colors(order.size());
  boost::cuthill_mckee_ordering(boosted, order.rbegin(),
                                boost::make_iterator_property_map(colors.begin(), index),
                                boost::make_out_degree_map(boosted));
  return order;
}

#else

std::vector<LocalIndex> order_by_rcm(const PointGraph&) {
  throw Error(ErrorCode::unsupported,
              "reorder: this build of Nodewise has no Boost.Graph (Debian: libboost-dev)");
}

#endif

}  // namespace

const ReorderingMethod& rcm_reordering() {
  static const ReorderingMethod method = {
      {"rcm", "reverse Cuthill-McKee of the rows of each rank, by the couplings among them",
       "George 1971; Cuthill, McKee 1969"},
      true,
      false,
      order_by_rcm};
  return method;
}

const ReorderingMethod& global_rcm_reordering() {
  static const ReorderingMethod method = {
      {"rcm_global", "the same of all rows together, found on rank 0, before they are divided",
       "George 1971; Schubert, Hager, Fehske, Wellein 2011, section 1.3.1"},
      true,
      true,
      order_by_rcm};
  return method;
}

}  // namespace nodewise::partition
