# METIS, which partitions graphs: used where it is installed.
include(OptionalLibrary)
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
set(metis_found OFF)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(metis_found ON)
endif()
nodewise_optional_library(NODEWISE_METIS "Partition matrices with METIS" "${metis_found}"
                          "there is no metis.h (Debian: libmetis-dev)"
                          "METIS: partitions metis and node_aware are refused")
