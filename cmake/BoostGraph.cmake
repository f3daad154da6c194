# Boost.Graph, which puts rows in order: used where it is installed. Its headers alone are needed.
include(OptionalLibrary)
find_path(BOOST_GRAPH_INCLUDE_DIR boost/graph/cuthill_mckee_ordering.hpp)
mark_as_advanced(BOOST_GRAPH_INCLUDE_DIR)
set(boost_graph_found OFF)
if(BOOST_GRAPH_INCLUDE_DIR)
  set(boost_graph_found ON)
endif()
nodewise_optional_library(NODEWISE_BOOST_GRAPH "Put rows in order with Boost.Graph" "${boost_graph_found}"
                          "there is no boost/graph/cuthill_mckee_ordering.hpp (Debian: libboost-dev)"
                          "Boost.Graph: the reorderings rcm and rcm_global are refused")
