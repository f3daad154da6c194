// Hops and links of networks, against a search of their graphs and values worked out by hand.
#include <algorithm>
#include <queue>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/network.hpp"

namespace nodewise::model {
namespace model_network_test {

using Graph = std::vector<std::vector<int>>;

void link(Graph& graph, int a, int b) {
  graph[static_cast<std::size_t>(a)].push_back(b);
  graph[static_cast<std::size_t>(b)].push_back(a);
}

/// Links from one vertex to every other, by breadth-first search.
std::vector<int> distances(const Graph& graph, int from) {
  std::vector<int> distance(graph.size(), -1);
  std::queue<int> next;
  distance[static_cast<std::size_t>(from)] = 0;
  for (next.push(from); !next.empty(); next.pop()) {
    const auto v = static_cast<std::size_t>(next.front());
    for (const int w : graph[v]) {
      if (distance[static_cast<std::size_t>(w)] >= 0) continue;
      distance[static_cast<std::size_t>(w)] = distance[v] + 1;
      next.push(w);
    }
  }
  return distance;
}

TEST(Network, HopsOfATorusAreThoseOfItsGraph) {
  const Torus torus = {{5, 1, 4, 2}, 1};
  Graph graph(40);
  for (int v = 0; v < 40; ++v) {
    int stride = 1;
    for (const int side : torus.dimensions) {
      const int x = v / stride % side;
      if (side > 1) link(graph, v, v + ((x + 1) % side - x) * stride);
      stride *= side;
    }
  }
  for (int a = 0; a < 40; ++a) {
    const std::vector<int> expected = distances(graph, a);
    for (int b = 0; b < 40; ++b) {
      EXPECT_EQ(hops(torus, a, b), expected[static_cast<std::size_t>(b)]) << a << " " << b;
    }
  }
  EXPECT_EQ(fewest_hops(torus), 1);
}

TEST(Network, NodesOfOneTorusRouterAreNoHopApart) {
  const Torus gemini = {{24, 24, 24}, 2};
  EXPECT_EQ(hops(gemini, 0, 1), 0);
  EXPECT_EQ(hops(gemini, 1, 2), 1);
  EXPECT_EQ(hops(gemini, 0, 46), 1) << "round the ring";
  EXPECT_EQ(fewest_hops(gemini), 0);
}

TEST(Network, HopsOfAFatTreeAreThoseOfItsGraph) {
  const FatTree tree = {3, 3};
  // The nodes, then the switches of each level.
  Graph graph(27 + 9 + 3 + 1);
  int below = 0;
  for (int width = 27, above = 27; width > 1; width /= 3, below = above, above += width) {
    for (int v = 0; v < width; ++v) link(graph, below + v, above + v / 3);
  }
  for (int a = 0; a < 27; ++a) {
    const std::vector<int> expected = distances(graph, a);
    for (int b = 0; b < 27; ++b) {
      EXPECT_EQ(hops(tree, a, b), expected[static_cast<std::size_t>(b)]) << a << " " << b;
    }
  }
  EXPECT_EQ(fewest_hops(tree), 2);
  EXPECT_EQ(charged_hops(tree, 2), 6);
}

TEST(Network, HopsOfADragonflyAreThoseOfItsGraph) {
  const Dragonfly d = {2, 3, 4, 2, 4};
  const int routers = 24;
  Graph graph(48 + 24);
  for (int node = 0; node < 48; ++node) link(graph, node, 48 + node / 2);
  for (int a = 0; a < routers; ++a) {
    for (int b = 0; b < a; ++b) {
      if (a / 12 != b / 12) continue;
      if (a / 4 == b / 4 || a % 4 == b % 4) link(graph, 48 + a, 48 + b);
    }
  }
  for (int a = 0; a < 24; ++a) {
    const std::vector<int> expected = distances(graph, a);
    for (int b = 0; b < 24; ++b) {
      EXPECT_EQ(hops(d, a, b), expected[static_cast<std::size_t>(b)]) << a << " " << b;
    }
    EXPECT_EQ(hops(d, a, 24 + a), 7);
  }
  EXPECT_EQ(hops(Dragonfly{3, 1, 4, 2, 1}, 0, 8), 5) << "a group of one row";
  EXPECT_EQ(hops(Dragonfly{3, 1, 1, 2, 1}, 0, 2), 3) << "a group of one router";
}

TEST(Network, KnowsAries) {
  const NetworkShape eos = Dragonfly{2, 6, 16, 4, 4};
  EXPECT_EQ(fewest_hops(eos), 2);
  EXPECT_EQ(charged_hops(eos, 64), 7);
  // 64 nodes, 1024 cores: at least 64 + 170 + 0, at most 64 + 2 * 170 + 4.
  EXPECT_EQ(available_links(eos, 64), (234 + 408) / 2.0);
  // 512 nodes: 512 + 2 * 170 + 4 either way.
  EXPECT_EQ(available_links(eos, 512), 856);
  const NetworkShape large = Dragonfly{10, 6, 16, 4, 4};
  // 1000 nodes: 1000 + 3 * 170 + 4 * 2 and 1000 + 10 * 170 + 4 * 45.
  EXPECT_EQ(available_links(large, 1000), (1518 + 2880) / 2.0);
}

TEST(Network, CountsLinksOfOtherShapes) {
  EXPECT_EQ(available_links(FatTree{4, 3}, 4), 4);
  EXPECT_EQ(available_links(FatTree{4, 3}, 5), 10);
  EXPECT_EQ(available_links(FatTree{4, 3}, 64), 192);
  EXPECT_EQ(available_links(Torus{{8, 8, 8}, 2}, 9), 15) << "five routers";
  EXPECT_EQ(available_links(NetworkShape(), 9), unlimited);
  EXPECT_THROW((void)available_links(NetworkShape(), 0), Error);
}

TEST(Network, ChargesAJobOnATorusForItsPart) {
  const NetworkShape torus = Torus{{24, 24, 24}, 2};
  EXPECT_EQ(charged_hops(torus, 54), 6) << "a cube of 3 x 3 x 3 routers";
  EXPECT_EQ(charged_hops(torus, 1), 0);
  EXPECT_EQ(charged_hops(torus, 2 * 24 * 24 * 24), 36) << "all of it, round the rings";
  EXPECT_EQ(charged_hops(NetworkShape(), 5), 0);
  EXPECT_THROW((void)charged_hops(torus, 0), Error);
}

TEST(Network, IsAMetricAndNeverShorterThanTheFewestHops) {
  const std::vector<NetworkShape> shapes = {FatTree{3, 2}, Torus{{3, 4}, 2}, Torus{{9}, 1},
                                            Dragonfly{3, 2, 2, 2, 1}, Dragonfly{3, 2, 2, 1, 1}};
  for (const NetworkShape& shape : shapes) {
    for (int a = 0; a < 9; ++a) {
      EXPECT_EQ(hops(shape, a, a), 0);
      for (int b = 0; b < 9; ++b) {
        EXPECT_EQ(hops(shape, a, b), hops(shape, b, a));
        EXPECT_GE(hops(shape, a, b), a == b ? 0 : fewest_hops(shape));
        for (int c = 0; c < 9; ++c)
          EXPECT_LE(hops(shape, a, c), hops(shape, a, b) + hops(shape, b, c));
      }
    }
    EXPECT_THROW((void)hops(shape, -1, 2), Error);
  }
  EXPECT_FALSE(is_known(NetworkShape()));
  EXPECT_EQ(hops(NetworkShape(), 1, 2), 0);
}

TEST(Network, FindsTheCubeOfAJob) {
  for (int d = 1; d <= 4; ++d) {
    for (const int n : {1, 2, 7, 8, 9, 26, 27, 28, 1000, 1001}) {
      const int side = cube_side(n, d);
      const auto room = [d](int s) {
        double product = 1;
        for (int k = 0; k < d; ++k) product *= s;
        return product;
      };
      EXPECT_GE(room(side), n);
      EXPECT_LT(room(side - 1), n);
    }
  }
  EXPECT_EQ(cube_hops(3, 11, 3), 4) << "figure 3.7";
  EXPECT_EQ(cube_hops(0, 2, 3), 2) << "no ring";
}

}  // namespace model_network_test
}  // namespace nodewise::model
