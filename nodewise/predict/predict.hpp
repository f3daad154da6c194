// Predicting what a hierarchy costs on a machine that is not at hand, and describing it: what
// `nodewise predict` and `nodewise inspect` do.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/partition/arrangement.hpp"
#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/options.hpp"
#include "nodewise/predict/result.hpp"
#include "nodewise/predict/virtual_levels.hpp"
#include "nodewise/predict/virtual_machine.hpp"

namespace nodewise::predict {

/// A matrix and the multigrid that is made for it.
struct Problem {
  std::shared_ptr<const matrix::DistMatrix<double>> A;
  amg::ProblemInfo<double> info = {};  ///< of the matrix; where virtual ranks begin is set here
  amg::Options options = {};
  partition::Partition partition = "none";  ///< among the ranks, or the virtual ones
  partition::Placement placement = "none";  ///< of its parts on them
  partition::Balance balance = partition::Balance::automatic;
  partition::Reordering reorder = "none";
  std::optional<partition::PartitionDecision> partition_decision = {};  ///< once it is made
  /// What the placement gained, once the rows are placed.
  std::optional<partition::PlacementGain> placement_gain = {};
  std::optional<partition::ReorderingGain> reordering_gain = {};  ///< likewise, of the order
  /// Whether a prediction takes usual_redistribution() on each number of ranks, not that of
  /// `options`.
  bool chooses_redistribution = false;
};

/// Told of what is done, on every rank; each may be left out.
struct Progress {
  std::function<void(int n_ranks)> begin = {};  ///< a prediction for so many ranks
  amg::LevelObserver level = {};                ///< a level was made
  CountObserver exchange = {};                  ///< one of its exchanges was counted or predicted
};

/// The subject of a prediction and the machine it is for.
struct Request {
  model::Machine costs;
  VirtualMachine machine;
  std::vector<VirtualMachine> scaling = {};  ///< for each a point of the curve of strong scaling
  model::Arrival arrival = model::usual_arrival;
  int threads = 1;               ///< of a rank
  Memory memory = Memory::host;  ///< where vectors lie
};

/// Local. The request that options make. Throws as io::find_machine() does, and invalid_argument
/// where options do not fit each other or the machine does not tell what they need, has too few
/// cores a node for its ranks and their threads, or too few GPUs.
Request make_request(const PredictOptions& options, const VirtualOptions& ranks,
                     const run::PlacementOptions& placement,
                     const partition::Placement& dealing = "none");

/// Local. The largest number of virtual ranks that is asked for, by `virtual_ranks` or
/// `rank_counts`. A list that make_request() refuses counts for none.
int most_virtual_ranks(const PredictOptions& options, const VirtualOptions& ranks);

/// Local. Throws invalid_argument unless the communicator has one rank, since virtual ranks live in
/// one process. `doing` says what is done in it ("predicts").
void check_one_process(const mpi::Comm& comm, const char* doing);
/// Local. Throws invalid_argument where a cycle with these options cannot be predicted.
void check_predictable(const amg::Options& options);

/// For a matrix on one rank. Makes the hierarchy for each number of virtual ranks in turn, and
/// predicts its cycle; for those of request.machine its setup, too. Throws as the checks above and
/// amg::Hierarchy do.
Result predict(const Problem& problem, const Request& request, const Progress& progress = {});

/// Collective. Looks at the matrix, square or not, and makes its hierarchy; where multigrid cannot
/// treat the matrix, says why. `machine` is null, or that of virtual ranks, for a matrix on one
/// rank: the hierarchy is then made for them, and what they would send is counted.
Inspection inspect(const Problem& problem, const VirtualMachine* machine = nullptr,
                   const Progress& progress = {});

}  // namespace nodewise::predict
