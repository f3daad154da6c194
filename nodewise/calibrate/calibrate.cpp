#include "nodewise/calibrate/calibrate.hpp"

#include "nodewise/calibrate/cards.hpp"
#include "nodewise/calibrate/measure.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::calibrate {

namespace {

double weight_of(const Cards& cards) {
  if (!cards.why_none.empty()) return 0;
  return MeasureWeights::copies + (cards.no_messages.empty() ? MeasureWeights::card_messages : 0);
}

Record measure_all(const std::shared_ptr<const mpi::Comm>& comm, const CalibrateOptions& options,
                   const PartObserver& observe) {
  Record record;
  record.host = describe_host();
  const Cards cards = find_cards(*comm);
  Stopwatch stopwatch(comm, options.seconds, MeasureWeights::total + weight_of(cards), observe);
  const double largest = options.largest_message;
  measure_ping_pong(stopwatch, largest, record);
  measure_injection(stopwatch, largest, record);
  measure_queue(stopwatch, record);
  measure_positions(stopwatch, record);
  measure_contention(stopwatch, record);
  measure_overheads(stopwatch, record);
  measure_overlap(stopwatch, record);
  measure_allreduce(stopwatch, record);
  measure_triad(stopwatch, record);
  measure_spmv(stopwatch, record);
  measure_level_products(stopwatch, record);
  measure_cards(stopwatch, cards, largest, record);
  record.seconds = stopwatch.elapsed();
  return record;
}

}  // namespace

Calibration calibrate(const std::shared_ptr<const mpi::Comm>& comm,
                      const run::Environment& environment, const CalibrateOptions& options,
                      const model::Machine* base, const PartObserver& observe) {
  Calibration result;
  result.record = measure_all(comm, options, observe);
  result.record.environment = environment;
  mpi::collectively(*comm, [&] {
    if (!comm->is_root()) return;
    result.fits = fit_measurements(result.record, base);
    if (base != nullptr || environment.ranks_per_node.size() > 1) {
      result.machine = make_machine(result.record, result.fits, base, options.name);
    }
  });
  return result;
}

}  // namespace nodewise::calibrate
