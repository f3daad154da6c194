// What a smoother says of itself. methods.cpp lists them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/sweep_order.hpp"
#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/model/code_balance.hpp"

namespace nodewise::amg::relax {

struct SmootherMethod;

/// Couplings whose moduli an l1 form adds to the diagonal: none; those between rows of different
/// ranks or threads; all.
enum class L1Terms { none, between_parts, all };

/// How a smoother uses the blocks of a matrix whose points have several unknowns.
enum class BlockUse {
  never,       ///< goes by rows
  where_full,  ///< goes by rows, but reads the matrix in blocks where these are full
  always       ///< solves for all unknowns of a point at once
};

/// How often a sweep exchanges, also the first one from zero, and reads the matrix.
struct SweepExchanges {
  double exchanges = 1;
  double exchanges_from_zero = 0;
  double passes = 1;
};

/// A sweep whose work is asked for: forward, through a matrix whose values have so many bytes.
struct SweepQuery {
  const Choice<SmootherMethod>& smoother;
  const matrix::DistMatrix<double>& A;
  std::size_t value_bytes = sizeof(double);
  bool from_zero = false;
  bool with_residual = false;  ///< whether the residual that it leaves is made as well
};
/// What it moves and computes on this rank.
struct SweepWork {
  model::KernelTraffic traffic;
  std::optional<double> passes;  ///< over the matrix's entries; none where others are read, too
};

template <class T>
using MakeRelaxation = std::unique_ptr<const Relaxation<T>> (*)(
    const matrix::DistMatrix<T>& A, const Choice<SmootherMethod>& smoother,
    const MatrixFacts& facts);

/// How a sweep is made without a Relaxation of the host: DiagonalSteps whose `inverse` is weight
/// over the diagonal, or one over it with the CouplingSums of its row, on the diagonal's side of
/// zero.
struct DiagonalForm {
  bool adds_couplings;
  double weight;
  std::vector<DiagonalSteps<double>::Step> steps;
};

/// What is true of a smoother, and its functions.
struct SmootherFacts {
  Required<L1Terms> l1_terms;
  /// Whether M + M^T - A is positive definite for every symmetric A with a positive diagonal, M
  /// being the matrix of a sweep forward. A cycle is then so, too, whatever sparser matrices it
  /// relaxes with (docs/methods/sparsification.md).
  Required<bool> is_safe_where_indefinite;
  Required<BlockUse> blocks;
  /// Whether it is told the spectral radius of D^-1 A, D being the diagonal.
  Required<bool> needs_spectral_radius;
  /// Whether ranks and threads sweep with the values that the others had before.
  Required<bool> is_hybrid;
  /// The smoother that converges for every symmetric positive definite matrix where this one need
  /// not; empty where this one does, or there is none like it.
  Required<std::string> safe_form;
  /// Where its options keep the order of its sweeps; null: both directions are the same.
  Required<SweepOrder* (*)(Choice<SmootherMethod>& smoother)> order;
  /// With an order that is not automatic.
  Required<SweepExchanges (*)(const Choice<SmootherMethod>& smoother)> exchanges;
  Required<Answer<SweepWork> (*)(const SweepQuery& query)> work;
  Required<MakeRelaxation<double>> in_double;
  Required<MakeRelaxation<float>> in_float;
  /// Whether the order may go through coarse points and fine ones.
  bool knows_coarse_points = false;
  /// Whether a backward sweep through rows makes the product with what it has made for less.
  bool can_save_product = false;
  /// Whether it is made for real eigenvalues.
  bool needs_real_spectrum = false;
  /// Whether a sweep by rows has diagonal_steps(), which devices have a form of.
  bool runs_on_devices = false;
  /// Where it does, what they are for a matrix with this spectral radius of D^-1 A.
  DiagonalForm (*diagonal_form)(const Choice<SmootherMethod>& smoother,
                                double spectral_radius) = nullptr;
};

struct SmootherMethod : MethodInfo, SmootherFacts {
  /// Whether a sweep backward differs from one forward.
  bool is_directed() const { return *order != nullptr; }
  bool is_l1() const { return l1_terms != L1Terms::none; }

  /// Their list, which defines the order of help and reports.
  static Family<SmootherMethod>& family();
};

/// The order of a smoother's sweeps; `forward` where both directions are the same.
SweepOrder order_of(const Choice<SmootherMethod>& smoother);
/// Sets it; nothing where both directions are the same.
void set_order(Choice<SmootherMethod>& smoother, SweepOrder order);

/// Local, the same on every rank. Whether the relaxation has couplings to weigh by the sizes of
/// rows: hybrid sweeps have none on one thread of a single rank.
bool needs_row_scales(const SmootherMethod& smoother, const mpi::Comm& comm);

/// Local. Whether the last sweep after the coarse correction saves the product that may follow it.
template <class T>
bool can_save_product(const matrix::DistMatrix<T>& A, const Choice<SmootherMethod>& smoother) {
  return smoother->can_save_product && A.blocks() == nullptr && !goes_by_points(order_of(smoother));
}

/// Local. The relaxation that was chosen; of those on blocks the scalar one of the same name where
/// A has no blocks(), every row being a point then. A must outlive it.
template <class T>
std::unique_ptr<const Relaxation<T>> make_relaxation(const matrix::DistMatrix<T>& A,
                                                     const Choice<SmootherMethod>& smoother,
                                                     const MatrixFacts& facts = {});

}  // namespace nodewise::amg::relax
