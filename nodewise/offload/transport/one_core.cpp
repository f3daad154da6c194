// Copied to the host by one core, which sends and receives.
#include <span>
#include <utility>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/device/buffer.hpp"
#include "nodewise/device/items.hpp"
#include "nodewise/offload/transport/make_in.hpp"

namespace nodewise::offload {

namespace {

/// What other ranks need is packed on the device, copied to the host, exchanged there, and what
/// comes is copied back: two copies for each rank that has neighbours, and the messages of the
/// plan.
template <class Space>
class OneCore final : public Carrier<Space> {
 public:
  explicit OneCore(const CarrierCall<Space>& call)
      : card_(call.card),
        n_owned_(call.plan.n_owned),
        exchange_(call.comm, comm::of_exported_entries(call.plan), call.transport) {
    mpi::collectively(*call.comm, [&] {
      const std::vector<LocalIndex> exported = call.plan.exported_entries();
      const std::size_t most = call.most_item_bytes;
      exported_ =
          device::Buffer<LocalIndex, Space>(card_.queue, std::span<const LocalIndex>(exported));
      packed_ = device::Buffer<std::byte, Space>(exported.size() * most);
      sent_ = device::Staging<std::byte, Space>(packed_.size());
      received_ =
          device::Staging<std::byte, Space>(static_cast<std::size_t>(call.plan.n_ghosts) * most);
    });
  }

  void forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) override {
    const std::size_t n_sent = exported_.size() * item_bytes;
    const std::size_t n_received = static_cast<std::size_t>(exchange_.plan().n_ghosts) * item_bytes;
    card_.local([&] {
      if (n_sent == 0) return;
      device::gather_items(card_.queue, static_cast<std::int64_t>(exported_.size()),
                           exported_.data(), {owned, n_owned_, nullptr, item_bytes},
                           packed_.data());
      card_.queue.copy_out(sent_.data(), packed_.data(), n_sent);
      card_.queue.wait();
    });
    exchange_.forward(std::span<const std::byte>(sent_.span()), received_.span(),
                      static_cast<int>(item_bytes));
    card_.local([&] {
      if (n_received == 0) return;
      card_.queue.copy_in(ghosts, received_.data(), n_received);
      card_.queue.wait();
    });
  }

  std::size_t bytes() const override { return exported_.bytes() + packed_.bytes(); }

 private:
  Card<Space>& card_;
  LocalIndex n_owned_;
  comm::Exchange exchange_;
  device::Buffer<LocalIndex, Space> exported_;
  device::Buffer<std::byte, Space> packed_;
  device::Staging<std::byte, Space> sent_, received_;
};

/// Copied to the host, added there by the collective of the communicator's settings, and copied
/// back.
template <class Space>
class OneCoreAdder final : public Adder<Space> {
 public:
  explicit OneCoreAdder(const AdderCall<Space>& call) : card_(call.card), comm_(call.comm) {
    mpi::collectively(*comm_, [&] { values_ = device::Staging<double, Space>(call.most); });
  }

  void add(double* values, std::size_t n) override {
    card_.local([&] {
      card_.queue.copy_out(values_.data(), values, n * sizeof(double));
      card_.queue.wait();
    });
    mpi::sum_in_place(*comm_, std::span<double>(values_.data(), n));
    card_.local([&] {
      card_.queue.copy_in(values, values_.data(), n * sizeof(double));
      card_.queue.wait();
    });
  }

 private:
  Card<Space>& card_;
  std::shared_ptr<const mpi::Comm> comm_;
  device::Staging<double, Space> values_;
};

}  // namespace

const DeviceTransportMethod& one_core_method() {
  static const DeviceTransportMethod method = {
      {"one_core", "copied to the host by one core, which sends and receives",
       "Bienz, Olson, Gropp, Lockhart 2021"},
      false,
      false,
      make_carriers<OneCore>(),
      make_adders<OneCoreAdder>(),
      []() -> const model::GpuTransport& { return modelled("one_core"); }};
  return method;
}

}  // namespace nodewise::offload
