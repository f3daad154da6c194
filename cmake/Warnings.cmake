# The warnings and sanitizers every target of this project is compiled with; never exported.
add_library(nodewise_flags INTERFACE)
target_compile_options(nodewise_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies in any `"text" + std::string` (GCC bug 105651).
  target_compile_options(nodewise_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # GCC takes a source that is included for a header, whose classes must not use what has no linkage.
  target_compile_options(nodewise_flags INTERFACE -Wno-subobject-linkage)
endif()
if(NODEWISE_WERROR)
  target_compile_options(nodewise_flags INTERFACE -Werror)
endif()
if(NODEWISE_SANITIZE)
  target_compile_options(nodewise_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=null,object-size,pointer-overflow,vptr,function -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(nodewise_flags INTERFACE -fsanitize=address,undefined)
endif()
