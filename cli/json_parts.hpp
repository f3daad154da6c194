// What the JSON reports of several commands share.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

using Json = nlohmann::ordered_json;

/// JSON has no word for NaN and infinity: null.
Json number(double value);
/// null for an empty text.
Json text_or_null(const std::string& text);

Json program_json();
Json machine_json(const Machine& machine);
/// Every option that the command takes, with its value; those of model problems only where there
/// is one.
Json options_json(const Settings& settings, Command command);

Json preset_json(const PresetRecord& preset);

/// The document as text, indented. A file name need not be UTF-8; what is not is replaced.
std::string dumped(const Json& json);

}  // namespace nodewise::cli
