#include "nodewise/partition/ptscotch.hpp"

#include <algorithm>
#include <limits>

#ifdef NODEWISE_PTSCOTCH
#include <cstdio>

#include <mpi.h>
// It needs both before it.
#include <ptscotch.h>
#endif

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::partition {

#ifdef NODEWISE_PTSCOTCH

namespace {

/// The largest part may have so much more than its share.
constexpr double imbalance = 0.03;

/// The arrays that a graph is made of, which PT-Scotch does not copy.
struct ScotchArrays {
  explicit ScotchArrays(const DistGraph& graph)
      : begins(graph.begins.begin(), graph.begins.end()),
        neighbours(graph.neighbours.begin(), graph.neighbours.end()),
        weights(graph.weights.begin(), graph.weights.end()),
        parts(graph.weights.size(), 0) {
    neighbours.reserve(1);  // a null pointer would mean something else
    weights.reserve(1);
    parts.reserve(1);
  }
  std::vector<SCOTCH_Num> begins, neighbours, weights, parts;
};

/// Objects of PT-Scotch, which are ended in the order they were begun, backwards.
class ScotchTask {
 public:
  ScotchTask(const mpi::Comm& comm, std::span<const int> shares)
      : shares_(shares.begin(), shares.end()) {
    SCOTCH_randomReset();
    SCOTCH_contextInit(&context_);
    SCOTCH_contextThreadSpawn(&context_, 1, nullptr);
    SCOTCH_dgraphInit(&graph_, comm.get());
    SCOTCH_dgraphInit(&bound_, comm.get());
    SCOTCH_stratInit(&strategy_);
    SCOTCH_archInit(&parts_);
    const auto n = static_cast<SCOTCH_Num>(shares_.size());
    SCOTCH_stratDgraphMapBuild(&strategy_, SCOTCH_STRATBALANCE, comm.size(), n, imbalance);
    const bool are_equal =
        std::all_of(shares_.begin(), shares_.end(), [&](SCOTCH_Num s) { return s == shares_[0]; });
    if (are_equal) {
      SCOTCH_archCmplt(&parts_, n);
    } else {
      SCOTCH_archCmpltw(&parts_, n, shares_.data());
    }
  }
  ~ScotchTask() {
    SCOTCH_archExit(&parts_);
    SCOTCH_stratExit(&strategy_);
    SCOTCH_dgraphExit(&bound_);
    SCOTCH_dgraphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }
  ScotchTask(const ScotchTask&) = delete;
  ScotchTask& operator=(const ScotchTask&) = delete;

  /// Collective. Returns whether all went well here.
  bool run(ScotchArrays& arrays) {
    const auto n = static_cast<SCOTCH_Num>(arrays.parts.size());
    const auto edges = static_cast<SCOTCH_Num>(arrays.neighbours.size());
    const int status =
        SCOTCH_dgraphBuild(&graph_, 0, n, n, arrays.begins.data(), nullptr, arrays.weights.data(),
                           nullptr, edges, edges, arrays.neighbours.data(), nullptr, nullptr);
    if (status != 0 || SCOTCH_contextBindDgraph(&context_, &graph_, &bound_) != 0) return false;
    return SCOTCH_dgraphMap(&bound_, &parts_, &strategy_, arrays.parts.data()) == 0;
  }

 private:
  std::vector<SCOTCH_Num> shares_;
  // Of one thread: by itself PT-Scotch takes as many as there are cores, which call MPI at a time,
  // whatever MPI was initialised for.
  SCOTCH_Context context_ = {};
  SCOTCH_Dgraph graph_ = {}, bound_ = {};  // the latter is the graph in that context
  SCOTCH_Strat strategy_ = {};
  SCOTCH_Arch parts_ = {};
};

/// Collective.
void require_countable(const DistGraph& graph) {
  const std::int64_t edges =
      mpi::sum(graph.points.comm(), static_cast<std::int64_t>(graph.neighbours.size()));
  constexpr std::int64_t most = std::numeric_limits<SCOTCH_Num>::max();
  if (edges <= most && graph.points.n_global() <= most) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("partition: PT-Scotch takes up to {} points and couplings, there are {} "
                          "and {}",
                          most, graph.points.n_global(), edges));
}

}  // namespace

bool has_ptscotch() {
  return true;
}

std::vector<int> parts_by_ptscotch(const DistGraph& graph, std::span<const int> shares) {
  const mpi::Comm& comm = graph.points.comm();
  const auto n_parts = static_cast<GlobalIndex>(shares.size());
  if (n_parts == 1 || graph.points.n_global() <= n_parts) {
    return mpi::collectively(comm, [&] {
      std::vector<int> parts(graph.weights.size(), 0);
      for (std::size_t k = 0; n_parts > 1 && k < parts.size(); ++k) {
        parts[k] = static_cast<int>(graph.points.to_global(static_cast<LocalIndex>(k)));
      }
      return parts;
    });
  }
  require_countable(graph);
  std::optional<ScotchArrays> arrays;
  mpi::collectively(comm, [&] { arrays.emplace(graph); });
  bool is_done = false;
  {
    const mpi::Communicating communicating(comm);
    ScotchTask task(comm, shares);
    is_done = task.run(*arrays);
  }
  return mpi::collectively(comm, [&] {
    if (!is_done) throw Error(ErrorCode::internal, "partition: PT-Scotch failed");
    return std::vector<int>(arrays->parts.begin(), arrays->parts.end());
  });
}

#else

bool has_ptscotch() {
  return false;
}

std::vector<int> parts_by_ptscotch(const DistGraph&, std::span<const int>) {
  throw Error(ErrorCode::unsupported,
              "partition: this build of Nodewise has no PT-Scotch (Debian: libptscotch-dev, for "
              "Open MPI)");
}

#endif

}  // namespace nodewise::partition
