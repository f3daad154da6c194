// Measuring the kernels of a hierarchy against the bandwidth of the memory: what `nodewise bench`
// does.
#pragma once

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/roofline/measure.hpp"
#include "nodewise/roofline/options.hpp"
#include "nodewise/roofline/record.hpp"
#include "nodewise/run/environment.hpp"

namespace nodewise::roofline {

/// What is measured: the kernels of a hierarchy, or products with a matrix alone.
struct Subject {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
  const amg::Hierarchy<double>* hierarchy;  ///< null: there is none
  const amg::Options& options;              ///< that it was made with
  bool is_symmetric;                        ///< its matrix
};

/// Collective. Bytes that the measurement takes beside matrix and hierarchy, on all ranks.
double memory_need(const Subject& subject, const run::Environment& environment,
                   const BenchOptions& options);

/// Collective. Measures for about options.seconds: the bandwidth of the memory, and every kernel of
/// every level, in turn. `environment` describes the ranks of the matrix.
Record measure_kernels(const Subject& subject, const run::Environment& environment,
                       const BenchOptions& options, const Progress& progress = {});

}  // namespace nodewise::roofline
