// The exchanges of a hierarchy, laid out over the ranks of a machine that is not at hand.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/mpi/topology.hpp"

#include "cli/inputs/system.hpp"
#include "cli/inspect_record.hpp"
#include "cli/options/settings.hpp"

namespace nodewise::cli {

/// A machine and the routes of interest, as the options say.
struct VirtualMachine {
  mpi::Topology topology;
  std::vector<comm::Route> routes;
};

/// Local. Throws Failure{usage} where the options do not fit each other.
VirtualMachine virtual_machine(const Settings& settings);

/// Local. Throws Failure{usage} on every rank unless there is one: virtual ranks live in one
/// process. `doing` says what the option is for ("counts").
void check_one_process(const mpi::Comm& world, const char* doing);

/// Whether so many ranks would make the same hierarchy: ranks number their columns differently, and
/// which of equally large weights an interpolation keeps is decided by these numbers.
bool is_independent_of_ranks(const amg::Options& options);

/// One operation of one level, planned over one route.
struct VirtualExchange {
  std::size_t level;
  Operation operation;
  std::size_t route;                  ///< its place in VirtualMachine::routes
  std::span<const comm::Plan> plans;  ///< of all ranks
  std::span<const Offset> rows;       ///< of interpolation_rows: where those of P begin, in words
};
using ExchangeVisitor = std::function<void(const VirtualExchange&)>;

/// Told of every operation that is done with: its level, name and seconds.
using CountObserver = std::function<void(std::size_t level, Operation operation, double seconds)>;

/// Local, on one rank. Every exchange of a hierarchy made for so many virtual ranks. The rows of P
/// go the way of the ghosts of A, over the same plans.
void visit_exchanges(const amg::Hierarchy<double>& hierarchy, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe);
/// Likewise the product with a matrix alone, square or not, whose rows are spread as `rows` says
/// and the vectors it multiplies as `cols`.
void visit_exchanges(const Matrix& A, std::span<const GlobalIndex> rows,
                     std::span<const GlobalIndex> cols, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe);

}  // namespace nodewise::cli
