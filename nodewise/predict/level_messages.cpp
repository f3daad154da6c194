#include "nodewise/predict/level_messages.hpp"

#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/model/gpu_exchange.hpp"
#include "nodewise/model/message_recorder.hpp"

namespace nodewise::predict {

namespace {

/// Whether messages go from the ghosts to their owners. A restriction is a product of its own, or
/// one with the interpolation transposed.
bool is_backwards(const VirtualExchange& exchange, Exchanged what) {
  return what == Exchanged::restriction &&
         (exchange.operation != CountedExchange::restriction || exchange.is_reversed);
}

}  // namespace

std::int64_t value_bytes(const amg::Hierarchy<double>& hierarchy, std::size_t level) {
  const bool is_single_precision = hierarchy.levels()[level].is_single_precision;
  return static_cast<std::int64_t>(is_single_precision ? sizeof(float) : sizeof(double));
}

model::MessageStages messages_of(const VirtualExchange& exchange, const VirtualMachine& machine,
                                 std::span<const amg::LevelSetup> setups,
                                 std::int64_t bytes_of_value, Exchanged what) {
  model::MessageRecorder recorder(static_cast<int>(exchange.plans.size()));
  const mpi::Topology& topology = machine.topology;
  const auto& plans = exchange.setup_plans.empty() ? exchange.plans : exchange.setup_plans;
  const amg::VirtualPlans planned = {plans, topology, machine.routes[exchange.route]};
  switch (what) {
    case Exchanged::product:
    case Exchanged::prolongation:
      break;
    case Exchanged::restriction:
      if (!is_backwards(exchange, what)) break;
      comm::visit_reversed_messages(exchange.plans, topology, recorder.visitor(bytes_of_value));
      return recorder.take();
    case Exchanged::splitting:
      return setups[exchange.level].splitting(planned);
    case Exchanged::spectral_radius:
      return setups[exchange.level].spectral_radius(planned);
    case Exchanged::row_scales:
      return setups[exchange.level].row_scales(planned);
    case Exchanged::interpolation:
      return setups[exchange.level].interpolation(planned);
    case Exchanged::interpolation_rows:
      return setups[exchange.level].interpolation_rows(planned);
    case Exchanged::product_rows:
      return setups[exchange.level].product_rows(planned);
    case Exchanged::requests:
      return setups[exchange.level].requests(planned.route, topology);
    case Exchanged::redistribution:
      return setups[exchange.level].redistribution(topology);
  }
  comm::visit_messages(exchange.plans, topology, recorder.visitor(bytes_of_value));
  return recorder.take();
}

model::GpuBytes most_copied(const VirtualExchange& exchange, std::int64_t bytes_of_value,
                            Exchanged what) {
  const auto bytes = static_cast<double>(bytes_of_value);
  const model::GpuBytes forward = model::most_bytes(exchange.plans, bytes);
  return is_backwards(exchange, what) ? forward.reversed() : forward;
}

std::vector<Exchanged> exchanged_in_cycle(CountedExchange operation, bool is_one_way) {
  switch (operation) {
    case CountedExchange::product:
      return {Exchanged::product};
    case CountedExchange::interpolation:
      if (is_one_way) return {Exchanged::prolongation};
      return {Exchanged::restriction, Exchanged::prolongation};
    case CountedExchange::restriction:
      return {Exchanged::restriction};
    case CountedExchange::interpolation_rows:
      break;
  }
  return {};
}

std::vector<Exchanged> exchanged_in_setup(CountedExchange operation, bool has_restriction) {
  switch (operation) {
    case CountedExchange::interpolation_rows:
      return {Exchanged::splitting, Exchanged::spectral_radius, Exchanged::row_scales,
              Exchanged::interpolation, Exchanged::interpolation_rows};
    case CountedExchange::interpolation:
      if (has_restriction) return {Exchanged::requests, Exchanged::redistribution};
      return {Exchanged::product_rows, Exchanged::requests, Exchanged::redistribution};
    case CountedExchange::restriction:
      if (!has_restriction) return {};
      return {Exchanged::product_rows};
    case CountedExchange::product:
      break;
  }
  return {};
}

}  // namespace nodewise::predict
