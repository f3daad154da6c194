// The exchanges of a hierarchy, laid out over the ranks of a machine that is not at hand.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/predict/inspection.hpp"
#include "nodewise/predict/virtual_machine.hpp"

namespace nodewise::predict {

using Matrix = matrix::DistMatrix<double>;

/// Whether so many ranks would make the same hierarchy: ranks number their columns differently, and
/// which of equally large weights an interpolation keeps is decided by these numbers.
bool is_independent_of_ranks(const amg::Options& options);

/// One operation of one level, planned over one route.
struct VirtualExchange {
  std::size_t level;
  CountedExchange operation;
  std::size_t route;                  ///< its place in VirtualMachine::routes
  std::span<const comm::Plan> plans;  ///< of all ranks
  std::span<const Offset> rows;       ///< of interpolation_rows: where those of P begin, in words
  bool is_reversed = false;           ///< messages go from the ghosts to their owners
  /// Of the setup, where those of a cycle go to copies of the next level, or come from there; else
  /// empty: the same.
  std::span<const comm::Plan> setup_plans = {};
};
using ExchangeVisitor = std::function<void(const VirtualExchange&)>;

/// Told of every operation that is done with: its level, name and seconds.
using CountObserver =
    std::function<void(std::size_t level, CountedExchange operation, double seconds)>;

/// Local, on one rank. Every exchange of a hierarchy made for so many virtual ranks. The rows of P
/// go the way of the ghosts of A, over the same plans.
void visit_exchanges(const amg::Hierarchy<double>& hierarchy, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe);
/// Likewise the product with a matrix alone, square or not, whose rows are spread as `rows` says
/// and the vectors it multiplies as `cols`.
void visit_exchanges(const Matrix& A, std::span<const GlobalIndex> rows,
                     std::span<const GlobalIndex> cols, const VirtualMachine& machine,
                     const ExchangeVisitor& visit, const CountObserver& observe);

}  // namespace nodewise::predict
