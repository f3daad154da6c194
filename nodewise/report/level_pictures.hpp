// Where the entries of levels lie and which nodes send to which, in few enough bins to be looked
// at.
#pragma once

#include <cstdint>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/types.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::report {

inline constexpr int most_bins = 128;

/// Numbers 0, 1, ... n - 1 in order, in at most most_bins bins: of as many each, the first of one
/// more.
class Bins {
 public:
  explicit Bins(GlobalIndex n);
  int count() const { return count_; }
  /// Local. Of 0 <= i < n.
  int operator[](GlobalIndex i) const;

 private:
  int count_;
  GlobalIndex length_, longer_;  // of a bin; how many have one more
};

/// One level, over all ranks: squares of counts, by rows.
struct LevelPicture {
  GlobalIndex rows = 0;
  int row_bins = 0;
  std::vector<std::int64_t> entries;  ///< of the matrix: row_bins x row_bins
  int node_bins = 0;
  /// What the nodes of a bin send to those of another in one product, a value 8 bytes; on the
  /// diagonal also what stays on a node.
  std::vector<std::int64_t> messages, bytes;  ///< node_bins x node_bins
};

/// Local. Adds what `rank` sends in one run of a plan.
void add_traffic(const comm::Plan& plan, const mpi::Topology& topology, int rank,
                 LevelPicture& picture);

/// Collective. Of each level of a hierarchy; without one of A alone. A pass over the entries, and
/// one allreduce for each level of at most 3 x 128^2 numbers, whatever the number of ranks; a level
/// in single precision is copied. Throws out_of_memory, on every rank, where some rank lacks it.
std::vector<LevelPicture> level_pictures(const matrix::DistMatrix<double>& A,
                                         const amg::Hierarchy<double>* hierarchy);

}  // namespace nodewise::report
