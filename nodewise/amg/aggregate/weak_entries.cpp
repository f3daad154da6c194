#include <cmath>

#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/kernels/row_parts.hpp"

namespace nodewise::amg::aggregate {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// A filtered diagonal below this part of the old one would make the smoothing leap.
constexpr double least_diagonal = 0.1;

/// The strong entries of one part of A, found along its graph's: both ascend in a row.
template <class T>
class Part {
 public:
  Part(const Csr<T>& A, const Csr<T>& graph, const Array<std::uint8_t>& marks,
       std::vector<LocalIndex> point_of)
      : A_(A), graph_(graph), marks_(marks), point_of_(std::move(point_of)) {}

  /// Calls f(column, value, is_strong) for the entries of row i, which is of point `own`.
  template <class F>
  void for_each(LocalIndex i, LocalIndex own, F&& f) const {
    auto at = static_cast<std::size_t>(graph_.begin(own));
    for (auto p = static_cast<std::size_t>(A_.begin(i)); p < static_cast<std::size_t>(A_.end(i));
         ++p) {
      const LocalIndex point = point_of_[static_cast<std::size_t>(A_.cols[p])];
      while (graph_.cols[at] < point) ++at;  // the graph has every block of A
      f(A_.cols[p], A_.vals[p], marks_[at] != 0);
    }
  }

 private:
  const Csr<T>& A_;
  const Csr<T>& graph_;
  const Array<std::uint8_t>& marks_;
  std::vector<LocalIndex> point_of_;  // of each column
};

template <class T>
class Filter {
 public:
  Filter(const DistMatrix<T>& A, const DistMatrix<T>& graph, const Strength& strength, int unknowns)
      : A_(A),
        unknowns_(unknowns),
        on_(A.on(), graph.on(), strength.on, own_points()),
        off_(A.off(), graph.off(), strength.off, ghost_points(graph)) {}

  matrix::RowBlock<T> run() const {
    return {kernels::rows_in_parts<T>(
                A_.on().row_ptr,
                [&](LocalIndex begin, LocalIndex end) { return filtered(begin, end); }),
            A_.n_local(),
            {A_.ghosts().begin(), A_.ghosts().end()}};
  }

 private:
  std::vector<LocalIndex> own_points() const {
    std::vector<LocalIndex> points(static_cast<std::size_t>(A_.n_local()));
    for (std::size_t j = 0; j < points.size(); ++j) {
      points[j] = static_cast<LocalIndex>(j) / unknowns_;
    }
    return points;
  }
  /// The ghost of the graph that each ghost of A belongs to; both ascend.
  std::vector<LocalIndex> ghost_points(const DistMatrix<T>& graph) const {
    std::vector<LocalIndex> points;
    LocalIndex g = 0;
    for (const GlobalIndex ghost : A_.ghosts()) {
      const GlobalIndex point = (ghost - A_.cols().first()) / unknowns_ + graph.cols().first();
      while (graph.ghosts()[static_cast<std::size_t>(g)] < point) ++g;
      points.push_back(g);
    }
    return points;
  }

  Csr<T> filtered(LocalIndex begin, LocalIndex end) const {
    Csr<T> rows(end - begin, A_.n_local() + A_.n_ghosts());
    std::vector<T> lumped(static_cast<std::size_t>(unknowns_));
    for (LocalIndex i = begin; i < end; ++i) {
      append_row(i, rows, lumped);
      rows.row_ptr[static_cast<std::size_t>(i - begin) + 1] = static_cast<Offset>(rows.cols.size());
    }
    return rows;
  }

  /// `lumped` is room for what the row drops, by unknown.
  void append_row(LocalIndex i, Csr<T>& rows, std::span<T> lumped) const {
    const LocalIndex own = i / unknowns_;
    const std::size_t begin = rows.cols.size();
    std::fill(lumped.begin(), lumped.end(), T{});
    T diagonal{};
    const auto visit = [&](LocalIndex shift, bool keep_all) {
      return [&, shift, keep_all](LocalIndex j, T value, bool strong) {
        const bool inside = shift == 0 && j / unknowns_ == own;
        if (inside && j == i) diagonal = value;
        if (strong || inside || keep_all) {
          rows.cols.push_back(j + shift);
          rows.vals.push_back(value);
        } else {
          const GlobalIndex column = shift == 0 ? j : A_.ghosts()[static_cast<std::size_t>(j)];
          const GlobalIndex first = shift == 0 ? 0 : A_.cols().first();
          lumped[static_cast<std::size_t>((column - first) % unknowns_)] += value;
        }
      };
    };
    on_.for_each(i, own, visit(0, false));
    off_.for_each(i, own, visit(A_.n_local(), false));
    const T left = diagonal + lumped[static_cast<std::size_t>(i % unknowns_)];
    if (left * diagonal < static_cast<T>(least_diagonal) * diagonal * diagonal) {
      rows.cols.resize(begin);
      rows.vals.resize(begin);
      on_.for_each(i, own, visit(0, true));
      off_.for_each(i, own, visit(A_.n_local(), true));
      return;
    }
    for (LocalIndex c = 0; c < unknowns_; ++c) {
      if (lumped[static_cast<std::size_t>(c)] == T{}) continue;
      rows.cols.push_back(own * unknowns_ + c);  // added to the entry that is there, if one is
      rows.vals.push_back(lumped[static_cast<std::size_t>(c)]);
    }
  }

  const DistMatrix<T>& A_;
  LocalIndex unknowns_;
  Part<T> on_, off_;
};

}  // namespace

template <class T>
DistMatrix<T> without_weak_entries(const DistMatrix<T>& A, const DistMatrix<T>& graph,
                                   const Strength& strength, int unknowns) {
  return {A.rows(), A.cols(), [&] {
            return matrix::split_rows(A.cols(), Filter<T>(A, graph, strength, unknowns).run());
          }};
}

template DistMatrix<float> without_weak_entries(const DistMatrix<float>&, const DistMatrix<float>&,
                                                const Strength&, int);
template DistMatrix<double> without_weak_entries(const DistMatrix<double>&,
                                                 const DistMatrix<double>&, const Strength&, int);

}  // namespace nodewise::amg::aggregate
