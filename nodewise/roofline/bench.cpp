#include "nodewise/roofline/bench.hpp"

#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "nodewise/roofline/kernels.hpp"
#include "nodewise/roofline/measure.hpp"

namespace nodewise::roofline {

namespace {

/// Collective. All kernels of all levels.
std::vector<Kernel> make_kernels(const Subject& subject, const BenchOptions& options) {
  std::vector<Kernel> kernels;
  for (std::size_t l = 0; l < subject.hierarchy.levels().size(); ++l) {
    std::vector<Kernel> of_level =
        level_kernels(subject.hierarchy, l, subject.options, subject.is_symmetric, options);
    std::move(of_level.begin(), of_level.end(), std::back_inserter(kernels));
  }
  return kernels;
}

}  // namespace

double memory_need(const Subject& subject, const run::Environment& environment,
                   const BenchOptions& options) {
  const mpi::Comm& comm = subject.hierarchy.matrix(0)->comm();
  double bytes = 3 * begin_record(comm, environment, options.seconds).array_bytes;
  for (const amg::LevelInfo& level : subject.hierarchy.levels()) {
    bytes += 4.0 * static_cast<double>(level.nonzeros) +
             (64.0 + 16.0 * options.vectors) * static_cast<double>(level.rows);
  }
  return bytes;
}

Record measure_kernels(const Subject& subject, const run::Environment& environment,
                       const BenchOptions& options, const Progress& progress) {
  const amg::Hierarchy<double>& hierarchy = subject.hierarchy;
  const std::shared_ptr<const mpi::Comm> comm = hierarchy.matrix(0)->shared_comm();
  Record record = begin_record(*comm, environment, options.seconds);
  record.levels.assign(hierarchy.levels().begin(), hierarchy.levels().end());
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    record.level_bytes.push_back(
        mpi::sum(*comm, static_cast<double>(hierarchy.matrix(l)->memory_bytes())));
  }
  std::vector<Kernel> kernels = make_kernels(subject, options);
  measure(comm, options.seconds, kernels, progress, record);
  for (Kernel& kernel : kernels) record.kernels.push_back(std::move(kernel.record));
  return record;
}

}  // namespace nodewise::roofline
