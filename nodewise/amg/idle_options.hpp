// The options of a hierarchy that the others leave without effect.
#pragma once

#include <string>
#include <string_view>

#include "nodewise/amg/options.hpp"

namespace nodewise::amg {

/// Local. What an option would need to have an effect beside the others, in their words, such as
/// "method aggregation"; empty where it may have one. `name` is that of a field of option_fields();
/// throws invalid_argument where there is none. What only the matrix, the ranks or the machine
/// decide is not looked at.
std::string needed_by(std::string_view name, const Options& options);

}  // namespace nodewise::amg
