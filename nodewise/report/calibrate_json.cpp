#include "nodewise/report/calibrate_json.hpp"

#include <nlohmann/json.hpp>

#include "nodewise/io/machine_file.hpp"
#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

using calibrate::AllreduceTimes;
using calibrate::ContentionTimes;
using calibrate::Fits;
using calibrate::NotMeasured;
using calibrate::OverheadTimes;
using calibrate::OverlapTimes;
using calibrate::PathFit;
using calibrate::SenderTimes;
using calibrate::SizeTimes;
using calibrate::SpmvTimes;
using calibrate::TriadTimes;
using calibrate::VolumeTimes;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int calibrate_schema_version = 1;

Json estimate_json(const model::Estimate& e) {
  return {{"value", number(e.value)}, {"low", number(e.low)}, {"high", number(e.high)}};
}

Json postal_json(const model::PostalFit& fit) {
  return {{"first_bytes", fit.first_bytes},
          {"last_bytes", fit.last_bytes},
          {"latency_s", estimate_json(fit.latency_s)},
          {"s_per_byte", estimate_json(fit.seconds_per_byte)},
          {"rate_bytes_per_s", number(fit.rate_bytes_per_s())},
          {"times_grow", fit.has_rate()},
          {"relative_error", number(fit.relative_error)}};
}

Json limit_json(const model::InjectionFit& fit) {
  return {{"reached", fit.reached},
          {"bytes_per_s", estimate_json(fit.bytes_per_s)},
          {"relative_error", number(fit.relative_error)}};
}

Json queue_json(const std::optional<model::QueueFit>& fit) {
  if (!fit) return nullptr;
  return {{"base_s", estimate_json(fit->base_s)},
          {"per_message_s", estimate_json(fit->per_message_s)},
          {"queue_search_s", estimate_json(fit->queue_search_s)},
          {"relative_error", number(fit->relative_error)}};
}

Json gap_json(const std::optional<model::PostalFit>& fit) {
  if (!fit) return nullptr;
  return {{"base_s", estimate_json(fit->latency_s)},
          {"per_message_s", estimate_json(fit->seconds_per_byte)},
          {"relative_error", number(fit->relative_error)}};
}

Json path_fit_json(const PathFit& fit) {
  Json json = Json::object();
  for (std::size_t p = 0; p < fit.protocols.size(); ++p) {
    if (!fit.protocols[p]) continue;
    Json protocol = postal_json(*fit.protocols[p]);
    if (fit.injection[p]) protocol["injection"] = limit_json(*fit.injection[p]);
    json[to_string(static_cast<model::Protocol>(p))] = protocol;
  }
  return json;
}

Json switch_sizes_json(const model::SwitchSizes& sizes) {
  return {{"short_bytes", sizes.short_bytes}, {"eager_bytes", sizes.eager_bytes}};
}

Json points_json(const std::vector<SizeTimes>& sizes) {
  Json points = Json::array();
  for (const SizeTimes& size : sizes) {
    points.push_back({{"bytes", size.bytes}, {"times_s", size.times.seconds}});
  }
  return points;
}

/// Null where nothing was measured on cards.
Json cards_json(const calibrate::Record& record, const Fits& fits) {
  if (record.copies.empty()) return nullptr;
  Json copies = Json::array();
  for (std::size_t k = 0; k < record.copies.size(); ++k) {
    const calibrate::CopyTimes& copy = record.copies[k];
    copies.push_back({{"direction", copy.direction},
                      {"processes", copy.processes},
                      {"points", points_json(copy.sizes)},
                      {"fit", postal_json(fits.copies[k].fit)}});
  }
  Json messages = Json::array();
  for (std::size_t k = 0; k < record.card_paths.size(); ++k) {
    const calibrate::PathTimes& path = record.card_paths[k];
    messages.push_back({{"locality", path.locality},
                        {"pairs", path.pairs},
                        {"points", points_json(path.sizes)},
                        {"short", postal_json(fits.card_paths[k].to_switch)},
                        {"long", postal_json(fits.card_paths[k].beyond)}});
  }
  return {{"name", record.card},
          {"of_a_node", record.cards_of_a_node},
          {"copies", copies},
          {"switch_bytes", fits.card_switch_bytes},
          {"messages", messages}};
}

Json ping_pong_json(const calibrate::Record& record, const Fits& fits) {
  Json paths = Json::array();
  for (std::size_t k = 0; k < record.paths.size(); ++k) {
    Json latencies = Json::array();
    for (const auto& of_pair : record.paths[k].shortest) latencies.push_back(of_pair.seconds);
    paths.push_back({{"locality", record.paths[k].locality},
                     {"pairs", record.paths[k].pairs},
                     {"latencies_of_pairs_s", latencies},
                     {"points", points_json(record.paths[k].sizes)},
                     {"switch_sizes", switch_sizes_json(fits.paths[k].switch_sizes)},
                     {"fits", path_fit_json(fits.paths[k])}});
  }
  return paths;
}

Json volume_json(const std::vector<VolumeTimes>& volumes) {
  Json points = Json::array();
  for (const VolumeTimes& v : volumes) {
    points.push_back({{"messages", v.messages},
                      {"bytes", v.bytes},
                      {"in_order_s", v.in_order.seconds},
                      {"reversed_s", v.reversed.seconds}});
  }
  return points;
}

