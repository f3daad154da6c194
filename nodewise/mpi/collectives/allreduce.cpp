#include "nodewise/mpi/collectives/allreduce.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/collectives/argument_check.hpp"
#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/mpi/collectives/scheduled_allreduce.hpp"
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
          MPI_Op op, const std::optional<Choice<AllreduceMethod>>& algorithm)
      : comm_(comm),
        setting_(algorithm.value_or(comm.settings().allreduce)),
        is_of_comm_(!algorithm || *algorithm == comm.settings().allreduce) {
    error_ = caught([&] { look_at(values, result, count, type, op); });
  }

  const std::optional<Error>& error() const { return error_; }
  Offset extent() const { return extent_; }
  /// What brings the vector; null where that is MPI's own algorithm.
  ScheduledAllreduce* by() const { return by_; }
  /// Elements that travel at once that way.
  Offset at_once() const { return at_once_; }
  /// What all ranks must have in common.
  std::int64_t fingerprint() const {
    const std::uint64_t method =
        by_ == nullptr ? 0 : 1 + AllreduceMethod::family().index_of(*by_->method().name);
    return static_cast<std::int64_t>(hash64(static_cast<std::uint64_t>(bytes_), method));
  }

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
    if (!setting_.is_automatic() && *setting_->schedule != nullptr) {
      const std::string algorithm = "the algorithm " + *setting_->name;
      if (!commutative) {
        throw Error(ErrorCode::unsupported,
                    "allreduce: " + algorithm + " needs a commutative operation");
      }
      require(one.bytes <= setting_->piece_bytes, algorithm + " takes elements of at most " +
                                                      std::to_string(*setting_->piece_bytes) +
                                                      " bytes, not " + std::to_string(one.bytes));
    } else if (!commutative) {
      return;
    }
    find_schedule();
    if (by_ != nullptr && one.bytes > by_->method().piece_bytes) by_ = nullptr;
    if (by_ == nullptr) return;
    const Offset step = std::max<Offset>(1, std::max(extent_, -extent_));
    at_once_ = (by_->method().piece_bytes - one.bytes) / step + 1;
  }

  /// One that the communicator has, or one for this call.
  void find_schedule() {
    if (is_of_comm_) {
      by_ = scheduled_for(comm_, bytes_);
      return;
    }
    for (const AllreduceRange& range : allreduce_ranges(setting_, comm_.topology())) {
      if (bytes_ > range.longest) continue;
      for (const auto& made : comm_.allreduces()) {
        if (&made->method() == range.method) by_ = made.get();
      }
      if (by_ == nullptr) by_ = &for_this_call_.emplace(comm_, *range.method);
      return;
    }
  }

  const Comm& comm_;
  Choice<AllreduceMethod> setting_;
  bool is_of_comm_;
  std::optional<Error> error_;
  Offset extent_ = 0;
  Offset bytes_ = 0;
  Offset at_once_ = 0;
  ScheduledAllreduce* by_ = nullptr;
  std::optional<ScheduledAllreduce> for_this_call_;
};

constexpr char allreduce_mismatch[] =
    "allreduce: the ranks bring vectors of different lengths, or operations of which some are "
    "commutative and some are not, or name different algorithms";

/// Runs a schedule on the vector. Returns whether all ranks bring fitting arguments. Without
/// elements to bring, that alone is found.
bool run_schedule(ScheduledAllreduce& by, const Request& request, const void* values, void* result,
                  Offset count, MPI_Datatype type, MPI_Op op) {
  const ScheduledAllreduce::Call call{request.error().has_value(), request.fingerprint()};
  // A schedule that is not this call's has the check alone to do.
  const Offset step = &by == request.by() ? request.at_once() : 0;
  const void* from = values == MPI_IN_PLACE ? result : values;
  bool good = true;
  Offset done = 0;
  do {
    const Offset n = std::min(step, count - done);
    good = by.run(call, static_cast<const std::byte*>(from) + done * request.extent(),
                  static_cast<std::byte*>(result) + done * request.extent(),
                  call.failed ? 0 : static_cast<int>(n), type, op);
    done += n;
  } while (good && step > 0 && done < count);
  return good;
}

/// Throws on every rank alike where arguments are wrong, or do not fit each other; by a reduction
/// of its own.
void check_arguments(const Comm& comm, const Request& request) {
  ArgumentCheck arguments(comm);
  arguments.local([&] {
    if (request.error()) throw Error(*request.error());
  });
  arguments.same_everywhere(static_cast<std::uint64_t>(request.fingerprint()));
  arguments.agree(allreduce_mismatch);
}

}  // namespace

