// A duration as words of a reason.
#pragma once

#include <string>

namespace nodewise::amg {

/// Such as "41 us": three digits.
std::string time_text(double seconds);

}  // namespace nodewise::amg
