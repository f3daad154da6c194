#include "nodewise/comm/sdde/joined.hpp"

#include <algorithm>
#include <cstring>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm::sdde {

namespace {

void append(Array<std::byte>& data, std::span<const std::byte> bytes) {
  data.insert(data.end(), bytes.begin(), bytes.end());
}

Aggregates aggregate(std::vector<Carrier::Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.to < b.to; });
  std::size_t bytes = 0;
  for (const auto& record : records) bytes += sizeof(JoinedHeader) + record.data.size();
  Aggregates all;
  all.data.reserve(bytes);
  for (const auto& record : records) {
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

/// Calls visit(header, data) for each message inside a joined one.
template <class Visit>
void disaggregate(std::span<const std::byte> data, Visit&& visit) {
  while (!data.empty()) {
    JoinedHeader header;
    std::memcpy(&header, data.data(), sizeof header);
    const auto bytes = static_cast<std::size_t>(header.bytes);
    visit(header, data.subspan(sizeof header, bytes));
    data = data.subspan(sizeof header + bytes);
  }
}

/// Runs local work of a rank that has not failed so far; one that fails goes on without messages.
template <class Work>
Aggregates attempt(std::optional<Error>& error, Work&& work) {
  Aggregates made;
  if (!error) error = mpi::caught([&] { made = work(); });
  if (error) made = {};
  return made;
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

Aggregates leaving_of(Call& call, Carrier& carrier) {
  return attempt(call.error, [&] { return carrier.joined_leaving(); });
}

}  // namespace

Carrier::Carrier(const Channel& channel)
    : me_(channel.comm.rank()), regions_(channel.regions()), region_(regions_.node(me_)) {}

void Carrier::load(const detail::SparseSends& sends) {
  for (std::size_t i = 0; i < sends.ranks.size(); ++i) {
    const auto begin = static_cast<std::size_t>(sends.offsets[i]) * sends.item_bytes;
    const auto end = static_cast<std::size_t>(sends.offsets[i + 1]) * sends.item_bytes;
    const std::span<const std::byte> data = sends.data.subspan(begin, end - begin);
    const int to = sends.ranks[i];
    const JoinedHeader header{to, static_cast<std::int64_t>(data.size())};
    if (regions_.node(to) == region_) {
      pass_on(me_, header, data);
    } else {
      leaving_.push_back({regions_.corresponding_rank(me_, regions_.node(to)), header, data});
    }
  }
}

void Carrier::unload(const ReceiveBuffers& arrived) {
  for (const ReceiveBuffers::Message& message : arrived.messages()) {
    disaggregate(message.data, [&](const JoinedHeader& header, std::span<const std::byte> data) {
      pass_on(message.source, header, data);
    });
  }
}

Aggregates Carrier::joined_leaving() {
  return aggregate(leaving_);
}

Aggregates Carrier::joined_staying() {
  return aggregate(staying_);
}

void Carrier::pass_on(int source, const JoinedHeader& header, std::span<const std::byte> data) {
  const auto place = regions_.place_on_node(static_cast<int>(header.rank));
  staying_.push_back({static_cast<int>(place), {source, header.bytes}, data});
}

void between_personalized(Call& call, Carrier& carrier, ReceiveBuffers& arrived) {
  const Aggregates leaving = leaving_of(call, carrier);
  SendRequests outbox(call.channel, leaving.sends());
  if (call.counts) {
    if (call.error) send_empty_pieces(call);
    return send_counted(call.channel, outbox, arrived, call.counts->expected_joined);
  }
  call.termination.start(call.vote());
  send_personalized(call.channel, outbox, arrived);
  call.termination.wait();
}

void between_nonblocking(Call& call, Carrier& carrier, ReceiveBuffers& arrived) {
  const Aggregates leaving = leaving_of(call, carrier);
  SendRequests outbox(call.channel, leaving.sends());
  send_nonblocking(call.channel, outbox, arrived, call.termination, call.vote());
}

void exchange_joined(Call& call, const JoinedSteps& steps) {
  Carrier carrier(call.channel);
  if (!call.error) call.error = mpi::caught([&] { carrier.load(call.sends); });
  ReceiveBuffers arrived;
  steps.between(call, carrier, arrived);
  if (call.is_void()) return;

  if (!call.error) call.error = arrived.failure();
  const Aggregates staying = attempt(call.error, [&] {
    carrier.unload(arrived);
    return carrier.joined_staying();
  });
  ReceiveBuffers redistributed;
  const mpi::Comm& region = call.channel.comm.region(call.channel.region);
  const Channel channel{region, region.next_discovery_tag(), call.channel.piece_bytes};
  SendRequests outbox(channel, staying.sends());
  steps.within(channel, outbox, redistributed);

  if (!call.error) call.error = redistributed.failure();
  for (const ReceiveBuffers::Message& message : redistributed.messages()) {
    disaggregate(message.data, [&](const JoinedHeader& header, std::span<const std::byte> data) {
      call.inbox.take(static_cast<int>(header.rank), data);
    });
  }
}

}  // namespace nodewise::comm::sdde
