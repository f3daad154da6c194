// What of a setup has a form on a device.
#include <fmt/format.h>

#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/offload/device_method.hpp"

namespace nodewise::offload {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& instead) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("`device_setup device` has no {}: take {}", what, instead));
}

/// "`aggregates independent_set`", of a family's methods that run on devices.
template <class Method, class Runs>
std::string some(const Family<Method>& family, const Runs& runs) {
  const std::string name =
      family.some([&](const MethodInfo& info) { return runs(static_cast<const Method&>(info)); });
  return fmt::format("`{}`", name);
}

void check_aggregation(const amg::AggregationOptions& own) {
  const auto runs = [](const amg::AggregationMethod& method) { return method.runs_on_devices; };
  if (own.aggregates.is_automatic() || !own.aggregates->runs_on_devices) {
    refuse(fmt::format("`aggregates {}`", own.aggregates.name()),
           some(amg::AggregationMethod::family(), runs));
  }
  if (own.aggregation_strength != amg::ConnectionMeasure::symmetric) {
    refuse("`aggregation_strength classical`", "`aggregation_strength symmetric`");
  }
  if (own.prolongation_sweeps > 0 && own.filter_prolongation) {
    refuse("`filter_prolongation true`", "`filter_prolongation false`");
  }
  if (own.candidate_sweeps > 0) refuse("`candidate_sweeps` above 0", "`candidate_sweeps 0`");
  if (!own.restriction->is_transposed) {
    refuse(fmt::format("`restriction {}`", own.restriction.name()), "`restriction transposed`");
  }
}

void check_classical(const amg::Options& options) {
  const amg::ClassicalOptions& own = amg::classical_options(options);
  const auto splits = [](const amg::CoarseningMethod& method) { return method.runs_on_devices; };
  if (!own.coarsening->runs_on_devices) {
    refuse(fmt::format("`coarsening {}`", own.coarsening.name()),
           some(amg::CoarseningMethod::family(), splits));
  }
  if (own.aggressive_levels > 0) refuse("`aggressive_levels` above 0", "`aggressive_levels 0`");
  const auto runs = [](const amg::InterpolationMethod& method) { return method.runs_on_devices; };
  if (!amg::interpolation_of_level(options, 0)->runs_on_devices) {
    refuse(fmt::format("`interpolation {}`", own.interpolation.name()),
           some(amg::InterpolationMethod::family(), runs));
  }
}

}  // namespace

void check_for_setup(const amg::Options& options, const amg::ProblemInfo<double>& info) {
  const std::string on_host = "`device_setup host`";
  const auto runs = [](const amg::LevelMethod& method) { return method.is_set_up_on_devices; };
  if (!options.method->is_set_up_on_devices) {
    refuse(fmt::format("`method {}`", options.method.name()),
           some(amg::LevelMethod::family(), runs));
  }
  if (options.method->has_coarse_points) {
    check_classical(options);
  } else {
    check_aggregation(options.method.options<amg::AggregationOptions>());
  }
  if (options.unknowns > 1 || info.near_null_space.n_vectors > 1) {
    refuse("form for several unknowns a point or vectors of the near null space", on_host);
  }
  if (!info.symmetric.value_or(true)) refuse("form for matrices that are not symmetric", on_host);
  if (options.sparsification->drops_entries) {
    refuse(fmt::format("`sparsification {}`", options.sparsification.name()),
           "`sparsification none`");
  }
  if (!info.virtual_starts.empty()) refuse("form for virtual ranks", on_host);
}

void DeviceSolver::rebuild(const std::shared_ptr<const matrix::DistMatrix<double>>& /*A*/,
                           amg::Reuse /*reuse*/) {
  throw Error(ErrorCode::internal, "a device has no levels of its own that could be rebuilt");
}

}  // namespace nodewise::offload
