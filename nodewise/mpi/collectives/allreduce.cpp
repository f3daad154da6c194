#include "nodewise/mpi/collectives/allreduce.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "nodewise/mpi/collectives/argument_check.hpp"
#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/mpi/collectives/node_aware_allreduce.hpp"
#include "nodewise/mpi/collectives/shape.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::mpi::collectives {

namespace {

void run_mpi(const Comm& comm, const void* values, void* result, Offset count, Offset extent,
             MPI_Datatype type, MPI_Op op) {
  const CollectiveCall call(comm);
  constexpr Offset most = std::numeric_limits<int>::max();
  for (Offset done = 0; done < count || done == 0; done += most) {
    const void* from = values == MPI_IN_PLACE
                           ? MPI_IN_PLACE
                           : static_cast<const std::byte*>(values) + done * extent;
    check(MPI_Allreduce(from, static_cast<std::byte*>(result) + done * extent,
                        static_cast<int>(std::min(most, count - done)), type, op, comm.get()),
          "MPI_Allreduce");
  }
}

/// What one rank asks for, before the others are heard.
class Request {
 public:
  Request(const Comm& comm, const void* values, void* result, Offset count, MPI_Datatype type,
          MPI_Op op, Collective setting)
      : setting_(std::move(setting)),
        allowed_(wants_node_aware_allreduce(setting_, comm.topology())) {
    error_ = caught([&] { look_at(values, result, count, type, op); });
  }

  const std::optional<Error>& error() const { return error_; }
  Offset extent() const { return extent_; }
  /// Elements that travel at once by the node-aware algorithm; 0 where MPI's is used.
  Offset at_once() const { return at_once_; }
  /// What all ranks must have in common.
  std::int64_t fingerprint() const { return 2 * bytes_ + (at_once_ > 0 ? 1 : 0); }

