#include "nodewise/report/read_options.hpp"

#include "nodewise/base/error.hpp"
#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

std::vector<std::pair<std::string, std::optional<std::string>>> read_options(
    const std::string& text, const std::string& name) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("options")) json = Json(json["options"]);
  if (!json.is_object()) {
    throw Error(ErrorCode::file_format,
                name + " is neither a report of nodewise nor a JSON object of options");
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> options;
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) {
      options.emplace_back(key, std::nullopt);
    } else {
      options.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return options;
}

}  // namespace nodewise::report
