#include "nodewise/mpi/collectives/node_aware_alltoallv.hpp"

#include <algorithm>
#include <numeric>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/pair_map.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

using Bytes = Array<std::byte>;

/// The data that this rank carries between its node and another, `part` of it.
struct Carried {
  Share share;
  std::vector<int> sources_here;  ///< ranks whose data leaves
  std::vector<int> dests_there;   ///< whom it is for
  std::vector<int> sources_there;
  std::vector<int> dests_here;
  std::vector<Offset> out;  ///< lengths of what leaves, by source and then by destination
  std::vector<Offset> in;   ///< lengths of what comes, by destination and then by source
  Bytes outgoing;           ///< by source, then by destination
  Bytes incoming;           ///< likewise
};

Offset sum(std::span<const Offset> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), Offset{0});
}

/// Posts messages to and from all other ranks of the node; what is for oneself is copied.
void post(const std::span<const int> here, int me, const std::vector<Bytes>& out,
          std::vector<Bytes>& in, Transfer& transfer) {
  for (std::size_t k = 0; k < here.size(); ++k) {
    if (here[k] != me) transfer.receive(in[k].data(), std::ssize(in[k]), here[k]);
  }
  for (std::size_t k = 0; k < here.size(); ++k) {
    if (here[k] != me) transfer.send(out[k].data(), std::ssize(out[k]), here[k]);
    if (here[k] == me) std::copy(out[k].begin(), out[k].end(), in[k].begin());
  }
}

class NodeAwareAlltoallv : public BlockExchange {
 public:
  NodeAwareAlltoallv(const Comm& comm, const Blocks& to, const Blocks& from)
      : comm_(comm),
        topology_(comm.topology()),
        map_(topology_),
        node_(topology_.node(comm.rank())),
        here_(topology_.ranks_on(node_)),
        shares_(map_.shares_of_node(node_)),
        to_(to),
        from_(from) {
    for (const Share& share : shares_) {
      if (carrier(share) == comm.rank()) carried_.push_back(carried(share));
    }
  }

  void run(const std::byte* data_to, std::byte* data_from) override;

 private:
  /// Collective on the node: the carriers learn how long everything is.
  void tell_lengths();
  /// Local.
  void allocate();
  void bring_to_carriers(const std::byte* data, std::byte* received);
  void cross();
  void spread(std::byte* received);

  int carrier(const Share& share) const { return map_.carrier(node_, share.node, share.part); }
  std::vector<int> ranks_at(int node, const std::vector<int>& places) const {
    std::vector<int> ranks;
    for (const int place : places) {
      ranks.push_back(topology_.ranks_on(node)[static_cast<std::size_t>(place)]);
    }
    return ranks;
  }
  std::vector<int> dests_there(const Share& s) const {
    return ranks_at(s.node, map_.places(s.node, node_, s.part));
  }
  std::vector<int> dests_here(const Share& s) const {
    return ranks_at(node_, map_.places(node_, s.node, s.part));
  }
  std::vector<int> all_on(int node) const {
    const auto ranks = topology_.ranks_on(node);
    return {ranks.begin(), ranks.end()};
  }
  Carried carried(const Share& share) const {
    return {
        share, all_on(node_), dests_there(share), all_on(share.node), dests_here(share), {}, {}, {},
        {}};
  }
  bool is_dest_here(const Share& share) const {
    const std::vector<int> dests = dests_here(share);
    return std::find(dests.begin(), dests.end(), comm_.rank()) != dests.end();
  }
  Offset length_to(int rank) const { return to_.bytes[static_cast<std::size_t>(rank)]; }
  Offset length_from(int rank) const { return from_.bytes[static_cast<std::size_t>(rank)]; }
  std::size_t place(int rank) const { return topology_.place_on_node(rank); }

  const Comm& comm_;
  const Topology& topology_;
  PairMap map_;
  int node_;
  std::span<const int> here_;
  std::vector<Share> shares_;
  const Blocks& to_;
  const Blocks& from_;
  std::vector<Carried> carried_;
  std::vector<Bytes> to_carriers_, from_sources_;  // by place on the node
  std::vector<Bytes> to_dests_, from_carriers_;    // by place on the node
};

