// The times of a hierarchy's exchanges on virtual ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/predict/exchange_times.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/predict/virtual_levels.hpp"

namespace nodewise::predict {

/// A hierarchy made for virtual ranks.
struct VirtualSetup {
  const amg::Hierarchy<double>& hierarchy;
  bool symmetric;  ///< the matrix
  const amg::Options& options;
  std::vector<mpi::Account> books;  ///< the ledger of this setup alone: how often it reduces
};

/// Local, on one rank. Predicts the exchanges of a hierarchy made for the virtual ranks of
/// `machine`, once by each of the `costs` of that machine. Those of the setup
/// by the first costs alone: they take as long as those of many cycles.
std::vector<Prediction> predict(const VirtualSetup& setup, const VirtualMachine& machine,
                                std::span<const ExchangeTimer> costs, const CountObserver& observe);

}  // namespace nodewise::predict
