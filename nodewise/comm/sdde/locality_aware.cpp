#include <algorithm>
#include <cstring>
#include <vector>

#include "nodewise/comm/sdde/algorithms.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm::sdde {

namespace {

using Header = JoinedHeader;

/// A message to be sent within an aggregated one.
struct Record {
  int to;  ///< who receives the aggregate
  Header header;
  std::span<const std::byte> data;
};

struct Aggregates {
  std::vector<int> ranks;
  std::vector<Offset> offsets = {0};
  Array<std::byte> data;

  detail::SparseSends sends() const { return {ranks, offsets, data}; }
};

void append(Array<std::byte>& data, std::span<const std::byte> bytes) {
  data.insert(data.end(), bytes.begin(), bytes.end());
}

Aggregates aggregate(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.to < b.to; });
  std::size_t bytes = 0;
  for (const Record& record : records) bytes += sizeof(Header) + record.data.size();
  Aggregates all;
  all.data.reserve(bytes);
  for (const Record& record : records) {
    if (all.ranks.empty() || all.ranks.back() != record.to) {
      all.ranks.push_back(record.to);
      all.offsets.push_back(all.offsets.back());
    }
    append(all.data, std::as_bytes(std::span(&record.header, 1)));
    append(all.data, record.data);
    all.offsets.back() = static_cast<Offset>(all.data.size());
  }
  return all;
}

/// Calls visit(header, data) for each message inside an aggregated one.
template <class Visit>
void disaggregate(std::span<const std::byte> data, Visit&& visit) {
  while (!data.empty()) {
    Header header;
    std::memcpy(&header, data.data(), sizeof header);
    const auto bytes = static_cast<std::size_t>(header.bytes);
    visit(header, data.subspan(sizeof header, bytes));
    data = data.subspan(sizeof header + bytes);
  }
}

/// One rank's part in bringing messages from node to node.
class Carrier {
 public:
  explicit Carrier(const mpi::Comm& comm)
      : comm_(comm), topology_(comm.topology()), node_(topology_.node(comm.rank())) {}

  /// Local. Splits this rank's messages into those that cross the network and those that do not.
  void load(const detail::SparseSends& sends) {
    for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
      const auto begin = static_cast<std::size_t>(sends.offsets[i]) * sends.item_bytes;
      const auto end = static_cast<std::size_t>(sends.offsets[i + 1]) * sends.item_bytes;
      const std::span<const std::byte> data = sends.data.subspan(begin, end - begin);
      const int to = sends.ranks[i];
      const Header header{to, static_cast<std::int64_t>(data.size())};
      if (topology_.node(to) == node_) {
        pass_on(comm_.rank(), header, data);
      } else {
        crossing_.push_back(
            {topology_.corresponding_rank(comm_.rank(), topology_.node(to)), header, data});
      }
    }
  }
  /// Local. Takes over what ranks of other nodes sent to this node through this rank.
  void unload(ReceiveBuffers& arrived) {
    for (const ReceiveBuffers::Message& message : arrived.messages()) {
      disaggregate(message.data, [&](const Header& header, std::span<const std::byte> data) {
        pass_on(message.source, header, data);
      });
    }
  }
  Aggregates crossing() { return aggregate(crossing_); }
  Aggregates on_node() { return aggregate(on_node_); }

 private:
  void pass_on(int source, const Header& header, std::span<const std::byte> data) {
    const auto place = topology_.place_on_node(static_cast<int>(header.rank));
    on_node_.push_back({static_cast<int>(place), {source, header.bytes}, data});
  }

  const mpi::Comm& comm_;
  const mpi::Topology& topology_;
  int node_;
  std::vector<Record> crossing_;
  std::vector<Record> on_node_;
};

void send_on_node(const Channel& channel, const Aggregates& aggregates, bool synchronous,
                  ReceiveBuffers& inbox) {
  SendRequests outbox(channel, aggregates.sends());
  if (!synchronous) return send_personalized(channel, outbox, inbox);
  TerminationReduction termination(channel.comm);
  send_nonblocking(channel, outbox, inbox, termination, {});
}

/// What a rank that failed since the counts has announced to others, and they wait for.
void send_empty_pieces(const Call& call) {
  const Channel& channel = call.channel;
  for (int to = 0; to < channel.comm.size(); ++to) {
    for (Offset n = call.counts->joined_pieces[static_cast<std::size_t>(to)]; n > 0; --n) {
      mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, to, channel.tag, channel.comm.get()), "MPI_Send");
      channel.comm.count_message(to, 0);
    }
  }
}

void send_between_nodes(Call& call, const Aggregates& aggregates, bool synchronous,
                        ReceiveBuffers& inbox) {
  SendRequests outbox(call.channel, aggregates.sends());
  if (call.counts) {
    if (call.error) send_empty_pieces(call);
    send_counted(call.channel, outbox, inbox, call.counts->expected_joined);
  } else if (synchronous) {
    send_nonblocking(call.channel, outbox, inbox, call.termination, call.vote());
  } else {
    call.termination.start(call.vote());
    send_personalized(call.channel, outbox, inbox);
    call.termination.wait();
  }
}

/// Runs local work of a rank that has not failed so far; one that fails goes on without messages.
template <class Work>
void attempt(std::optional<Error>& error, Work&& work) {
  if (!error) error = mpi::caught(std::forward<Work>(work));
}

}  // namespace

void locality_aware(Call& call, bool synchronous) {
  const mpi::Comm& comm = call.channel.comm;
  Carrier carrier(comm);
  Aggregates crossing;
  attempt(call.error, [&] {
    carrier.load(call.sends);
    crossing = carrier.crossing();
  });
  if (call.error) crossing = {};
  ReceiveBuffers arrived;
  send_between_nodes(call, crossing, synchronous, arrived);
  if (call.is_void()) return;

  if (!call.error) call.error = arrived.failure();
  Aggregates on_node;
  attempt(call.error, [&] {
    carrier.unload(arrived);
    on_node = carrier.on_node();
  });
  if (call.error) on_node = {};
  ReceiveBuffers redistributed;
  const Channel channel{comm.node(), comm.node().next_discovery_tag(), call.channel.piece_bytes};
  send_on_node(channel, on_node, synchronous, redistributed);

  if (!call.error) call.error = redistributed.failure();
  for (const ReceiveBuffers::Message& message : redistributed.messages()) {
    disaggregate(message.data, [&](const Header& header, std::span<const std::byte> data) {
      call.inbox.take(static_cast<int>(header.rank), data);
    });
  }
}

const mpi::SparseExchangeMethod& locality_personalized_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_personalized", "one message a rank and destination node, then on the node",
       "Geyko et al. 2024, algorithm 4"},
      false,
      "personalized",
      [](Call& call) { locality_aware(call, false); }};
  return method;
}

const mpi::SparseExchangeMethod& locality_nonblocking_method() {
  static const mpi::SparseExchangeMethod method = {
      {"locality_nonblocking", "the same with synchronous sends and a nonblocking barrier",
       "Geyko et al. 2024, algorithm 5"},
      false,
      "nonblocking",
      [](Call& call) { locality_aware(call, true); }};
  return method;
}

}  // namespace nodewise::comm::sdde
