#include "nodewise/report/bench_json.hpp"

#include <limits>

#include "nodewise/report/json_parts.hpp"

namespace nodewise::report {

namespace {

using calibrate::Repeats;
using roofline::KernelRecord;
using roofline::Record;

/// Raised whenever a field changes its meaning or goes away; new fields leave it as it is.
constexpr int bench_schema_version = 1;
constexpr int overlap_schema_version = 1;
constexpr int amg2023_schema_version = 1;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Json times_json(const Repeats& times) {
  return {{"median", number(times.median())},
          {"lower_quartile", number(times.quantile(0.25))},
          {"upper_quartile", number(times.quantile(0.75))},
          {"count", times.seconds.size()}};
}

Json bench_kernel_json(const Record& record, const KernelRecord& kernel) {
  const auto counted = [&](double value) { return number(kernel.has_traffic ? value : nothing); };
  const model::KernelTraffic& traffic = kernel.traffic;
  const std::optional<bool> in_cache = record.is_in_cache(kernel);
  const double least = kernel.has_traffic ? model::least_s(traffic, record.bandwidth()) : nothing;
  return {{"kernel", kernel.name},
          {"vectors", kernel.vectors},
          {"precision", kernel.single_precision ? "single" : "double"},
          {"data_bytes", kernel.data_bytes},
          {"in_cache", in_cache ? Json(*in_cache) : Json(nullptr)},
          {"flops", counted(traffic.flops)},
          {"matrix_bytes", counted(traffic.matrix_bytes)},
          {"read_bytes", counted(traffic.read_bytes)},
          {"written_bytes", counted(traffic.written_bytes)},
          {"moved_bytes", counted(traffic.bytes())},
          {"times_s", times_json(kernel.times)},
          {"flops_per_s", counted(kernel.flops_per_s())},
          {"bytes_per_s", counted(kernel.bytes_per_s())},
          {"bound_s", number(least)},
          {"share_of_bound", number(record.share_of_bound(kernel))},
          {"kappa_bytes", number(record.kappa(kernel))}};
}

Json bench_levels_json(const Record& record) {
  Json levels = Json::array();
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    Json kernels = Json::array();
    for (const KernelRecord& kernel : record.kernels) {
      if (std::cmp_equal(kernel.level, l)) kernels.push_back(bench_kernel_json(record, kernel));
    }
    levels.push_back({{"level", l},
                      {"rows", record.levels[l].rows},
                      {"nonzeros", record.levels[l].nonzeros},
                      {"matrix_bytes", record.level_bytes[l]},
                      {"kernels", kernels}});
  }
  return levels;
}

/// What all three reports begin with.
Json run_frame_json(int schema_version, const RunFrame& run) {
  const run::MatrixSummary& matrix = run.matrix;
  return {{"schema_version", schema_version},
          {"program", program_json()},
          {"command_line", run.command_line},
          {"machine", machine_json(run.machine)},
          {"options", options_json(run.options)},
          {"preset", preset_json(run.preset)},
          {"matrix",
           {{"source", matrix.source},
            {"format", text_or_null(matrix.format)},
            {"graph_laplacian", matrix.graph_laplacian},
            {"rows", matrix.rows},
            {"nonzeros", matrix.nonzeros},
            {"symmetric", matrix.symmetric}}}};
}

/// What those of measured kernels go on with.
Json bench_frame_json(int schema_version, const Record& record, const RunFrame& run) {
  const model::MemoryBandwidth bandwidth = record.bandwidth();
  Json document = run_frame_json(schema_version, run);
  document["cache_bytes"] = number(record.cache_bytes > 0 ? record.cache_bytes : nothing);
  document["memory"] = {{"array_bytes", record.array_bytes},
                        {"triad_bytes_per_s", number(bandwidth.triad_bytes_per_s)},
                        {"triad_times_s", times_json(record.triad)},
                        {"reading_bytes_per_s", number(bandwidth.reading_bytes_per_s)},
                        {"reading_times_s", times_json(record.reading)}};
  return document;
}

Json over_ranks_json(const roofline::OverRanks& times) {
  return {{"median", number(times.median)},
          {"lower_quartile", number(times.lower_quartile)},
          {"upper_quartile", number(times.upper_quartile)}};
}

Json overlap_case_json(const roofline::OverlapRecord& record, const roofline::OverlapCase& of) {
  const KernelRecord& kernel = of.kernel;
  const roofline::OverlapCase& naive = record.naive_of(of);
  const double least =
      kernel.has_traffic ? model::least_s(kernel.traffic, record.measured.bandwidth()) : nothing;
  return {{"kernel", kernel.name},
          {"level", kernel.level},
          {"route", text_or_null(of.route)},
          {"threads", of.threads},
          {"overlap", comm::overlap_name(of.mode)},
          {"times_s", times_json(kernel.times)},
          {"speedup", number(naive.kernel.times.median() / kernel.times.median())},
          {"moved_bytes", number(kernel.has_traffic ? kernel.traffic.bytes() : nothing)},
          {"flops_per_s", number(kernel.has_traffic ? kernel.flops_per_s() : nothing)},
          {"bound_s", number(least)},
          {"gather_s", over_ranks_json(of.gather)},
          {"work_s", over_ranks_json(of.work)},
          {"wait_s", over_ranks_json(of.wait)},
          {"rest_s", over_ranks_json(of.rest)}};
}

}  // namespace

std::string bench_json(const Record& record, const RunFrame& run) {
  Json document = bench_frame_json(bench_schema_version, record, run);
  document["levels"] = bench_levels_json(record);
  document["seconds"] = record.seconds;
  return dumped(document);
}

std::string overlap_json(const roofline::OverlapRecord& record, const RunFrame& run) {
  Json document = bench_frame_json(overlap_schema_version, record.measured, run);
  Json levels = Json::array();
  for (const amg::LevelInfo& level : record.measured.levels) {
    levels.push_back({{"rows", level.rows}, {"nonzeros", level.nonzeros}});
  }
  document["levels"] = levels;
  Json cases = Json::array();
  for (const roofline::OverlapCase& of : record.cases) {
    cases.push_back(overlap_case_json(record, of));
  }
  document["cases"] = cases;
  document["seconds"] = record.measured.seconds;
  return dumped(document);
}

std::string amg2023_json(const solver::Amg2023Record& record, const RunFrame& run) {
  Json document = run_frame_json(amg2023_schema_version, run);
  document["problem"] = {{"number", record.problem.number},
                         {"points_per_rank", record.problem.points},
                         {"processors", record.problem.processors}};
  document["method"] = record.method;
  document["converged"] = record.converged;
  document["iterations"] = record.iterations;
  document["relative_residual"] = number(record.relative_residual);
  Json levels = Json::array();
  for (const amg::LevelInfo& level : record.levels) {
    levels.push_back({{"rows", level.rows},
                      {"nonzeros", level.nonzeros},
                      {"interpolation_nonzeros", level.interpolation_nonzeros}});
  }
  document["levels"] = levels;
  document["nonzeros_AP"] = record.nonzeros_AP();
  document["setup_s"] = number(record.setup_s);
  document["solve_s"] = number(record.solve_s);
  document["figure_of_merit"] = number(record.merit());
  document["figure_of_merit_setup"] = number(record.setup_merit());
  document["figure_of_merit_solve"] = number(record.solve_merit());
  return dumped(document);
}

}  // namespace nodewise::report