void NodeAwareAlltoallv::tell_lengths() {
  std::vector<std::vector<Offset>> words(here_.size()), heard(here_.size());
  for (const Share& share : shares_) {
    std::vector<Offset>& list = words[place(carrier(share))];
    for (const int dest : dests_there(share)) list.push_back(length_to(dest));
    if (!is_dest_here(share)) continue;
    for (const int source : topology_.ranks_on(share.node)) list.push_back(length_from(source));
  }
  Transfer transfer(comm_, tag_alltoallv_lengths);
  constexpr Offset word = sizeof(Offset);
  for (const int rank : here_) {
    std::size_t n = 0;
    for (const Carried& c : carried_) {
      n += c.dests_there.size();
      const bool dest =
          std::find(c.dests_here.begin(), c.dests_here.end(), rank) != c.dests_here.end();
      if (dest) n += c.sources_there.size();
    }
    heard[place(rank)].resize(n);
    if (rank == comm_.rank()) continue;
    transfer.receive(reinterpret_cast<std::byte*>(heard[place(rank)].data()),
                     static_cast<Offset>(n) * word, rank);
  }
  for (const int rank : here_) {
    const std::vector<Offset>& list = words[place(rank)];
    if (rank == comm_.rank()) {
      heard[place(rank)] = list;
      continue;
    }
    transfer.send(reinterpret_cast<const std::byte*>(list.data()), std::ssize(list) * word, rank);
  }
  transfer.wait();
  for (const int rank : here_) {
    auto next = heard[place(rank)].begin();
    for (Carried& c : carried_) {
      for (std::size_t k = 0; k < c.dests_there.size(); ++k) c.out.push_back(*next++);
      const bool dest =
          std::find(c.dests_here.begin(), c.dests_here.end(), rank) != c.dests_here.end();
      if (!dest) continue;
      for (std::size_t k = 0; k < c.sources_there.size(); ++k) c.in.push_back(*next++);
    }
  }
}

void NodeAwareAlltoallv::allocate() {
  const auto n = here_.size();
  std::vector<Offset> to_carrier(n, 0), from_source(n, 0), to_dest(n, 0), from_carrier(n, 0);
  for (const Share& share : shares_) {
    const std::size_t at = place(carrier(share));
    for (const int dest : dests_there(share)) to_carrier[at] += length_to(dest);
    if (!is_dest_here(share)) continue;
    for (const int source : topology_.ranks_on(share.node)) from_carrier[at] += length_from(source);
  }
  for (Carried& c : carried_) {
    for (std::size_t s = 0; s < n; ++s) {
      const std::size_t width = c.dests_there.size();
      from_source[s] += sum(std::span(c.out).subspan(s * width, width));
    }
    for (std::size_t d = 0; d < c.dests_here.size(); ++d) {
      const std::size_t width = c.sources_there.size();
      to_dest[place(c.dests_here[d])] += sum(std::span(c.in).subspan(d * width, width));
    }
    c.outgoing.resize(static_cast<std::size_t>(sum(c.out)));
    c.incoming.resize(static_cast<std::size_t>(sum(c.in)));
  }
  const auto resize = [n](std::vector<Bytes>& buffers, const std::vector<Offset>& bytes) {
    buffers.resize(n);
    for (std::size_t k = 0; k < n; ++k) buffers[k].resize(static_cast<std::size_t>(bytes[k]));
  };
  resize(to_carriers_, to_carrier);
  resize(from_sources_, from_source);
  resize(to_dests_, to_dest);
  resize(from_carriers_, from_carrier);
}

