// From device to device, by an MPI library that takes their addresses.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/transport/stage_carrier.hpp"
#include "nodewise/device/buffer.hpp"
#include "nodewise/device/items.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/offload/transport/make_in.hpp"

namespace nodewise::offload {

namespace {

/// Runs a plan as comm::Exchange does, whose pool and messages lie on the device.
template <class Space>
class Direct final : public Carrier<Space> {
 public:
  explicit Direct(const CarrierCall<Space>& call)
      : card_(call.card), comm_(call.comm), plan_(call.plan) {
    mpi::collectively(*comm_, [&] { make_stages(call); });
  }

  void forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) override {
    const mpi::Communicating communicating(*comm_);
    std::byte* const pool = plan_.receives_in_place() ? ghosts : pool_.data();
    const device::ItemArrays from = {owned, plan_.n_owned, pool, item_bytes};
    for (Stage& stage : stages_) run(stage, from, pool);
    if (plan_.ghost_entries.empty()) return;
    card_.local([&] {
      device::gather_items(card_.queue, plan_.n_ghosts, ghost_entries_.data(), from, ghosts);
    });
  }

  std::size_t bytes() const override {
    std::size_t sum = ghost_entries_.bytes() + pool_.bytes();
    for (const Stage& stage : stages_) sum += stage.entries.bytes() + stage.packed.bytes();
    return sum;
  }

 private:
  struct Stage {
    const comm::Stage* messages;
    std::size_t begin;  // its entries' place in the received part of the pool
    device::Buffer<LocalIndex, Space> entries;
    device::Buffer<std::byte, Space> packed;
    std::unique_ptr<comm::transport::StageCarrier> carrier;
    std::vector<comm::transport::Part> sends, receives;
  };

  void make_stages(const CarrierCall<Space>& call) {
    const std::size_t most = call.most_item_bytes;
    std::size_t received = 0;
    for (const comm::Stage& messages : plan_.stages) {
      Stage& stage = stages_.emplace_back();
      stage.messages = &messages;
      stage.begin = received;
      stage.entries = device::Buffer<LocalIndex, Space>(
          card_.queue, std::span<const LocalIndex>(messages.send_entries));
      stage.packed = device::Buffer<std::byte, Space>(stage.entries.size() * most);
      stage.carrier = std::make_unique<comm::transport::StageCarrier>(
          comm::transport::Setting{comm_, comm::Exchange::default_max_message_bytes}, messages,
          call.transport);
      received += static_cast<std::size_t>(messages.n_received());
    }
    if (!plan_.receives_in_place()) pool_ = device::Buffer<std::byte, Space>(received * most);
    ghost_entries_ = device::Buffer<LocalIndex, Space>(
        card_.queue, std::span<const LocalIndex>(plan_.ghost_entries));
  }

  void run(Stage& stage, const device::ItemArrays& from, std::byte* pool) {
    card_.local([&] {
      device::gather_items(card_.queue, static_cast<std::int64_t>(stage.entries.size()),
                           stage.entries.data(), from, stage.packed.data());
      card_.queue.wait();
    });
    const auto bytes = static_cast<Offset>(from.item_bytes);
    comm::transport::set_parts(stage.messages->send_offsets, bytes, stage.sends);
    comm::transport::set_parts(stage.messages->recv_offsets, bytes, stage.receives);
    stage.carrier->start(comm::transport::Direction::forward,
                         {.sends = stage.sends,
                          .receives = stage.receives,
                          .send_data = stage.packed.data(),
                          .recv_data = pool + stage.begin * from.item_bytes,
                          .item_bytes = from.item_bytes});
    stage.carrier->finish();
  }

  Card<Space>& card_;
  std::shared_ptr<const mpi::Comm> comm_;
  comm::Plan plan_;
  std::vector<Stage> stages_;
  device::Buffer<LocalIndex, Space> ghost_entries_;
  device::Buffer<std::byte, Space> pool_;
};

/// By MPI's own allreduce, which gets the device's addresses.
template <class Space>
class DirectAdder final : public Adder<Space> {
 public:
  explicit DirectAdder(const AdderCall<Space>& call) : card_(call.card), comm_(call.comm) {}

  void add(double* values, std::size_t n) override {
    constexpr std::size_t most = std::size_t{1} << 30;  // that MPI counts
    card_.local([&] { card_.queue.wait(); });
    for (std::size_t begin = 0; begin < n; begin += most) {
      const mpi::CollectiveCall call(*comm_);
      mpi::check(
          MPI_Allreduce(MPI_IN_PLACE, values + begin, static_cast<int>(std::min(most, n - begin)),
                        MPI_DOUBLE, MPI_SUM, comm_->get()),
          "MPI_Allreduce");
    }
  }

 private:
  Card<Space>& card_;
  std::shared_ptr<const mpi::Comm> comm_;
};

}  // namespace

const DeviceTransportMethod& direct_method() {
  static const DeviceTransportMethod method = {
      {"direct", "from device to device, by an MPI library that takes their addresses",
       "Bienz, Olson, Gropp, Lockhart 2021"},
      true,
      false,
      make_carriers<Direct>(),
      make_adders<DirectAdder>(),
      []() -> const model::GpuTransport& { return modelled("direct"); }};
  return method;
}

}  // namespace nodewise::offload
