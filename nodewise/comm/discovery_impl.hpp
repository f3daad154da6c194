// Template bodies of discovery.hpp.
#pragma once

#include <algorithm>
#include <numeric>

#include "nodewise/comm/discovery.hpp"

namespace nodewise::comm {

template <std::invocable Make>
std::invoke_result_t<Make&> exchange_sparse(const mpi::Comm& comm, Make&& make,
                                            detail::Riders* riders) {
  using Sent = std::invoke_result_t<Make&>;
  using T = typename decltype(Sent::data)::value_type;
  Sent sent, got;
  const auto prepare = [&] {
    sent = make();
    return detail::SparseSends{sent.ranks, sent.offsets,
                               std::as_bytes(std::span<const T>(sent.data)), sizeof(T)};
  };
  const auto room = [&](std::size_t n) {
    got.data.resize(n);
    return reinterpret_cast<std::byte*>(got.data.data());
  };
  detail::exchange_bytes(comm, prepare, {got.ranks, got.offsets, room}, {}, riders);
  return got;
}

template <class T>
Messages<T> group_by_rank(std::span<const int> rank_of_item, std::span<const T> items,
                          int n_ranks) {
  std::vector<Offset> next(static_cast<std::size_t>(n_ranks) + 1, 0);
  for (const int rank : rank_of_item) ++next[static_cast<std::size_t>(rank) + 1];
  Messages<T> messages;
  for (int r = 0; r < n_ranks; ++r) {
    const Offset count = next[static_cast<std::size_t>(r) + 1];
    if (count > 0) {
      messages.ranks.push_back(r);
      messages.offsets.push_back(messages.offsets.back() + count);
    }
    next[static_cast<std::size_t>(r) + 1] += next[static_cast<std::size_t>(r)];
  }
  messages.data.resize(items.size());
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto rank = static_cast<std::size_t>(rank_of_item[k]);
    messages.data[static_cast<std::size_t>(next[rank]++)] = items[k];
  }
  return messages;
}

}  // namespace nodewise::comm
