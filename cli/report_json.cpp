#include "cli/report_json.hpp"

#include "nodewise/report/solve_document.hpp"

#include "cli/json_parts.hpp"

namespace nodewise::cli {

namespace {

Json kernel_json(const roofline::SolveTraffic& traffic, const roofline::SolveKernel& kernel) {
  return {{"kernel", kernel.name},
          {"level", kernel.level},
          {"runs", kernel.runs},
          {"flops", kernel.traffic.flops},
          {"moved_bytes", kernel.traffic.bytes()},
          {"computing_s", kernel.seconds},
          {"bytes_per_flop", number(kernel.balance())},
          {"share_of_bound", number(traffic.share_of_bound(kernel))},
          {"kappa_bytes", number(traffic.kappa(kernel))},
          {"bytes_per_flop_with_kappa", number(traffic.measured_balance(kernel))}};
}

Json traffic_json(const std::optional<roofline::SolveTraffic>& traffic) {
  if (!traffic) return nullptr;
  Json kernels = Json::array();
  for (const roofline::SolveKernel& kernel : traffic->kernels) {
    kernels.push_back(kernel_json(*traffic, kernel));
  }
  return {{"bandwidth_bytes_per_s",
           traffic->bandwidth ? number(traffic->bandwidth->triad_bytes_per_s) : Json(nullptr)},
          {"kernels", kernels},
          {"not_counted", text_or_null(traffic->not_counted)}};
}

}  // namespace

std::string report_json(const SolveRecord& record, const Settings& settings) {
  report::SolveFrame frame;
  frame.command_line = record.command_line;
  frame.options = options_json(settings, Command::solve);
  frame.local_kernels = traffic_json(record.traffic);
  frame.solution_file = record.solution_file;
  frame.exit_code = static_cast<int>(record.exit_code);
  return report::solve_json(record, frame);
}

}  // namespace nodewise::cli
