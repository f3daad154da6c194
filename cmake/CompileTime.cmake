# What keeps builds short; docs/builds.md has what each of it saves.

# The standard headers that most sources include, precompiled, and none of ours: those are read in no
# time, and a change of one would compile everything anew. Sources include what they use all the same,
# and a build with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows where one does not.
set(nodewise_common_headers <algorithm> <array> <chrono> <cmath> <cstdint> <functional> <map> <memory>
  <mutex> <numeric> <optional> <span> <sstream> <string> <unordered_map> <utility> <variant> <vector>
  <mpi.h> <fmt/format.h>)

# For what runs a few times in a program and loops over no rows: -O1 instead of -O3 takes a third less
# time. A library or program of its own has these flags, and not single files: GCC crashes where a
# precompiled header was made with other ones.
add_library(nodewise_light_flags INTERFACE)
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O[23]")
  target_compile_options(nodewise_light_flags INTERFACE $<$<CONFIG:Release>:-O1>)
endif()

# Sixteen sources are compiled as one, which takes less than half of the time. So what a file keeps to itself, in a
# namespace without a name, has a name that no other file of its folder has, not even for a parameter.
# -DCMAKE_UNITY_BUILD=OFF compiles each by itself, for work on few files.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()
