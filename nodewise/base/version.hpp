// The version and the build of the library.
#pragma once

#include <string>

#include "nodewise/base/version.h"

namespace nodewise {

/// The build of the library, fixed when it was compiled.
struct BuildInfo {
  std::string version;     ///< such as "0.1.0"
  std::string commit;      ///< of the source, "-dirty" where files differed; "unknown" outside git
  std::string build_type;  ///< such as "Release"
  std::string compiler;    ///< name and version
  std::string options;     ///< such as "static" or "shared, sanitizers"
};

/// Local. The version of the library, such as "0.1.0".
std::string version();

/// Local. Everything known about this build.
BuildInfo build_info();

}  // namespace nodewise
