#include "nodewise/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/base/types.hpp"

namespace nodewise::calibrate {

namespace {

using model::Locality;
using model::Protocol;
using model::Sample;

constexpr double many_messages = 64;

constexpr std::size_t index(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}

/// Two pieces are the buffered and the other messages; of one piece all are alike.
model::SwitchSizes switches_of(const std::vector<model::PostalFit>& pieces) {
  const auto end = [&](std::size_t k) { return static_cast<std::int64_t>(pieces[k].last_bytes); };
  if (pieces.size() >= 3) return {end(0), end(pieces.size() - 2)};
  if (pieces.size() == 2) return {0, end(0)};
  return {0, 0};
}

/// [first, last] of the sizes that go by a protocol.
std::pair<double, double> range_of(const model::SwitchSizes& switches, Protocol protocol) {
  const auto short_end = static_cast<double>(switches.short_bytes);
  const auto eager_end = static_cast<double>(switches.eager_bytes);
  if (protocol == Protocol::in_envelope) return {0, short_end};
  if (protocol == Protocol::eager) return {short_end + 1, eager_end};
  return {eager_end + 1, HUGE_VAL};
}

std::optional<model::PostalFit> fit_range(const std::vector<Sample>& samples,
                                          std::pair<double, double> range) {
  std::vector<Sample> inside;
  for (const Sample& s : samples) {
    if (range.first <= s.bytes && s.bytes <= range.second) inside.push_back(s);
  }
  if (model::medians(inside).size() < 3) return std::nullopt;
  return model::fit_postal(inside);
}

PathFit fit_path(const PathTimes& path) {
  const std::vector<Sample> samples = samples_of(path.sizes);
  const model::SwitchSizes switches = switches_of(model::fit_protocols(samples));
  PathFit fit{locality_of(path.locality), switches, {}, {}};
  for (int p = 0; p < model::n_protocols; ++p) {
    const auto protocol = static_cast<Protocol>(p);
    fit.protocols[index(protocol)] = fit_range(samples, range_of(switches, protocol));
  }
  return fit;
}

std::optional<model::InjectionFit> fit_limit(const std::vector<SenderTimes>& senders,
                                             const model::PostalFit& one) {
  std::vector<model::InjectionSample> samples;
  bool several = false;
  for (const SenderTimes& s : senders) {
    if (s.bytes < one.first_bytes || s.bytes > one.last_bytes || s.times.empty()) continue;
    samples.push_back({static_cast<double>(s.senders), s.bytes, s.times.median()});
    several = several || s.senders > 1;
  }
  if (!several || !one.has_rate()) return std::nullopt;
  return model::fit_injection(samples, one.latency_s.value, one.rate_bytes_per_s());
}

/// The gap between messages that leave in order, so that no queue is searched.
std::optional<model::PostalFit> fit_gap(const std::vector<VolumeTimes>& volumes) {
  std::vector<Sample> samples;
  for (const VolumeTimes& v : volumes) {
    for (const double t : v.in_order.seconds) samples.push_back({1.0 * v.messages, t});
  }
  if (volumes.size() < 3 || samples.empty()) return std::nullopt;
  return model::fit_postal(samples);
}

/// The cost of others on the link, beside what the exchange takes alone (Bienz 2018, eq. 3.3).
std::optional<model::Estimate> fit_contention(const std::vector<ContentionTimes>& measured) {
  model::TimeModel m;
  m.columns.resize(1);
  for (const ContentionTimes& c : measured) {
    if (c.alone.empty() || c.together.empty()) continue;
    m.columns[0].push_back(c.link_bytes);
    m.known.push_back(c.alone.median());
    m.seconds.push_back(c.together.median());
  }
  if (m.seconds.size() < 3) return std::nullopt;
  return model::fit_relative(m).coefficients[0];
}

/// The path whose protocols are those of the machine: the farthest that was measured.
const PathTimes* farthest(const Record& record) {
  for (const char* locality : {"other_node", "same_node", "same_socket"}) {
    for (const PathTimes& path : record.paths) {
      if (path.locality == locality) return &path;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<model::QueueFit> fit_volume(const std::vector<VolumeTimes>& volumes, bool reversed) {
  constexpr std::ptrdiff_t fewest = 4;
  std::vector<model::VolumeSample> samples;  // by ascending numbers of messages
  for (const VolumeTimes& v : volumes) {
    const Repeats& times = reversed ? v.reversed : v.in_order;
    if (!times.empty()) samples.push_back({static_cast<double>(v.messages), times.median()});
  }
  if (std::ssize(samples) < fewest) return std::nullopt;
  const auto first = std::find_if(samples.begin(), samples.end() - fewest, [](const auto& sample) {
    return sample.messages >= many_messages;
  });
  samples.erase(samples.begin(), first);
  return model::fit_queue(samples);
}

std::vector<Sample> samples_of(const std::vector<SizeTimes>& sizes) {
  std::vector<Sample> samples;
  for (const SizeTimes& size : sizes) {
    for (const double t : size.times.seconds) samples.push_back({size.bytes, t});
  }
  return samples;
}

model::Locality locality_of(const std::string& name) {
  for (int l = 0; l < model::n_localities; ++l) {
    if (name == to_string(static_cast<Locality>(l))) return static_cast<Locality>(l);
  }
  throw Error(ErrorCode::internal, "no locality " + name);
}

Fits fit_measurements(const Record& record, const model::Machine* base) {
  Fits fits;
  const PathTimes* far = farthest(record);
  if (base != nullptr && (far == nullptr || far->locality != "other_node")) {
    fits.switch_sizes = base->switch_sizes;
    fits.switches_from = "base";
  } else if (far != nullptr) {
    fits.switches_from = far->locality;
  }
  for (const PathTimes& path : record.paths) {
    fits.paths.push_back(fit_path(path));
    PathFit& fit = fits.paths.back();
    if (path.locality == fits.switches_from) fits.switch_sizes = fit.switch_sizes;
    if (fit.locality != Locality::other_node) continue;
    for (std::size_t p = 0; p < fit.protocols.size(); ++p) {
      if (fit.protocols[p]) fit.injection[p] = fit_limit(record.injection, *fit.protocols[p]);
    }
  }
  fits.queue_in_order = fit_volume(record.queue, false);
  fits.queue_reversed = fit_volume(record.queue, true);
  fits.in_a_row = fit_gap(record.far_volume);
  fits.contention = fit_contention(record.contention);
  fit_cards(record, fits);
  return fits;
}

}  // namespace nodewise::calibrate
