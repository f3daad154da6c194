// The fits of what was measured on cards.
#include <algorithm>
#include <cmath>

#include "nodewise/calibrate/fit.hpp"

namespace nodewise::calibrate {

namespace {

using model::Sample;

/// The samples of sizes up to the switch, or beyond it; all of them where these are too few.
model::PostalFit fit_side(const std::vector<Sample>& samples, double switch_bytes, bool is_beyond) {
  std::vector<Sample> side;
  for (const Sample& s : samples) {
    if ((s.bytes > switch_bytes) == is_beyond) side.push_back(s);
  }
  return model::fit_postal(model::medians(side).size() < 2 ? samples : side);
}

/// Where messages of the farthest locality change their latency and rate; 0: nowhere.
std::int64_t switch_of(const std::vector<PathTimes>& paths) {
  if (paths.empty()) return 0;
  model::PiecewiseOptions options;
  options.max_pieces = 2;
  const auto pieces = model::fit_protocols(samples_of(paths.back().sizes), options);
  return pieces.size() < 2 ? 0 : static_cast<std::int64_t>(pieces.front().last_bytes);
}

/// Nothing where times do not tell a rate at all.
std::optional<model::CopyPath> copy_path(const model::PostalFit& fit) {
  if (!std::isfinite(fit.rate_bytes_per_s())) return std::nullopt;
  return model::CopyPath{fit.latency_s.value, fit.rate_bytes_per_s()};
}

model::CopyPath message_path(const model::PostalFit& fit) {
  return {fit.latency_s.value, fit.has_rate() ? fit.rate_bytes_per_s() : model::unlimited};
}

std::optional<model::CopyPath> copies_of_one(const Fits& fits, const char* direction) {
  for (const CopyFit& copy : fits.copies) {
    if (copy.processes == 1 && copy.direction == direction) return copy_path(copy.fit);
  }
  return std::nullopt;
}

}  // namespace

void fit_cards(const Record& record, Fits& fits) {
  for (const CopyTimes& copy : record.copies) {
    fits.copies.push_back(
        {copy.direction, copy.processes, model::fit_postal(samples_of(copy.sizes))});
  }
  fits.card_switch_bytes = switch_of(record.card_paths);
  const auto switch_bytes = static_cast<double>(fits.card_switch_bytes);
  for (const PathTimes& path : record.card_paths) {
    const std::vector<Sample> samples = samples_of(path.sizes);
    fits.card_paths.push_back({locality_of(path.locality), fit_side(samples, switch_bytes, false),
                               fit_side(samples, switch_bytes, true)});
  }
}

void set_cards(const Record& record, const Fits& fits, model::Machine& machine) {
  const auto to_host = copies_of_one(fits, "to_host");
  const auto to_device = copies_of_one(fits, "to_device");
  if (!to_host || !to_device) return;
  model::GpuPaths gpu = machine.gpu.value_or(model::GpuPaths{});
  gpu.gpus_per_node = std::max(1, record.cards_of_a_node);
  gpu.to_host = *to_host;
  gpu.to_device = *to_device;
  gpu.shared_copies.clear();
  for (const CopyFit& copy : fits.copies) {
    const auto path = copy_path(copy.fit);
    if (copy.processes > 1 && copy.direction == "to_host" && path) {
      gpu.shared_copies.push_back({copy.processes, *path});
    }
  }
  if (!fits.card_paths.empty()) {
    gpu.direct = {};
    gpu.switch_bytes = fits.card_switch_bytes;
    gpu.injection_bytes_per_s = model::unlimited;
  }
  for (const CardPathFit& path : fits.card_paths) {
    gpu.direct[static_cast<std::size_t>(path.locality)] =
        model::GpuMessages{message_path(path.to_switch), message_path(path.beyond)};
  }
  machine.gpu = gpu;
}

}  // namespace nodewise::calibrate
