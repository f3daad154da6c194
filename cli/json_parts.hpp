// What the JSON reports of several commands share.
#pragma once

#include "nodewise/report/json_parts.hpp"

#include "cli/options/settings.hpp"

namespace nodewise::cli {

using report::dumped;
using report::Json;
using report::machine_json;
using report::number;
using report::preset_json;
using report::program_json;
using report::text_or_null;

/// Every option that the command takes, with its value; those of model problems only where there
/// is one.
Json options_json(const Settings& settings, Command command);

}  // namespace nodewise::cli