ScheduledAllreduce* scheduled_for(const Comm& comm, Offset bytes) {
  for (const auto& made : comm.allreduces()) {
    if (bytes <= made->longest()) return made.get();
  }
  return nullptr;
}

void allreduce(const Comm& comm, const void* values, void* result, Offset count, MPI_Datatype type,
               MPI_Op op, const std::optional<Choice<AllreduceMethod>>& algorithm) {
  const Request request(comm, values, result, count, type, op, algorithm);
  const auto run = [&](ScheduledAllreduce& by) {
    return run_schedule(by, request, values, result, count, type, op);
  };
  // Ranks that bring different lengths may want different schedules, and so all begin with one: it
  // brings the first piece, or the check of arguments alone.
  ScheduledAllreduce* const first =
      comm.allreduces().empty() ? nullptr : comm.allreduces()[0].get();
  if (first == nullptr) {
    check_arguments(comm, request);
  } else if (!run(*first)) {
    agree(comm, request.error());
    throw Error(ErrorCode::invalid_argument, allreduce_mismatch);
  }
  if (request.by() == nullptr) {
    run_mpi(comm, values, result, count, request.extent(), type, op);
  } else if (request.by() != first) {
    run(*request.by());
  }
}

void allreduce_unchecked(const Comm& comm, void* values, Offset count, Offset element_bytes,
                         MPI_Datatype type, MPI_Op op) {
  const Offset bytes = count * element_bytes;
  ScheduledAllreduce* const by = scheduled_for(comm, bytes);
  if (by == nullptr) {
    return run_mpi(comm, MPI_IN_PLACE, values, count, element_bytes, type, op);
  }
  const Offset at_once = by->method().piece_bytes / element_bytes;
  for (Offset done = 0; done < count; done += at_once) {
    std::byte* const here = static_cast<std::byte*>(values) + done * element_bytes;
    const auto n = static_cast<int>(std::min(at_once, count - done));
    if (!by->run({false, bytes}, here, here, n, type, op)) {
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
  const std::size_t most = topology.most_ranks_on_a_node();
  std::size_t least = most;
  for (int n = 0; n < topology.n_nodes(); ++n) {
    least = std::min(least, topology.ranks_on(n).size());
  }
  const std::string text = counted(static_cast<std::int64_t>(most), "rank");
  return least == most ? text : std::to_string(least) + " to " + text;
}

std::string node_aware_here(const Comm& comm) {
  const Topology& topology = comm.topology();
  std::int64_t total = 0, most = 0;
  for (const int rank : topology.ranks_on(topology.node(comm.rank()))) {
    const std::int64_t mine =
        count_messages(make_schedule(topology, rank), topology, rank).off_node;
    total += mine;
    most = std::max(most, mine);
  }
  const auto n_stages = std::ssize(make_schedule(topology, comm.rank()).stages) - 1;
  return "the node-aware algorithm on " + counted(topology.n_nodes(), "node") + " of " +
         ranks_of_a_node(topology) + ", " + counted(n_stages, "stage") + " between nodes, " +
         counted(total, "message") + " to other nodes from this node, at most " +
         std::to_string(most) + " from a rank";
}

std::string described(const Comm& comm, const AllreduceMethod& method) {
  if (method.is_node_aware) return node_aware_here(comm);
  return "the algorithm " + *method.name + ": " + *method.summary;
}

}  // namespace

std::string explain_allreduce(const Comm& comm) {
  const Choice<AllreduceMethod>& setting = comm.settings().allreduce;
  const Topology& topology = comm.topology();
  if (!setting.is_automatic()) {
    if (*setting->schedule == nullptr) return "MPI's own algorithm, as set.";
    return "As set, " + described(comm, *setting) + ".";
  }
  const std::vector<AllreduceRange> ranges = allreduce_ranges(setting, topology);
  if (ranges.empty()) {
    return "MPI's own algorithm: with " + counted(topology.n_nodes(), "node") + " of " +
           ranks_of_a_node(topology) + " there is nothing that ranks of a node could share out.";
  }
  std::string text;
  for (const AllreduceRange& range : ranges) {
    text += "For vectors of up to " + std::to_string(range.longest) + " bytes " +
            described(comm, *range.method) + ". ";
  }
  return text + "For longer ones, and for operations that are not commutative, MPI's own.";
}

}  // namespace nodewise::mpi::collectives
