// What stands in the way of a fast solve, found in a hierarchy and a system, as data.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nodewise/advise/finding.hpp"
#include "nodewise/amg/hierarchy.hpp"

namespace nodewise::advise {

/// Collective. A pass over the matrix of each level, and one allreduce for all of them.
template <class T>
SystemFacts hierarchy_facts(const amg::Hierarchy<T>& hierarchy);
/// The same for a matrix without a hierarchy.
template <class T>
SystemFacts matrix_facts(const std::shared_ptr<const matrix::DistMatrix<T>>& A);

/// Collective. Whether the constant vector and the given ones are null vectors, and what part they
/// have in b; of several right-hand sides, side by side, in that in which it is largest, whatever
/// the units. A pass over the matrix and two allreduces; with given vectors an exchange.
template <class T>
std::vector<NullVectorFacts> null_vector_facts(const matrix::DistMatrix<T>& A,
                                               const amg::NearNullSpace<T>& given,
                                               std::span<const T> b, int n_rhs = 1);

/// Local; a function of its arguments alone. In the order of the kinds, finest level first. No
/// advice names an option that is in force already.
std::vector<Finding> findings(const SystemFacts& facts, const amg::Options& options);

/// Local. What the end of a solve says.
std::vector<Finding> findings(const SolveFacts& solve, const amg::Options& options);

/// Collective. findings() of hierarchy_facts().
template <class T>
std::vector<Finding> diagnose(const amg::Hierarchy<T>& hierarchy, const amg::Options& options);

}  // namespace nodewise::advise
