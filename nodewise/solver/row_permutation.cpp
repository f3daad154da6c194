#include "nodewise/solver/row_permutation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/memory.hpp"
#include "nodewise/solver/finite_check.hpp"
#include "nodewise/solver/matching.hpp"

namespace nodewise::solver {

namespace {

using Matrix = matrix::DistMatrix<double>;

/// Collective. Rank 0 is to hold the matrix, and what the search needs, beside its own rows.
void require_room(const Matrix& A) {
  const GlobalIndex rows = A.rows().n_global();
  if (rows > std::numeric_limits<LocalIndex>::max()) {
    throw Error(ErrorCode::index_overflow,
                fmt::format("`permute_rows matching` goes through all rows on one rank, which has "
                            "room for {}; there are {}",
                            std::numeric_limits<LocalIndex>::max(), rows));
  }
  constexpr double bytes_of_entry = 2 * (sizeof(double) + sizeof(LocalIndex)) + sizeof(double);
  constexpr double bytes_of_row = 100;
  const double bytes = bytes_of_entry * static_cast<double>(A.nnz_global()) +
                       bytes_of_row * static_cast<double>(rows);
  mpi::check_memory(A.comm(), bytes * A.comm().topology().n_nodes(), "`permute_rows matching`");
}

/// Throws unsuitable_matrix where some rows are left without a column.
void require_whole(const Matching& matching) {
  const auto rows = static_cast<LocalIndex>(matching.column_of_row.size());
  if (matching.size == rows) return;
  const auto left = std::find(matching.column_of_row.begin(), matching.column_of_row.end(), -1);
  throw Error(ErrorCode::unsuitable_matrix,
              fmt::format("the matrix is structurally singular: whatever the values of its "
                          "entries, its rank is {} at most, of {}; {}, is one that depends on "
                          "others",
                          counted(matching.size, "row"), rows,
                          row_text(left - matching.column_of_row.begin())));
}

/// Collective. All rows go to rank 0, which finds the matching, and what each rank is to know of
/// its rows comes back.
RowOrder by_matching(const Matrix& A) {
  require_finite_rows(A, "permute_rows matching");
  require_room(A);
  const mpi::Comm& comm = A.comm();
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm.size()) + 1, A.rows().last());
  starts.front() = A.rows().first();
  const comm::RowMove gather(A.rows(), comm::Layout(A.shared_comm(), std::move(starts)));
  const Matrix gathered = matrix::redistribute(A, gather);
  std::vector<GlobalIndex> columns;  // of all rows, and their exponents and those of the columns
  mpi::collectively(comm, [&] {
    if (!comm.is_root()) return;
    const Matching matching = match_rows(gathered.on());
    require_whole(matching);
    columns.resize(3 * matching.column_of_row.size());
    for (std::size_t i = 0; i < matching.column_of_row.size(); ++i) {
      columns[3 * i] = A.rows().first() + matching.column_of_row[i];
      columns[3 * i + 1] = matching.row_exponents[i];
      columns[3 * i + 2] = matching.column_exponents[i];
    }
  });
  std::vector<GlobalIndex> own;
  mpi::collectively(comm, [&] { own.resize(3 * static_cast<std::size_t>(A.n_local())); });
  gather.backward<GlobalIndex>(columns, own, 3);
  return mpi::collectively(comm, [&] {
    RowOrder order;
    for (std::size_t i = 0; i < own.size(); i += 3) {
      order.numbers.push_back(own[i]);
      order.factors.rows.push_back(std::ldexp(1.0, static_cast<int>(own[i + 1])));
      order.factors.columns.push_back(std::ldexp(1.0, static_cast<int>(own[i + 2])));
    }
    return order;
  });
}

const RowPermutationMethod& no_permutation() {
  static const RowPermutationMethod method = {{"none", "as they are", ""}, nullptr};
  return method;
}

const RowPermutationMethod& matching_permutation() {
  static const RowPermutationMethod method = {
      {"matching",
       "the order with the largest product on the diagonal, found on one rank, and the scaling "
       "with it",
       "Duff, Koster 2001"},
      by_matching};
  return method;
}

}  // namespace

Family<RowPermutationMethod>& RowPermutationMethod::family() {
  static Family<RowPermutationMethod> methods("permute_rows",
                                              {&no_permutation(), &matching_permutation()},
                                              {"auto",
                                               "matching where the preconditioner needs a diagonal "
                                               "(ilu, direct), and rows of a nonsymmetric matrix "
                                               "have none"});
  return methods;
}

}  // namespace nodewise::solver
