// What this program says where it is asked for a page, which the Python package makes.
#pragma once

#include <string>

namespace nodewise::cli {

/// Local. `page` as it was asked for; empty where a command makes it.
std::string page_advice(const std::string& page);

}  // namespace nodewise::cli
