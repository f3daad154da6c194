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
  if (subject.hierarchy == nullptr) return product_kernels(subject.A, options);
  std::vector<Kernel> kernels;
  for (std::size_t l = 0; l < subject.hierarchy->levels().size(); ++l) {
    std::vector<Kernel> of_level =
        level_kernels(*subject.hierarchy, l, subject.options, subject.is_symmetric, options);
    std::move(of_level.begin(), of_level.end(), std::back_inserter(kernels));
  }
  return kernels;
}

/// The levels, or the matrix as the only one.
std::vector<amg::LevelInfo> levels_of(const Subject& subject) {
  if (subject.hierarchy != nullptr) {
    const std::span<const amg::LevelInfo> levels = subject.hierarchy->levels();
    return {levels.begin(), levels.end()};
  }
  amg::LevelInfo level;
  level.rows = subject.A->rows().n_global();
  level.nonzeros = mpi::sum(subject.A->comm(), static_cast<GlobalIndex>(subject.A->nnz_local()));
  return {level};
}

}  // namespace

double memory_need(const Subject& subject, const run::Environment& environment,
                   const BenchOptions& options) {
  double bytes = 3 * begin_record(subject.A->comm(), environment, options.seconds).array_bytes;
  for (const amg::LevelInfo& level : levels_of(subject)) {
    bytes += 4.0 * static_cast<double>(level.nonzeros) +
             (64.0 + 16.0 * options.vectors) * static_cast<double>(level.rows);
  }
  return bytes;
}

Record measure_kernels(const Subject& subject, const run::Environment& environment,
                       const BenchOptions& options, const Progress& progress) {
  const std::shared_ptr<const mpi::Comm>& comm = subject.A->shared_comm();
  Record record = begin_record(*comm, environment, options.seconds);
  record.levels = levels_of(subject);
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    const auto A = l == 0 ? subject.A : subject.hierarchy->matrix(l);
    record.level_bytes.push_back(mpi::sum(*comm, static_cast<double>(A->memory_bytes())));
  }
  std::vector<Kernel> kernels = make_kernels(subject, options);
  measure(comm, options.seconds, kernels, progress, record);
  for (Kernel& kernel : kernels) record.kernels.push_back(std::move(kernel.record));
  return record;
}

}  // namespace nodewise::roofline
