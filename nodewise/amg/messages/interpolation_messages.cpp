#include "nodewise/amg/messages/interpolation_messages.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::amg {

namespace {

using interpolate::Signs;
using kernels::Csr;
using Starts = std::span<const GlobalIndex>;
using Link = interpolate::Neighbourhood<double>::Link;

/// The entries that a formula goes through; nothing where it brings no links.
std::optional<Signs> signs_of_links(Interpolation formula) {
  switch (formula) {
    case Interpolation::extended_i:
    case Interpolation::extended:
    case Interpolation::modified_classical:
      return Signs::opposite;
    case Interpolation::standard:
    case Interpolation::classical:
      return Signs::all;
    case Interpolation::automatic:
    case Interpolation::direct:
    case Interpolation::one_point:
    case Interpolation::multipass:
      break;
  }
  return std::nullopt;
}

coarsen::Splitting splitting_of(LocalIndex n_rows, std::span<const LocalIndex> coarse_rows) {
  coarsen::Splitting states(static_cast<std::size_t>(n_rows), coarsen::fine);
  for (const LocalIndex i : coarse_rows) states[static_cast<std::size_t>(i)] = coarsen::coarse;
  return states;
}

/// Returns where the links of every point begin, as Neighbourhood::append_links() sends them:
/// strong entries of a fine point at coarse points, those that count, and entries at fine points of
/// other ranks.
std::vector<Offset> link_offsets(const matrix::DistMatrix<double>& matrix, const Strength& strength,
                                 std::span<const LocalIndex> coarse_rows, Starts ranks,
                                 Signs signs) {
  const Csr<double>& A = matrix.on();
  const Array<double> diagonal = matrix::diagonal(matrix);
  const coarsen::Splitting states = splitting_of(A.n_rows, coarse_rows);
  std::vector<Offset> offsets = {0};
  for (std::size_t r = 0; r + 1 < ranks.size(); ++r) {
    for (auto i = static_cast<LocalIndex>(ranks[r]); i < ranks[r + 1]; ++i) {
      Offset n = 0;
      const bool negative = diagonal[static_cast<std::size_t>(i)] < 0;
      const bool is_fine = states[static_cast<std::size_t>(i)] != coarsen::coarse;
      for (Offset k = A.begin(i); is_fine && k < A.end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const LocalIndex j = A.cols[p];
        const bool counts = A.vals[p] != 0 && (signs == Signs::all || negative != (A.vals[p] < 0));
        const bool elsewhere = j < ranks[r] || j >= ranks[r + 1];
        const bool goes = states[static_cast<std::size_t>(j)] == coarsen::coarse
                              ? counts || strength.on[p] != 0
                              : counts && elsewhere;
        n += goes ? 1 : 0;
      }
      offsets.push_back(offsets.back() + n);
    }
  }
  return offsets;
}

constexpr int not_done = -1;

/// The pass in which multipass() makes the row of each point, coarse ones in pass 0: one more than
/// the least of those it depends on; not_done where no path leads to a coarse point.
std::vector<int> passes_of(const Csr<double>& A, const Strength& strength,
                           std::span<const LocalIndex> coarse_rows) {
  std::vector<int> passes(static_cast<std::size_t>(A.n_rows), not_done);
  for (const LocalIndex i : coarse_rows) passes[static_cast<std::size_t>(i)] = 0;
  const auto depends_on_pass = [&](LocalIndex i, int pass) {
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      if (strength.on[k] && passes[static_cast<std::size_t>(A.cols[k])] == pass) return true;
    }
    return false;
  };
  bool any_new = true;
  for (int pass = 0; any_new; ++pass) {
    any_new = false;
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      int& own = passes[static_cast<std::size_t>(i)];
      if (own != not_done || !depends_on_pass(i, pass)) continue;
      own = pass + 1;
      any_new = true;
    }
  }
  return passes;
}

/// As Multipass::build() in interpolate/multipass.cpp: who is done, and the rows of the last pass,
/// which are not shortened.
void multipass_exchanges(const matrix::DistMatrix<double>& A, const Strength& strength,
                         std::span<const LocalIndex> coarse_rows, VirtualExchanges& exchanges) {
  const coarsen::Splitting splitting = splitting_of(A.n_local(), coarse_rows);
  const auto P = interpolate::multipass(A, strength, splitting,
                                        coarsen::coarse_layout(A.rows(), splitting), {});
  const std::vector<int> passes = passes_of(A.on(), strength, coarse_rows);
  const int n_passes = 1 + *std::max_element(passes.begin(), passes.end());
  for (int pass = 0; pass < n_passes; ++pass) {
    std::vector<Offset> offsets = {0};
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      const bool goes = passes[static_cast<std::size_t>(i)] == pass;
      offsets.push_back(offsets.back() + (goes ? P.on().end(i) - P.on().begin(i) : 0));
    }
    exchanges.forward(sizeof(std::int32_t));
    exchanges.records(offsets, sizeof(matrix::RowEntry<double>));
  }
}

}  // namespace

void interpolation_exchanges(Interpolation formula, const matrix::DistMatrix<double>& A,
                             const Strength& strength, std::span<const LocalIndex> coarse_rows,
                             std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges) {
  // Diagonals, and sums of the other entries.
  if (formula == Interpolation::standard) exchanges.forward(2 * sizeof(double));
  exchanges.forward(sizeof(GlobalIndex));  // numbers of coarse points
  if (formula == Interpolation::multipass) {
    multipass_exchanges(A, strength, coarse_rows, exchanges);
  } else if (const std::optional<Signs> signs = signs_of_links(formula)) {
    exchanges.records(link_offsets(A, strength, coarse_rows, ranks, *signs), sizeof(Link));
  }
}

}  // namespace nodewise::amg
