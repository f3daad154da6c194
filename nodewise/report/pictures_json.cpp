#include "nodewise/report/pictures_json.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace nodewise::report {

namespace {

using Square = std::vector<std::int64_t>;

Json rows_of_bins(const Square& counts, int bins) {
  Json rows = Json::array();
  std::size_t next = 0;
  for (int row = 0; row < bins; ++row) {
    std::string text;
    for (int column = 0; column < bins; ++column) {
      const std::int64_t count = counts[next++];
      if (count == 0) continue;
      fmt::format_to(std::back_inserter(text), "{}{}:{}", text.empty() ? "" : " ", column, count);
    }
    rows.push_back(text);
  }
  return rows;
}

}  // namespace

Json pictures_json(std::span<const LevelPicture> pictures) {
  if (pictures.empty()) return nullptr;
  Json levels = Json::array();
  for (const LevelPicture& picture : pictures) {
    levels.push_back({{"rows", picture.rows},
                      {"bins", picture.row_bins},
                      {"entries", rows_of_bins(picture.entries, picture.row_bins)},
                      {"node_bins", picture.node_bins},
                      {"messages", rows_of_bins(picture.messages, picture.node_bins)},
                      {"bytes", rows_of_bins(picture.bytes, picture.node_bins)}});
  }
  return {{"levels", levels}};
}

}  // namespace nodewise::report
