// Pictures of levels as JSON.
#pragma once

#include <span>

#include "nodewise/report/json_parts.hpp"
#include "nodewise/report/level_pictures.hpp"

namespace nodewise::report {

/// Local. null where there are none. Each row of bins is a text of the bins that are not empty, as
/// `column:count`, so that a level takes no more lines than it has rows of bins.
Json pictures_json(std::span<const LevelPicture> pictures);

}  // namespace nodewise::report
