// Columns of matrices whose rows are on several ranks: a rank's own first, then its ghosts.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// Which columns of all ranks those of a matrix are: the first n_owned follow `first`, the others
/// are listed. An array of the space.
struct ColumnNames {
  GlobalIndex first = 0;
  LocalIndex n_owned = 0;
  const GlobalIndex* ghosts = nullptr;
};

/// Local. The names of n columns.
template <class Space>
void name_columns(Queue<Space>& queue, Offset n, const LocalIndex* cols, const ColumnNames& of,
                  GlobalIndex* names);

/// Local. The other way: this rank's numbers of n names, those of ghosts behind the n_owned that
/// follow `first`. `ghosts` are n_ghosts, ascend, and have all names of others; what is negative
/// stays.
template <class Space>
void local_numbers(Queue<Space>& queue, LocalIndex n, const GlobalIndex* names, GlobalIndex first,
                   LocalIndex n_owned, const GlobalIndex* ghosts, LocalIndex n_ghosts,
                   LocalIndex* local);

/// Local. Ghost g gets the number numbers[g] among the ghosts; `to` may be `cols`.
template <class Space>
void renumber_ghosts(Queue<Space>& queue, Offset n, LocalIndex n_owned, const LocalIndex* numbers,
                     const LocalIndex* cols, LocalIndex* to);

/// Local. counts[g] += how often ghost g is among n columns.
template <class Space>
void count_ghosts(Queue<Space>& queue, Offset n, LocalIndex n_owned, const LocalIndex* cols,
                  LocalIndex* counts);

/// Local. to[k] = from[places[k]].
template <class Space>
void take(Queue<Space>& queue, Offset n, const Offset* places, const double* from, double* to);

/// Local. Rows of a matrix on the left and of one on the right, whose columns follow those of the
/// left. Only the first n_rows of the left count; both must have so many.
template <class Space>
CsrMatrix<double, Space> beside(Primitives<Space>& primitives, LocalIndex n_rows,
                                const CsrMatrix<double, Space>& left,
                                const CsrMatrix<double, Space>& right);

}  // namespace nodewise::device
