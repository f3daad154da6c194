// Checks of all that an Exchange does, against what every rank can compute.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/direct.hpp"

#include "exchange_support.hpp"

namespace nodewise::test {

using comm::Exchange;
using comm::Layout;
using comm::Plan;
using comm::Records;

// A layout, the ghosts of all ranks, and the two plans that bring this rank's.
struct Case {
  Case(const std::shared_ptr<const mpi::Comm>& c, GlobalIndex n, double density, std::uint64_t seed,
       GlobalIndex first = 0)
      : layout(random_layout(c, n, seed, first)) {
    for (int r = 0; r < c->size(); ++r) ghosts.push_back(ghosts_of(layout, r, density, seed));
    direct = comm::route::direct(comm::discover_pattern(layout, mine()));
    staged = three_step_by_hand(layout, c->topology(), ghosts, c->rank());
  }
  const std::vector<GlobalIndex>& mine() const {
    return ghosts[static_cast<std::size_t>(layout.comm().rank())];
  }

  Layout layout;
  std::vector<std::vector<GlobalIndex>> ghosts;
  Plan direct, staged;
};

// Number k of entry i, as an arbitrary bit pattern that is no NaN.
template <class T>
T value_of(GlobalIndex i, int k) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k));
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(hash_uniform(h) * 1e6 - 5e5);
  } else {
    return static_cast<T>(h);
  }
}

template <class T>
std::vector<T> owned_values(const Layout& layout, int width) {
  std::vector<T> values;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
    for (int k = 0; k < width; ++k) values.push_back(value_of<T>(i, k));
  }
  return values;
}

template <class T>
inline void expect_forward(Exchange& exchange, const Case& c, int width) {
  const auto w = static_cast<std::size_t>(width);
  const std::vector<T> owned = owned_values<T>(c.layout, width);
  constexpr T untouched = T{77};
  std::vector<T> ghosts(c.mine().size() * w + 1, untouched);
  exchange.forward(std::span<const T>(owned), std::span(ghosts).first(c.mine().size() * w), width);
  std::vector<T> expected;
  for (const GlobalIndex i : c.mine()) {
    for (int k = 0; k < width; ++k) expected.push_back(value_of<T>(i, k));
  }
  expected.push_back(untouched);
  EXPECT_EQ(std::memcmp(ghosts.data(), expected.data(), expected.size() * sizeof(T)), 0)
      << "width " << width << ", " << sizeof(T) << " bytes";
}

// What rank r contributes to entry i; small, so that sums of int8 and of floats are exact.
template <class T>
T contribution(int r, GlobalIndex i, int k) {
  return static_cast<T>(hash64(static_cast<std::uint64_t>(i) * 64 + static_cast<std::uint64_t>(r),
                               static_cast<std::uint64_t>(k)) %
                        7);
}

template <class T>
inline void expect_reverse_add(Exchange& exchange, const Case& c, int width) {
  const int rank = c.layout.comm().rank();
  std::vector<T> ghosts;
  for (const GlobalIndex i : c.mine()) {
    for (int k = 0; k < width; ++k) ghosts.push_back(contribution<T>(rank, i, k));
  }
  std::vector<T> owned(static_cast<std::size_t>(c.layout.n_local() * width), T{5});
  std::vector<T> expected = owned;
  for (const auto& list : c.ghosts) {
    const int r = static_cast<int>(&list - c.ghosts.data());
    for (const GlobalIndex i : list) {
      if (!c.layout.owns(i)) continue;
      for (int k = 0; k < width; ++k) {
        T& sum = expected[static_cast<std::size_t>(c.layout.to_local(i) * width + k)];
        sum = static_cast<T>(sum + contribution<T>(r, i, k));
      }
    }
  }
  exchange.reverse_add(std::span<const T>(ghosts), std::span<T>(owned), width);
  EXPECT_EQ(owned, expected) << "width " << width << ", " << sizeof(T) << " bytes";
}

struct Thing {  // 12 bytes
  std::int32_t owner, entry, place;
  friend bool operator==(const Thing&, const Thing&) = default;
};

// The record of entry i as rank r has it: many are empty, some are long.
inline std::vector<Thing> record_of(int r, GlobalIndex i) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(r) + 99);
  const std::size_t length = h % 3 == 0 ? 0 : (h % 11 == 1 ? 300 : h % 6);
  std::vector<Thing> record;
  for (std::size_t k = 0; k < length; ++k) {
    record.push_back({r, static_cast<std::int32_t>(i % 1'000'000), static_cast<std::int32_t>(k)});
  }
  return record;
}

inline void append(Records<Thing>& records, const std::vector<Thing>& record) {
  records.data.insert(records.data.end(), record.begin(), record.end());
  records.offsets.push_back(static_cast<Offset>(records.data.size()));
}

inline void expect_forward_records(Exchange& exchange, const Case& c) {
  Records<Thing> owned, expected;
  const auto exported = exchange.exported_entries();
  EXPECT_TRUE(std::ranges::equal(exported, exchange.plan().exported_entries()));
  for (const LocalIndex i : exported) append(owned, record_of(0, c.layout.to_global(i)));
  for (const GlobalIndex i : c.mine()) append(expected, record_of(0, i));
  const Records<Thing> got = exchange.forward_records(owned);
  EXPECT_EQ(got.offsets, expected.offsets);
  EXPECT_EQ(got.data, expected.data);
}

inline void expect_reverse_records(Exchange& exchange, const Case& c) {
  Records<Thing> ghosts;
  for (const GlobalIndex i : c.mine()) append(ghosts, record_of(c.layout.comm().rank(), i));
  const Records<Thing> got = exchange.reverse_records(ghosts);
  ASSERT_EQ(got.size(), static_cast<std::size_t>(c.layout.n_local()));
  for (LocalIndex i = 0; i < c.layout.n_local(); ++i) {
    std::vector<Thing> expected;
    for (std::size_t r = 0; r < c.ghosts.size(); ++r) {
      const GlobalIndex g = c.layout.to_global(i);
      if (!std::binary_search(c.ghosts[r].begin(), c.ghosts[r].end(), g)) continue;
      const auto record = record_of(static_cast<int>(r), g);
      expected.insert(expected.end(), record.begin(), record.end());
    }
    const auto record = got[static_cast<std::size_t>(i)];
    std::vector<Thing> sorted(record.begin(), record.end());
    // A plan may bring the records in any order, but each in one piece.
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Thing& a, const Thing& b) { return a.owner < b.owner; });
    EXPECT_EQ(sorted, expected);
  }
}

inline void expect_all(Exchange& exchange, const Case& c) {
  for (const int width : {1, 2, 5}) {
    expect_forward<double>(exchange, c, width);
    expect_forward<float>(exchange, c, width);
    expect_forward<std::int8_t>(exchange, c, width);
    expect_forward<std::int64_t>(exchange, c, width);
    expect_reverse_add<double>(exchange, c, width);
    expect_reverse_add<std::int64_t>(exchange, c, width);
  }
  expect_reverse_add<float>(exchange, c, 3);
  expect_forward_records(exchange, c);
  expect_reverse_records(exchange, c);
}

}  // namespace nodewise::test
