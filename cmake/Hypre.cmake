# hypre, which Nodewise is compared with and uses for nothing: the target nodewise_peer_hypre, hypre
# behind bench/peer_hypre.hpp. Where there is none, nodewise_no_hypre says why.
set(nodewise_no_hypre "")
find_library(HYPRE_LIBRARY HYPRE)
find_path(HYPRE_INCLUDE_DIR HYPRE_parcsr_ls.h PATH_SUFFIXES hypre)
if(NOT HYPRE_LIBRARY OR NOT HYPRE_INCLUDE_DIR)
  set(nodewise_no_hypre "hypre was not found (Debian: libhypre-dev)")
elseif(NODEWISE_MPI MATCHES "^(mpich|smpi)$")
  set(nodewise_no_hypre "hypre must be built for the same MPI library (that of Debian goes with Open MPI)")
else()
  add_library(nodewise_peer_hypre STATIC "${PROJECT_SOURCE_DIR}/bench/peer_hypre.cpp")
  target_include_directories(nodewise_peer_hypre SYSTEM PRIVATE ${HYPRE_INCLUDE_DIR})
  target_link_libraries(nodewise_peer_hypre
    PUBLIC nodewise PRIVATE nodewise_flags MPI::MPI_CXX ${HYPRE_LIBRARY})
endif()
