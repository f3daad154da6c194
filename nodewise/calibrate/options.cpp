#include "nodewise/calibrate/options.hpp"

#include <vector>

#include "nodewise/base/text_field.hpp"

namespace nodewise::calibrate {

std::span<const Field<CalibrateOptions>> calibrate_fields() {
  static const std::vector<Field<CalibrateOptions>> fields = {
      field("seconds", &CalibrateOptions::seconds,
            "about how long to measure; everything is measured at least once", 0, 86400)
          .affecting(Affects::machine_parameters | Affects::kernel_times)
          .common(),
      field("largest_message", &CalibrateOptions::largest_message,
            "the longest message of ping-pong and injection, in bytes", 4096, 1073741824)
          .common(),
      text_field("base", &CalibrateOptions::base, "machine",
                 "a machine file, or the name of a machine that is part of the program, for what "
                 "cannot be measured on these ranks")
          .common(),
      text_field("name", &CalibrateOptions::name, "text", "what to call the machine in its file")
          .common(),
  };
  return fields;
}

}  // namespace nodewise::calibrate
