// What the JSON reports of several commands share. A private header: it includes a library that
// users need not have.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "nodewise/amg/redistribute/redistribution_decision.hpp"
#include "nodewise/report/frame.hpp"
#include "nodewise/run/environment.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::report {

using Json = nlohmann::ordered_json;

/// JSON has no word for NaN and infinity: null.
Json number(double value);
/// null for an empty text.
Json text_or_null(const std::string& text);
/// The value of an option of that type, as the JSON type it stands for.
Json option_value(const std::string& type, const std::string& text);

/// Names and values.
Json options_json(std::span<const ReportedOption> options);

Json program_json();
Json machine_json(const run::Environment& machine);
Json preset_json(const solver::PresetRecord& preset);
/// null where no partition was to be decided on.
Json decision_json(const std::optional<partition::PartitionDecision>& decision);
/// null where no placement of parts was asked for.
Json placement_json(const std::optional<partition::PlacementGain>& gain);

/// null where the ranks of the level were not decided by costs.
Json redistribution_json(const std::shared_ptr<const amg::RedistributionDecision>& decision);
/// null where the options say what goes.
Json sparsity_choice_json(const std::shared_ptr<const amg::sparsify::SparsityDecision>& decision);

/// The document as text, indented. A file name need not be UTF-8; what is not is replaced.
std::string dumped(const Json& json);

}  // namespace nodewise::report
