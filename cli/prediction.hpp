// What the exchanges of a hierarchy take on virtual ranks.
#pragma once

#include "nodewise/amg/hierarchy.hpp"

#include "cli/exchange_times.hpp"
#include "cli/predict_record.hpp"
#include "cli/virtual_levels.hpp"

namespace nodewise::cli {

/// Local, on one rank. Of a hierarchy made for the virtual ranks of `machine`, whose matrix is
/// `symmetric` or not; `costs` is where they are.
Prediction predict(const amg::Hierarchy<double>& hierarchy, bool symmetric,
                   const amg::Options& options, const VirtualMachine& machine,
                   const ExchangeTimer& costs, const CountObserver& observe);

}  // namespace nodewise::cli