void NodeAwareAlltoallv::bring_to_carriers(const std::byte* data, std::byte* received) {
  std::vector<std::byte*> end(here_.size());
  for (std::size_t k = 0; k < here_.size(); ++k) end[k] = to_carriers_[k].data();
  for (const Share& share : shares_) {
    std::byte*& out = end[place(carrier(share))];
    for (const int dest : dests_there(share)) {
      out = std::copy_n(data + to_.starts[static_cast<std::size_t>(dest)], length_to(dest), out);
    }
  }
  Transfer transfer(comm_, tag_alltoallv);
  for (const int rank : here_) {  // what stays on the node
    const auto r = static_cast<std::size_t>(rank);
    if (rank == comm_.rank()) {
      std::copy_n(data + to_.starts[r], to_.bytes[r], received + from_.starts[r]);
      continue;
    }
    transfer.receive(received + from_.starts[r], from_.bytes[r], rank);
  }
  for (const int rank : here_) {
    const auto r = static_cast<std::size_t>(rank);
    if (rank == comm_.rank()) continue;
    transfer.send(data + to_.starts[r], to_.bytes[r], rank);
  }
  Transfer carried(comm_, tag_alltoallv_carried);
  post(here_, comm_.rank(), to_carriers_, from_sources_, carried);
  carried.wait();
  transfer.wait();
  for (std::size_t s = 0; s < here_.size(); ++s) {
    const std::byte* from = from_sources_[s].data();
    for (Carried& c : carried_) {
      const std::size_t width = c.dests_there.size();
      const std::span<const Offset> out(c.out);
      const Offset n = sum(out.subspan(s * width, width));
      std::copy_n(from, n, c.outgoing.data() + sum(out.first(s * width)));
      from += n;
    }
  }
}

void NodeAwareAlltoallv::cross() {
  Transfer transfer(comm_, tag_alltoallv);
  for (Carried& c : carried_) {
    transfer.receive(c.incoming.data(), std::ssize(c.incoming),
                     map_.carrier(c.share.node, node_, c.share.part));
  }
  for (const Carried& c : carried_) {
    transfer.send(c.outgoing.data(), std::ssize(c.outgoing),
                  map_.carrier(c.share.node, node_, c.share.part));
  }
  transfer.wait();
  if (!carried_.empty()) comm_.ledger().count_waits(1);
}

void NodeAwareAlltoallv::spread(std::byte* received) {
  std::vector<std::byte*> end(here_.size());
  for (std::size_t k = 0; k < here_.size(); ++k) end[k] = to_dests_[k].data();
  for (const Carried& c : carried_) {
    const std::byte* from = c.incoming.data();
    for (std::size_t s = 0; s < c.sources_there.size(); ++s) {
      for (std::size_t d = 0; d < c.dests_here.size(); ++d) {
        const Offset n = c.in[d * c.sources_there.size() + s];
        std::byte*& out = end[place(c.dests_here[d])];
        out = std::copy_n(from, n, out);
        from += n;
      }
    }
  }
  Transfer transfer(comm_, tag_alltoallv);
  post(here_, comm_.rank(), to_dests_, from_carriers_, transfer);
  transfer.wait();
  std::vector<const std::byte*> next(here_.size());
  for (std::size_t k = 0; k < here_.size(); ++k) next[k] = from_carriers_[k].data();
  for (const Share& share : shares_) {
    if (!is_dest_here(share)) continue;
    const std::byte*& from = next[place(carrier(share))];
    for (const int source : topology_.ranks_on(share.node)) {
      const Offset n = length_from(source);
      std::copy_n(from, n, received + from_.starts[static_cast<std::size_t>(source)]);
      from += n;
    }
  }
}

void NodeAwareAlltoallv::run(const std::byte* data_to, std::byte* data_from) {
  const Communicating communicating(comm_);
  tell_lengths();
  collectively(comm_, [&] { allocate(); });
  bring_to_carriers(data_to, data_from);
  cross();
  spread(data_from);
}

}  // namespace

std::unique_ptr<BlockExchange> make_node_aware(const Comm& comm, const Blocks& to,
                                               const Blocks& from) {
  return std::make_unique<NodeAwareAlltoallv>(comm, to, from);
}

}  // namespace nodewise::mpi::collectives
