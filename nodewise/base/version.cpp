#include "nodewise/base/version.hpp"

#include "nodewise_build.hpp"  // written into the build folder by cmake/BuildInfo.cmake

namespace nodewise {

std::string version() {
  return NODEWISE_BUILD_VERSION;
}

BuildInfo build_info() {
  return {NODEWISE_BUILD_VERSION, NODEWISE_BUILD_COMMIT, NODEWISE_BUILD_TYPE,
          NODEWISE_BUILD_COMPILER, NODEWISE_BUILD_OPTIONS};
}

}  // namespace nodewise
