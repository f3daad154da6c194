#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"
#include "nodewise/amg/interpolate/strong_fine.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

namespace {

/// What a row that takes in the equation of point k has to know of it besides its coarse entries.
template <class T>
struct Equation {
  T diagonal;
  T others;  ///< sum of the entries off the diagonal
};

/// Collective. Of all points, ghosts behind this rank's own.
template <class T>
std::vector<Equation<T>> equations(const DistMatrix<T>& A) {
  const auto n = static_cast<std::size_t>(A.n_local());
  std::vector<Equation<T>> all;
  mpi::collectively(A.comm(), [&] {
    all.assign(n + static_cast<std::size_t>(A.n_ghosts()), {});
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      Equation<T>& equation = all[static_cast<std::size_t>(i)];
      for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        (A.on().cols[p] == i ? equation.diagonal : equation.others) += A.on().vals[p];
      }
      for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
        equation.others += A.off().vals[static_cast<std::size_t>(k)];
      }
    }
  });
  const std::span whole(all);
  A.exchange().forward(std::span<const Equation<T>>(whole.first(n)), whole.subspan(n));
  return all;
}

/// The row of fine point i: its weights are the negated entries of its equation after those of its
/// strong fine neighbours are put in.
template <class T>
class StandardRow {
 public:
  using EntriesBack = typename Neighbourhood<T>::EntriesBack;

  StandardRow(const Neighbourhood<T>& near, const std::vector<Equation<T>>& equations,
              EntriesBack& back, RowBuilder<T>& row, LocalIndex i)
      : near_(near),
        equations_(equations),
        back_(back),
        row_(row),
        i_(i),
        diagonal_(near.diagonal(i)) {}

  void weigh() {
    add_near_and_far_points(near_, row_, i_);
    near_.for_each_entry(i_, [&](LocalIndex k, LocalIndex c, T a, bool strong) {
      if (k == i_ || c == coarsen::isolated_point) return;
      const T pivot = equations_[static_cast<std::size_t>(k)].diagonal;
      if (c < 0 && strong && pivot != T{}) return put_in(k, a, pivot);
      others_ += a;
      if (c >= 0) add(c, a);
    });
    T sum{}, size{};
    for (const LocalIndex c : row_.points()) {
      sum += row_.weight(c);
      size += std::abs(row_.weight(c));
    }
    const T scale = cancel_out(sum, size) ? T{1} : others_ / sum;
    row_.scale(diagonal_ == T{} ? T{} : -scale / diagonal_);
  }

 private:
  void add(LocalIndex c, T value) {
    if (row_.has(c)) row_.weight(c) += value;
  }

  /// Takes off so much of the equation of k, whose diagonal is `pivot`, that a_ik goes.
  void put_in(LocalIndex k, T a_ik, T pivot) {
    const T factor = a_ik / pivot;
    const T back = back_(k, i_, a_ik);
    diagonal_ -= factor * back;
    others_ -= factor * (equations_[static_cast<std::size_t>(k)].others - back);
    const CoarseLinks<T>& links = near_.links();
    const auto cols = links.cols(links.of(k));
    const T* const vals = links.vals(links.of(k));
    for (std::size_t p = 0; p < cols.size(); ++p) add(cols[p], -factor * vals[p]);
  }

  const Neighbourhood<T>& near_;
  const std::vector<Equation<T>>& equations_;
  EntriesBack& back_;
  RowBuilder<T>& row_;
  LocalIndex i_;
  T diagonal_;
  T others_{};  // the sum of the entries off the diagonal
};

}  // namespace

template <class T>
DistMatrix<T> standard(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
                       const Layout& coarse_points, const Rules& rules, bool symmetric) {
  const std::vector<Equation<T>> all = equations(A);
  const auto formula = [&](const Neighbourhood<T>& near) {
    return [&, back = typename Neighbourhood<T>::EntriesBack(near, symmetric)](
               RowBuilder<T>& row, LocalIndex i) mutable {
      StandardRow<T>(near, all, back, row, i).weigh();
    };
  };
  return by_rows(A, strength, splitting, coarse_points, rules, Signs::all, formula);
}

template DistMatrix<float> standard(const DistMatrix<float>&, const Strength&, const Splitting&,
                                    const Layout&, const Rules&, bool);
template DistMatrix<double> standard(const DistMatrix<double>&, const Strength&, const Splitting&,
                                     const Layout&, const Rules&, bool);

}  // namespace nodewise::amg::interpolate

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_standard(const InterpolationCall<T>& call) {
  return interpolate::standard(call.A, call.strength, call.splitting, call.coarse_points,
                               call.rules, call.symmetric);
}

void exchanges_of_standard(const matrix::DistMatrix<double>& A, const Strength& strength,
                           std::span<const LocalIndex> coarse_rows,
                           std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges) {
  exchanges.forward(2 * sizeof(double));  // diagonals, and sums of the other entries
  interpolate::link_exchanges(interpolate::Signs::all, A, strength, coarse_rows, ranks, exchanges);
}

}  // namespace

const InterpolationMethod& standard_interpolation() {
  static const InterpolationMethod method = {
      {"standard", "the equations of strong fine neighbours are put into that of the point",
       "Stueben 1999, section 7.2.1"},
      false,
      exchanges_of_standard,
      interpolate_by_standard<double>,
      interpolate_by_standard<float>,
      8};
  return method;
}

}  // namespace nodewise::amg
