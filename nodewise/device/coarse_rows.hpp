// Coarse matrices as a cycle can use them, made so on a device, and what is divided by in their
// relaxations.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// Local. Gives rows of zeros that have a diagonal place a one there: what
/// amg::aggregate::with_unit_rows() does with points of one row.
template <class Space>
void set_unit_rows(Queue<Space>& queue, CsrMatrix<double, Space>& C);

/// Local. moduli[i] = |a_ii|, and roots[i] = sqrt |a_ii|.
template <class Space>
void diagonal_moduli(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* moduli);
template <class Space>
void diagonal_roots(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* roots);

/// Local. sizes[i] = sum_k r_ik^2 |a_kk|: amg::summand_sizes() of C = R A R^T. `moduli` are
/// diagonal_moduli() for the columns of R.
template <class Space>
void summand_sizes(Queue<Space>& queue, const CsrMatrix<double, Space>& R, const double* moduli,
                   double* sizes);

/// Local. Puts zero in place of round-off in rows of C = R A R^T without an entry off the diagonal:
/// what is up to `margin` of the row's size. amg::without_round_off() does so with points of one
/// row. `moduli` as above.
template <class Space>
void drop_round_off(Queue<Space>& queue, const CsrMatrix<double, Space>& R, const double* moduli,
                    double margin, CsrMatrix<double, Space>& C);

/// Local. inverse[i] = weight / a_ii, 0 for 0; the values of A are `factor` times those that it
/// has, rounded to T.
template <class T, class Space>
void invert_diagonal(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double weight,
                     double factor, T* inverse);

/// Local. Likewise 1 / +-(sum of the moduli of the row), |a_ij| being weighed as
/// amg::relax::CouplingSums has it: by sqrt |a_ii / a_jj|, unless that exceeds `definite_margin`
/// times |a_ii|. `roots` are diagonal_roots() for the columns of A.
template <class T, class Space>
void invert_with_couplings(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                           const double* roots, double factor, double definite_margin, T* inverse);

}  // namespace nodewise::device
