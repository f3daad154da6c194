#include "nodewise/amg/messages/copy_messages.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "nodewise/amg/redistribute/copy_holders.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;
using ColumnRecords = comm::Records<GlobalIndex>;
using Starts = std::span<const GlobalIndex>;

/// The columns that the rows of every rank have entries in, ascending.
ColumnRecords columns_of(const Csr<double>& M, Starts rows) {
  ColumnRecords columns;
  std::vector<GlobalIndex>& all = columns.data;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto begin = all.size();
    for (auto i = static_cast<LocalIndex>(rows[r]); i < rows[r + 1]; ++i) {
      for (Offset k = M.begin(i); k < M.end(i); ++k) {
        all.push_back(M.cols[static_cast<std::size_t>(k)]);
      }
    }
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, all.end());
    all.erase(std::unique(first, all.end()), all.end());
    columns.end_record();
  }
  return columns;
}

/// Those of all rows.
std::vector<GlobalIndex> columns_of(const Csr<double>& M) {
  const GlobalIndex all_rows[] = {0, M.n_rows};
  return columns_of(M, all_rows).data;
}

}  // namespace

bool is_copied_below(const Hierarchy<double>& hierarchy, std::size_t level) {
  const auto levels = hierarchy.levels();
  return level + 1 < levels.size() && levels[level + 1].copies > levels[level].copies;
}

VirtualCopies::VirtualCopies(const Hierarchy<double>& hierarchy, std::size_t level,
                             const mpi::Topology& topology)
    : hierarchy_(hierarchy), level_(level), topology_(topology) {
  const Starts fine = hierarchy.virtual_starts(level), coarse = hierarchy.virtual_starts(level + 1);
  coarse_.assign(coarse.begin(), coarse.end());
  n_ = coarse.back();
  holders_ = holders_of_copies(topology, ranks_of_level(fine, static_cast<int>(level)),
                               only_holder(coarse).value());
  copies_ = ranks_with_copies(holders_);
  copied_ = starts_of_copies(holders_, n_);
  columns_ = columns_of(hierarchy.interpolation(level)->on(), fine);
}

std::vector<comm::Pattern> VirtualCopies::patterns_to_copies() const {
  ColumnRecords ghosts;
  for (std::size_t r = 0; r < holders_.size(); ++r) {
    for (const int copy : copies_) {
      if (copy == static_cast<int>(r)) continue;
      const GlobalIndex first = copied_[static_cast<std::size_t>(copy)];
      for (const GlobalIndex column : columns_[r]) ghosts.data.push_back(first + column);
    }
    ghosts.end_record();
  }
  return comm::virtual_patterns(copied_, ghosts);
}

std::vector<comm::Pattern> VirtualCopies::patterns_from_copy() const {
  ColumnRecords ghosts;
  for (std::size_t r = 0; r < holders_.size(); ++r) {
    if (holders_[r] >= 0 && holders_[r] != static_cast<int>(r)) {
      const GlobalIndex first = copied_[static_cast<std::size_t>(holders_[r])];
      for (const GlobalIndex column : columns_[r]) ghosts.data.push_back(first + column);
    }
    ghosts.end_record();
  }
  return comm::virtual_patterns(copied_, ghosts);
}

std::vector<comm::Pattern> VirtualCopies::patterns_of_restriction() const {
  const Starts fine = hierarchy_.virtual_starts(level_);
  const std::vector<GlobalIndex> columns = columns_of(hierarchy_.restriction(level_)->on());
  ColumnRecords ghosts;
  for (std::size_t r = 0; r < holders_.size(); ++r) {
    if (holders_[r] == static_cast<int>(r)) {
      std::copy_if(columns.begin(), columns.end(), std::back_inserter(ghosts.data),
                   [&](GlobalIndex j) { return j < fine[r] || j >= fine[r + 1]; });
    }
    ghosts.end_record();
  }
  return comm::virtual_patterns(fine, ghosts);
}

std::vector<comm::Pattern> VirtualCopies::patterns_of_columns(
    std::span<const GlobalIndex> columns) const {
  ColumnRecords ghosts;
  for (std::size_t r = 0; r < holders_.size(); ++r) {
    const bool has_rows = coarse_[r] < coarse_[r + 1];
    if (holders_[r] == static_cast<int>(r) && !has_rows) {
      ghosts.data.insert(ghosts.data.end(), columns.begin(), columns.end());
    }
    ghosts.end_record();
  }
  return comm::virtual_patterns(coarse_, ghosts);
}

std::vector<comm::Plan> VirtualCopies::to_copies(const comm::Route& route) const {
  return comm::virtual_plans(patterns_to_copies(), topology_, route);
}
std::vector<comm::Plan> VirtualCopies::restriction(const comm::Route& route) const {
  return comm::virtual_plans(patterns_of_restriction(), topology_, route);
}
std::vector<comm::Plan> VirtualCopies::from_copy() const {
  return comm::virtual_plans(patterns_from_copy(), topology_, "direct");
}

model::MessageStages VirtualCopies::rows(std::span<const std::size_t> bytes_of_vectors) const {
  std::vector<GlobalIndex> all(static_cast<std::size_t>(n_));
  std::iota(all.begin(), all.end(), GlobalIndex{0});
  const auto plans = comm::virtual_plans(patterns_of_columns(all), topology_, "direct");
  VirtualExchanges exchanges({plans, topology_});
  for (const std::size_t bytes : bytes_of_vectors) exchanges.forward(bytes);
  exchanges.rows(hierarchy_.galerkin_matrix(level_ + 1)->on(), coarse_, coarse_);
  if (const auto* R = hierarchy_.restriction(level_)) {
    exchanges.rows(R->on(), coarse_, hierarchy_.virtual_starts(level_));
  }
  return exchanges.take();
}

void VirtualCopies::add_requests(model::MessageStages& stages) const {
  std::vector<GlobalIndex> all(static_cast<std::size_t>(n_));
  std::iota(all.begin(), all.end(), GlobalIndex{0});
  const bool has_restriction = hierarchy_.restriction(level_) != nullptr;
  amg::add_requests(patterns_from_copy(), stages);
  amg::add_requests(patterns_of_columns(all), stages);
  amg::add_requests(has_restriction ? patterns_of_restriction() : patterns_to_copies(), stages);
  amg::add_requests(patterns_of_columns(columns_of(hierarchy_.galerkin_matrix(level_ + 1)->on())),
                    stages);
}

}  // namespace nodewise::amg
