#include "nodewise/mpi/collectives/shape.hpp"

#include <algorithm>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

Shape::Shape(MPI_Datatype type, Offset count) {
  int size_of_one = 0;
  MPI_Aint lower = 0, step = 0, true_lower = 0, true_extent = 0;
  check(MPI_Type_size(type, &size_of_one), "MPI_Type_size");
  check(MPI_Type_get_extent(type, &lower, &step), "MPI_Type_get_extent");
  check(MPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  size = size_of_one;
  extent = step;
  dense = lower == 0 && true_lower == 0 && step == size && true_extent == size;
  if (count == 0) return;
  const Offset last = (count - 1) * extent;  // an extent may be negative
  low = true_lower + std::min(Offset{0}, last);
  bytes = true_extent + std::max(last, -last);
}

}  // namespace nodewise::mpi::collectives
