// From measured times to the parameters of the models, and to a machine file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/calibrate/record.hpp"
#include "nodewise/model/fit.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::calibrate {

/// The fits of a locality by protocol, each where messages of at least three sizes went that way.
struct PathFit {
  model::Locality locality;
  model::SwitchSizes switch_sizes;  ///< found there
  std::array<std::optional<model::PostalFit>, model::n_protocols> protocols;
  std::array<std::optional<model::InjectionFit>, model::n_protocols> injection;
};

/// Copies of some ranks at once.
struct CopyFit {
  std::string direction;
  int processes = 1;
  model::PostalFit fit;
};

/// Messages from card to card of a locality: up to the size where they change, and beyond.
struct CardPathFit {
  model::Locality locality;
  model::PostalFit to_switch, beyond;
};

struct Fits {
  model::SwitchSizes switch_sizes;
  std::string switches_from;  ///< the locality they were found at, or the base; empty for nothing
  std::vector<PathFit> paths;
  std::optional<model::QueueFit> queue_in_order, queue_reversed;
  std::optional<model::PostalFit> in_a_row;   ///< over messages in the place of bytes
  std::optional<model::Estimate> contention;  ///< seconds a byte that crosses the link
  std::vector<CopyFit> copies;
  std::int64_t card_switch_bytes = 0;  ///< found at the farthest locality
  std::vector<CardPathFit> card_paths;
};

/// Local. Adds the fits of what was measured on cards.
void fit_cards(const Record& record, Fits& fits);
/// Local. Gives a machine the copies and messages of its cards, where they were measured. A node's
/// limit of injection is not.
void set_cards(const Record& record, const Fits& fits, model::Machine& machine);

/// Local. All times that were taken of a path.
std::vector<model::Sample> samples_of(const std::vector<SizeTimes>& sizes);

/// Local. The cost of searching queues from the times of many messages at once, of numbers from 64
/// on: with fewer, messages that share the same bytes are long, and go by other protocols. Where
/// fewer than four such numbers were measured the four largest stand for them; none of fewer than
/// four.
std::optional<model::QueueFit> fit_volume(const std::vector<VolumeTimes>& volumes, bool reversed);

/// Local. `base` may be null. Each path has switch sizes of its own; those of the machine are those
/// of the farthest path, or of the base where that stands for messages between nodes.
Fits fit_measurements(const Record& record, const model::Machine* base);

/// Local. Returns the machine as it was measured, with the values of `base` for the rest (null:
/// nothing); notes name both. One of them must know messages between nodes.
model::Machine make_machine(const Record& record, const Fits& fits, const model::Machine* base,
                            const std::string& name);

/// Local. The locality of that name in machine files.
model::Locality locality_of(const std::string& name);

}  // namespace nodewise::calibrate