Json positions_json(const calibrate::QueuePositions& positions) {
  if (positions.in_order.empty()) return nullptr;
  return {{"messages", positions.messages},
          {"in_order", positions.in_order},
          {"reversed", positions.reversed}};
}

Json injection_json(const calibrate::Record& record) {
  Json points = Json::array();
  for (const SenderTimes& s : record.injection) {
    points.push_back({{"senders", s.senders}, {"bytes", s.bytes}, {"times_s", s.times.seconds}});
  }
  return points;
}

Json contention_json(const calibrate::Record& record, const Fits& fits) {
  Json points = Json::array();
  for (const ContentionTimes& c : record.contention) {
    points.push_back({{"messages", c.messages},
                      {"bytes", c.bytes},
                      {"link_bytes", c.link_bytes},
                      {"alone_s", c.alone.seconds},
                      {"together_s", c.together.seconds}});
  }
  return {{"points", points},
          {"s_per_byte", fits.contention ? estimate_json(*fits.contention) : Json(nullptr)}};
}

Json overlap_json(const calibrate::Record& record) {
  Json points = Json::array();
  for (const OverlapTimes& o : record.overlap) {
    Json sweep = Json::array();
    for (const OverlapTimes::Swept& s : o.sweep) {
      sweep.push_back({{"work_s", s.work_s}, {"both_s", s.both.seconds}});
    }
    points.push_back({{"direction", o.direction},
                      {"bytes", o.bytes},
                      {"message_s", o.message.seconds},
                      {"work_s", o.work.seconds},
                      {"both_s", o.both.seconds},
                      {"overlap", number(o.fraction())},
                      {"sweep", sweep}});
  }
  return points;
}

Json products_json(const std::vector<SpmvTimes>& products) {
  Json json = Json::array();
  for (const SpmvTimes& s : products) {
    json.push_back({{"rows", s.rows},
                    {"nonzeros", s.nonzeros},
                    {"times_s", s.times.seconds},
                    {"s_per_flop", number(s.s_per_flop())}});
  }
  return json;
}

Json computation_json(const calibrate::Record& record) {
  Json triad = Json::array();
  for (const TriadTimes& t : record.triad) {
    triad.push_back({{"threads", t.threads},
                     {"array_bytes", t.array_bytes},
                     {"times_s", t.times.seconds},
                     {"bytes_per_s", number(t.bytes_per_s())}});
  }
  return {{"triad", triad},
          {"spmv", products_json(record.spmv)},
          {"level_products", products_json(record.level_products)}};
}

Json sums_json(const calibrate::Record& record) {
  Json points = Json::array();
  for (const AllreduceTimes& a : record.allreduce) {
    points.push_back(
        {{"algorithm", a.algorithm}, {"bytes", a.bytes}, {"times_s", a.times.seconds}});
  }
  return points;
}

Json overheads_json(const calibrate::Record& record) {
  Json points = Json::array();
  for (const OverheadTimes& o : record.overheads) {
    points.push_back(
        {{"locality", o.locality}, {"send_s", o.send.seconds}, {"receive_s", o.receive.seconds}});
  }
  return points;
}

Json missing_json(const calibrate::Record& record) {
  Json list = Json::array();
  for (const NotMeasured& n : record.not_measured) {
    list.push_back({{"what", n.what}, {"why", n.why}});
  }
  return list;
}

}  // namespace

std::string calibrate_json(const calibrate::Calibration& found, const RunFrame& run) {
  const calibrate::Record& record = found.record;
  const Fits& fits = found.fits;
  const std::optional<model::Machine>& machine = found.machine;
  return dumped(
      {{"schema_version", calibrate_schema_version},
       {"program", program_json()},
       {"command_line", run.command_line},
       {"machine", machine_json(run.machine)},
       {"options", options_json(run.options)},
       {"seconds", record.seconds},
       {"switch_sizes",
        {{"short_bytes", fits.switch_sizes.short_bytes},
         {"eager_bytes", fits.switch_sizes.eager_bytes},
         {"from", text_or_null(fits.switches_from)}}},
       {"ping_pong", ping_pong_json(record, fits)},
       {"injection", injection_json(record)},
       {"queue",
        {{"locality", text_or_null(record.queue_locality)},
         {"points", volume_json(record.queue)},
         {"fit_in_order", queue_json(fits.queue_in_order)},
         {"fit_reversed", queue_json(fits.queue_reversed)},
         {"positions", positions_json(record.positions)}}},
       {"messages_in_a_row",
        {{"points", volume_json(record.far_volume)}, {"fit", gap_json(fits.in_a_row)}}},
       {"contention", contention_json(record, fits)},
       {"overheads", overheads_json(record)},
       {"overlap", overlap_json(record)},
       {"sums", sums_json(record)},
       {"computation", computation_json(record)},
       {"cards", cards_json(record, fits)},
       {"not_measured", missing_json(record)},
       {"machine_file", machine ? Json::parse(io::print_machine(*machine)) : Json(nullptr)}});
}

}  // namespace nodewise::report
