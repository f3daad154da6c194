// What computing while messages travel brings: what `nodewise bench overlap` does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/overlap.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/roofline/measure.hpp"
#include "nodewise/roofline/options.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/run/environment.hpp"

namespace nodewise::roofline {

/// A number that every rank has its own of.
struct OverRanks {
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};

/// One way of doing a product or a cycle.
struct OverlapCase {
  KernelRecord kernel;  ///< "product" or "cycle"; of a product its traffic
  std::string route;    ///< empty: a route for each level, as options have it
  comm::Overlap mode = comm::Overlap::naive;
  int threads = 1;
  /// Where the time goes, in seconds: the median of each rank's times. With Overlap::task the work
  /// goes on while messages are packed and awaited; the rest is the time outside of both.
  OverRanks gather, work, wait, rest;
};

struct OverlapRecord {
  Record measured;  ///< levels, and the memory; no kernels
  std::vector<OverlapCase> cases;

  /// The fastest of the cases of the same kernel and level; null where there is none.
  const OverlapCase* fastest(const std::string& kernel, int level) const;
  /// The naive one with a case's kernel, level, route and threads.
  const OverlapCase& naive_of(const OverlapCase& of) const;
};

/// Collective. Bytes that the measurement takes beside them, on all ranks.
double overlap_memory_need(const matrix::DistMatrix<double>& A,
                           const amg::Hierarchy<double>* hierarchy,
                           const run::Environment& environment, const BenchOptions& options);

/// Collective. Measures for about options.seconds, on one thread and on those that there are, in
/// every mode: products with `A` on every route that these nodes make a difference to; where there
/// is a hierarchy, products with its other levels on their routes, and a cycle. Modes and routes
/// are as before at the end. Throws invalid_argument where MPI was not initialised for threads and
/// there are several (MPI_THREAD_FUNNELED).
OverlapRecord measure_overlap(const matrix::DistMatrix<double>& A,
                              const amg::Hierarchy<double>* hierarchy,
                              const run::Environment& environment, const BenchOptions& options,
                              const Progress& progress = {});

}  // namespace nodewise::roofline