 private:
  void look_at(const void* values, const void* result, Offset count, MPI_Datatype type, MPI_Op op) {
    const auto require = [](bool good, const std::string& what) {
      if (!good) throw Error(ErrorCode::invalid_argument, "allreduce: " + what);
    };
    require(count >= 0, "a count of " + std::to_string(count));
    require(type != MPI_DATATYPE_NULL, "the datatype is MPI_DATATYPE_NULL");
    require(op != MPI_OP_NULL, "the operation is MPI_OP_NULL");
    require(count == 0 || (values != nullptr && result != nullptr), "a buffer is null");
    require(result != MPI_IN_PLACE, "the result cannot be MPI_IN_PLACE");
    const Shape one(type, 1);
    extent_ = one.extent;
    if (one.size > 0 && count > std::numeric_limits<Offset>::max() / 4 / one.size) {
      throw Error(ErrorCode::index_overflow, "allreduce: a vector of more than 2^61 bytes");
    }
    bytes_ = count * one.size;
    int commutative = 0;
    check(MPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
    const bool fits = one.bytes <= NodeAwareAllreduce::max_piece_bytes;
    if (!setting_.is_automatic() && setting_->is_node_aware) {
      if (!commutative) {
        throw Error(ErrorCode::unsupported,
                    "allreduce: the node-aware algorithm needs a commutative operation");
      }
      require(fits, "the node-aware algorithm takes elements of at most " +
                        std::to_string(NodeAwareAllreduce::max_piece_bytes) + " bytes, not " +
                        std::to_string(one.bytes));
    } else if (!allowed_ || !commutative || !fits || bytes_ > automatic_allreduce_bytes) {
      return;
    }
    const Offset step = std::max<Offset>(1, std::max(extent_, -extent_));
    at_once_ = (NodeAwareAllreduce::max_piece_bytes - one.bytes) / step + 1;
  }

  Collective setting_;
  bool allowed_;
  std::optional<Error> error_;
  Offset extent_ = 0;
  Offset bytes_ = 0;
  Offset at_once_ = 0;
};

constexpr char allreduce_mismatch[] =
    "allreduce: the ranks bring vectors of different lengths, or operations of which some are "
    "commutative and some are not, or name different algorithms";

/// Compares the arguments of all ranks on a communicator that has no node-aware allreduce, and
/// makes one for a call that wants it.
void check_arguments(const Comm& comm, const Request& request,
                     std::optional<NodeAwareAllreduce>& for_this_call) {
  ArgumentCheck arguments(comm);
  arguments.local([&] {
    if (request.error()) throw Error(*request.error());
    if (request.at_once() > 0) for_this_call.emplace(comm);
  });
  arguments.same_everywhere(static_cast<std::uint64_t>(request.fingerprint()));
  arguments.agree(allreduce_mismatch);
}

/// Whether all ranks bring fitting arguments. Without elements to bring, that alone is found.
bool run_node_aware(NodeAwareAllreduce& node_aware, const Request& request, const void* values,
                    void* result, Offset count, MPI_Datatype type, MPI_Op op) {
  const NodeAwareAllreduce::Call call{request.error().has_value(), request.fingerprint()};
  const Offset step = request.at_once();
  const void* from = values == MPI_IN_PLACE ? result : values;
  bool good = true;
  Offset done = 0;
  do {
    const Offset n = std::min(step, count - done);
    good = node_aware.run(call, static_cast<const std::byte*>(from) + done * request.extent(),
                          static_cast<std::byte*>(result) + done * request.extent(),
                          call.failed ? 0 : static_cast<int>(n), type, op);
    done += n;
  } while (good && step > 0 && done < count);
  return good;
}

}  // namespace

bool wants_node_aware_allreduce(const Collective& setting, const Topology& topology) {
  return uses_node_aware(setting, topology, 0, automatic_allreduce_bytes);
}

void allreduce(const Comm& comm, const void* values, void* result, Offset count, MPI_Datatype type,
               MPI_Op op, const std::optional<Collective>& algorithm) {
  const Request request(comm, values, result, count, type, op,
                        algorithm.value_or(comm.settings().allreduce));
  const auto run = [&](NodeAwareAllreduce& node_aware) {
    return run_node_aware(node_aware, request, values, result, count, type, op);
  };
  std::optional<NodeAwareAllreduce> for_this_call;
  if (comm.node_aware_allreduce() == nullptr) {
    check_arguments(comm, request, for_this_call);
  } else if (!run(*comm.node_aware_allreduce())) {
    // The check travels with the first piece, or alone where MPI's own algorithm follows.
    agree(comm, request.error());
    throw Error(ErrorCode::invalid_argument, allreduce_mismatch);
  }
  if (for_this_call) run(*for_this_call);
  if (request.at_once() == 0) run_mpi(comm, values, result, count, request.extent(), type, op);
}

void allreduce_unchecked(const Comm& comm, void* values, Offset count, Offset element_bytes,
                         MPI_Datatype type, MPI_Op op) {
  NodeAwareAllreduce* const node_aware = comm.node_aware_allreduce();
  const Offset bytes = count * element_bytes;
  if (node_aware == nullptr ||
      (comm.settings().allreduce.is_automatic() && bytes > automatic_allreduce_bytes)) {
    return run_mpi(comm, MPI_IN_PLACE, values, count, element_bytes, type, op);
  }
  const Offset at_once = NodeAwareAllreduce::max_piece_bytes / element_bytes;
  for (Offset done = 0; done < count; done += at_once) {
    std::byte* const here = static_cast<std::byte*>(values) + done * element_bytes;
    const auto n = static_cast<int>(std::min(at_once, count - done));
    if (!node_aware->run({false, bytes}, here, here, n, type, op)) {
      throw Error(ErrorCode::internal, "the ranks are in different reductions");
    }
  }
}

namespace {

std::string counted(std::int64_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

/// "16 ranks" or "1 to 16 ranks": how many a node has.
std::string ranks_of_a_node(const Topology& topology) {
  std::size_t least = topology.ranks_on(0).size();
  std::size_t most = least;
  for (int n = 1; n < topology.n_nodes(); ++n) {
    least = std::min(least, topology.ranks_on(n).size());
    most = std::max(most, topology.ranks_on(n).size());
  }
  const std::string text = counted(static_cast<std::int64_t>(most), "rank");
  return least == most ? text : std::to_string(least) + " to " + text;
}

std::string messages_of_this_node(const Comm& comm) {
  const Topology& topology = comm.topology();
  std::int64_t total = 0, most = 0;
  for (const int rank : topology.ranks_on(topology.node(comm.rank()))) {
    const std::int64_t mine =
        count_messages(make_schedule(topology, rank), topology, rank).off_node;
    total += mine;
    most = std::max(most, mine);
  }
  return counted(total, "message") + " to other nodes from this node, at most " +
         std::to_string(most) + " from a rank";
}

}  // namespace

std::string explain_allreduce(const Comm& comm) {
  const Collective& setting = comm.settings().allreduce;
  const Topology& topology = comm.topology();
  const std::string machine =
      counted(topology.n_nodes(), "node") + " of " + ranks_of_a_node(topology);
  if (!setting.is_automatic() && !setting->is_node_aware) return "MPI's own algorithm, as set.";
  if (comm.node_aware_allreduce() == nullptr) {
    return "MPI's own algorithm: with " + machine +
           " there is nothing that ranks of a node could " + "share out.";
  }
  const auto n_stages = std::ssize(comm.node_aware_allreduce()->schedule().stages) - 1;
  const std::string text = "the node-aware algorithm on " + machine + ", " +
                           counted(n_stages, "stage") + " between nodes, " +
                           messages_of_this_node(comm);
  if (!setting.is_automatic()) return "As set, " + text + ".";
  return "For vectors of up to " + std::to_string(automatic_allreduce_bytes) + " bytes " + text +
         ". For longer ones, and for operations that are not commutative, MPI's own.";
}

}  // namespace nodewise::mpi::collectives
