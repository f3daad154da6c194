// The layout of a datatype as MPI knows it.
#pragma once

#include <mpi.h>

#include "nodewise/base/types.hpp"

namespace nodewise::mpi::collectives {

/// The extent of a buffer of `count` elements of a datatype, in bytes.
struct Shape {
  /// Local. Throws mpi.
  Shape(MPI_Datatype type, Offset count);

  Offset size = 0;    ///< data in one element
  Offset extent = 0;  ///< from one element to the next
  Offset low = 0;     ///< from the buffer's address to its first byte
  Offset bytes = 0;   ///< from the first to the last, gaps included
  bool dense = true;  ///< no gaps: elements may be copied as bytes
};

}  // namespace nodewise::mpi::collectives
