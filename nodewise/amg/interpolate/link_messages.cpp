#include "nodewise/amg/interpolate/link_messages.hpp"

#include <vector>

#include "nodewise/matrix/operations.hpp"

namespace nodewise::amg::interpolate {

namespace {

using kernels::Csr;
using Starts = std::span<const GlobalIndex>;
using Link = Neighbourhood<double>::Link;

/// Where the links of every point begin, which Neighbourhood::append_links() sends: strong entries
/// of a fine point at coarse points, those that count, and entries at fine points of other ranks.
std::vector<Offset> link_offsets(const matrix::DistMatrix<double>& matrix, const Strength& strength,
                                 std::span<const LocalIndex> coarse_rows, Starts ranks,
                                 Signs signs) {
  const Csr<double>& A = matrix.on();
  const Array<double> diagonal = matrix::diagonal(matrix);
  const coarsen::Splitting states = coarsen::splitting_of(A.n_rows, coarse_rows);
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

}  // namespace

void number_exchanges(VirtualExchanges& exchanges) {
  exchanges.forward(sizeof(GlobalIndex));  // numbers of coarse points
}

void link_exchanges(Signs signs, const matrix::DistMatrix<double>& A, const Strength& strength,
                    std::span<const LocalIndex> coarse_rows, Starts ranks,
                    VirtualExchanges& exchanges) {
  number_exchanges(exchanges);
  exchanges.records(link_offsets(A, strength, coarse_rows, ranks, signs), sizeof(Link));
}

}  // namespace nodewise::amg::interpolate
