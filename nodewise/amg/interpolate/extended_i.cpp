#include "nodewise/amg/interpolate/extended_i.hpp"

#include <algorithm>

#include "nodewise/amg/interpolate/truncate.hpp"
#include "nodewise/matrix/ghost_numbering.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::interpolate {

namespace {

using coarsen::coarse;
using coarsen::Splitting;
using comm::Layout;
using comm::Records;
using kernels::Csr;
using matrix::DistMatrix;
using matrix::GhostNumbering;

constexpr GlobalIndex not_coarse = -1;

/// What a fine point k that others interpolate through has to tell: its entries of the sign
/// opposite to its diagonal (the a-bar of the paper), at coarse points and, for points of other
/// ranks, at fine ones.
enum Kind : GlobalIndex { fine_column = 0, weak_coarse = 1, strong_coarse = 2 };

/// A Link travels between ranks: 4 * column + kind, the column global and, for coarse points,
/// numbered on the coarse grid.
template <class T>
struct Link {
  GlobalIndex code;
  T value;
};

/// The coarse entries of the fine points, in compressed rows: local points first, then ghosts.
template <class T>
struct CoarseLinks {
  std::vector<Offset> begin = {0};
  std::vector<LocalIndex> cols;  // coarse numbers
  std::vector<T> vals;           // 0 where the sign is that of the diagonal
  std::vector<std::uint8_t> strong;

  void push(LocalIndex col, T value, bool is_strong) {
    cols.push_back(col);
    vals.push_back(value);
    strong.push_back(is_strong ? 1 : 0);
  }
  void end_row() { begin.push_back(static_cast<Offset>(cols.size())); }
  void reserve(std::size_t n_rows, std::size_t n_links) {
    begin.reserve(n_rows + 1);
    cols.reserve(n_links);
    vals.reserve(n_links);
    strong.reserve(n_links);
  }
};

/// Entries of ghost points at fine points of this rank.
template <class T>
struct FineLinks {
  std::vector<Offset> begin = {0};
  std::vector<LocalIndex> cols;
  std::vector<T> vals;
};

template <class T>
class ExtendedI {
 public:
  ExtendedI(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
            const Layout& coarse_points)
      : A_(A),
        strength_(strength),
        splitting_(splitting),
        coarse_layout_(coarse_points),
        columns_(coarse_layout_) {}

  DistMatrix<T> build(int max_entries, double truncation) {
    share_coarse_points();
    const auto received = A_.exchange().forward_records([&] {
      number_ghosts();
      diagonal_ = matrix::diagonal(A_);
      return outgoing_links();
    });
    return {A_.rows(), coarse_layout_, [&] {
              collect_local_links();
              collect_ghost_links(received);
              return matrix::split_rows(coarse_layout_, rows(max_entries, truncation));
            }};
  }

 private:
  bool is_coarse(LocalIndex i) const { return splitting_[static_cast<std::size_t>(i)] == coarse; }

  /// Numbers of coarse points: local ones by counting, ghosts by asking their owners.
  void share_coarse_points() {
    std::vector<GlobalIndex> global(splitting_.size(), not_coarse);
    coarse_number_.assign(splitting_.size(), -1);
    LocalIndex next = 0;
    for (std::size_t i = 0; i < splitting_.size(); ++i) {
      if (splitting_[i] != coarse) continue;
      coarse_number_[i] = next;
      global[i] = coarse_layout_.to_global(next++);
    }
    ghost_coarse_.resize(static_cast<std::size_t>(A_.n_ghosts()));
    A_.exchange().forward(std::span<const GlobalIndex>(global),
                          std::span<GlobalIndex>(ghost_coarse_));
  }

  void number_ghosts() {
    ghost_coarse_number_.assign(ghost_coarse_.size(), -1);
    for (std::size_t g = 0; g < ghost_coarse_.size(); ++g) {
      if (ghost_coarse_[g] != not_coarse)
        ghost_coarse_number_[g] = columns_.number(ghost_coarse_[g]);
    }
  }

  /// The value of an entry of row i if its sign is opposite to the diagonal's, else 0.
  T opposite(LocalIndex i, T value) const {
    return (diagonal_[static_cast<std::size_t>(i)] < 0) == (value < 0) ? T{} : value;
  }

  Records<Link<T>> outgoing_links() const {
    Records<Link<T>> links;
    links.offsets.assign(splitting_.size() + 1, 0);
    for (const LocalIndex i : A_.exchange().plan().exported_entries()) {
      const std::size_t before = links.data.size();
      if (!is_coarse(i)) append_links(i, links.data);
      links.offsets[static_cast<std::size_t>(i) + 1] =
          static_cast<Offset>(links.data.size() - before);
    }
    for (std::size_t i = 1; i < links.offsets.size(); ++i) links.offsets[i] += links.offsets[i - 1];
    return links;
  }

  void append_links(LocalIndex i, std::vector<Link<T>>& links) const {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = A_.on().cols[p];
      const T value = opposite(i, A_.on().vals[p]);
      if (!is_coarse(j) || (value == T{} && !strength_.on[p])) continue;
      const GlobalIndex c = coarse_layout_.to_global(coarse_number_[static_cast<std::size_t>(j)]);
      links.push_back({4 * c + (strength_.on[p] ? strong_coarse : weak_coarse), value});
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const auto g = static_cast<std::size_t>(A_.off().cols[p]);
      const T value = opposite(i, A_.off().vals[p]);
      const GlobalIndex c = ghost_coarse_[g];
      if (c == not_coarse) {
        if (value != T{}) links.push_back({4 * A_.ghosts()[g] + fine_column, value});
      } else if (value != T{} || strength_.off[p]) {
        links.push_back({4 * c + (strength_.off[p] ? strong_coarse : weak_coarse), value});
      }
    }
  }

  void collect_local_links() {
    // Few fine points have more coarse neighbours; memory that is not used is not touched.
    const auto n = static_cast<std::size_t>(A_.n_local());
    links_.reserve(n + ghost_coarse_.size(),
                   std::min(static_cast<std::size_t>(A_.nnz_local()), 6 * n));
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      if (!is_coarse(i)) {
        for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
          const auto p = static_cast<std::size_t>(k);
          const LocalIndex c = coarse_number_[static_cast<std::size_t>(A_.on().cols[p])];
          if (c >= 0) push_link(c, opposite(i, A_.on().vals[p]), strength_.on[p] != 0);
        }
        for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
          const auto p = static_cast<std::size_t>(k);
          const LocalIndex c = ghost_coarse_number_[static_cast<std::size_t>(A_.off().cols[p])];
          if (c >= 0) push_link(c, opposite(i, A_.off().vals[p]), strength_.off[p] != 0);
        }
      }
      links_.end_row();
    }
  }

  void push_link(LocalIndex c, T value, bool strong) {
    if (value != T{} || strong) links_.push(c, value, strong);
  }

  void collect_ghost_links(const Records<Link<T>>& received) {
    for (std::size_t g = 0; g < received.size(); ++g) {
      for (const Link<T>& link : received[g]) {
        const GlobalIndex column = link.code / 4;
        if (link.code % 4 != fine_column) {
          links_.push(columns_.number(column), link.value, link.code % 4 == strong_coarse);
        } else if (A_.rows().owns(column)) {
          fine_links_.cols.push_back(A_.rows().to_local(column));
          fine_links_.vals.push_back(link.value);
        }
      }
      links_.end_row();
      fine_links_.begin.push_back(static_cast<Offset>(fine_links_.cols.size()));
    }
  }

  matrix::RowBlock<T> rows(int max_entries, double truncation) {
    const LocalIndex n = A_.n_local();
    block_.rows = Csr<T>(n, columns_.size());
    block_.n_owned_cols = coarse_layout_.n_local();
    marker_.assign(static_cast<std::size_t>(columns_.size()), -1);
    cursor_.assign(static_cast<std::size_t>(n), 0);
    Csr<T>& P = block_.rows;
    const auto per_row = static_cast<std::size_t>(max_entries > 0 ? max_entries : 8);
    P.cols.reserve(static_cast<std::size_t>(n) * per_row + 64);
    P.vals.reserve(static_cast<std::size_t>(n) * per_row + 64);
    for (LocalIndex i = 0; i < n; ++i) {
      if (is_coarse(i)) {
        P.cols.push_back(coarse_number_[static_cast<std::size_t>(i)]);
        P.vals.push_back(T{1});
      } else {
        find_interpolatory_points(i);
        weigh(i);
        const Offset kept =
            truncate_row(row_cols_.data(), row_vals_.data(), static_cast<Offset>(row_cols_.size()),
                         max_entries, truncation);
        P.cols.append(row_cols_.begin(), row_cols_.begin() + kept);
        P.vals.insert(P.vals.end(), row_vals_.begin(), row_vals_.begin() + kept);
        begin_next_row();
      }
      P.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(P.cols.size());
    }
    block_.ghosts = columns_.ghosts();
    return std::move(block_);
  }

  /// Where coarse number c stands in the current row; negative where it does not.
  Offset place(LocalIndex c) const { return marker_[static_cast<std::size_t>(c)] - first_mark_; }

  void add_point(LocalIndex c) {
    if (place(c) >= 0) return;
    marker_[static_cast<std::size_t>(c)] = first_mark_ + static_cast<Offset>(row_cols_.size());
    row_cols_.push_back(c);
    row_vals_.push_back(T{});
  }

  /// Marks of earlier rows stay below first_mark_, so that none needs to be erased.
  void begin_next_row() {
    first_mark_ += static_cast<Offset>(row_cols_.size());
    row_cols_.clear();
    row_vals_.clear();
  }

  void add_points_of(LocalIndex k) {
    const auto u = static_cast<std::size_t>(k);
    for (auto p = static_cast<std::size_t>(links_.begin[u]);
         p < static_cast<std::size_t>(links_.begin[u + 1]); ++p) {
      if (links_.strong[p]) add_point(links_.cols[p]);
    }
  }

  /// The set C-hat of the paper.
  void find_interpolatory_points(LocalIndex i) {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (!strength_.on[p]) continue;
      const LocalIndex j = A_.on().cols[p];
      const LocalIndex c = coarse_number_[static_cast<std::size_t>(j)];
      if (c >= 0) {
        add_point(c);
      } else {
        add_points_of(j);
      }
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (!strength_.off[p]) continue;
      const LocalIndex g = A_.off().cols[p];
      const LocalIndex c = ghost_coarse_number_[static_cast<std::size_t>(g)];
      if (c >= 0) {
        add_point(c);
      } else {
        add_points_of(A_.n_local() + g);
      }
    }
  }

  /// The entry of local row k at column i, if its sign is opposite to the diagonal's. Rows are
  /// visited in ascending i, so a cursor that only advances finds it without searching.
  T entry_back(LocalIndex k, LocalIndex i) {
    const LocalIndex* cols = A_.on().cols.data() + A_.on().begin(k);
    const auto length = static_cast<LocalIndex>(A_.on().end(k) - A_.on().begin(k));
    LocalIndex& at = cursor_[static_cast<std::size_t>(k)];
    while (at < length && cols[at] < i) ++at;
    if (at == length || cols[at] != i) return T{};
    return opposite(k, A_.on().vals[static_cast<std::size_t>(A_.on().begin(k) + at)]);
  }

  T entry_back_from_ghost(LocalIndex g, LocalIndex i) const {
    const auto u = static_cast<std::size_t>(g);
    for (auto p = static_cast<std::size_t>(fine_links_.begin[u]);
         p < static_cast<std::size_t>(fine_links_.begin[u + 1]); ++p) {
      if (fine_links_.cols[p] == i) return fine_links_.vals[p];
    }
    return T{};
  }

  /// Shares the coupling a_ik to the fine point k out among the points of C-hat that k is coupled
  /// to, and i itself. Returns what goes to the diagonal.
  T distribute(LocalIndex k, T a_ik, T back) {
    const auto u = static_cast<std::size_t>(k);
    const auto begin = static_cast<std::size_t>(links_.begin[u]);
    const auto end = static_cast<std::size_t>(links_.begin[u + 1]);
    T sum = back;
    for (std::size_t p = begin; p < end; ++p) {
      if (place(links_.cols[p]) >= 0) sum += links_.vals[p];
    }
    if (sum == T{}) return a_ik;
    const T factor = a_ik / sum;
    for (std::size_t p = begin; p < end; ++p) {
      const Offset at = place(links_.cols[p]);
      if (at >= 0) row_vals_[static_cast<std::size_t>(at)] += factor * links_.vals[p];
    }
    return factor * back;
  }

  /// Eq. 4.10 and 4.11; couplings that are neither interpolatory nor to strong fine points are
  /// lumped into the diagonal.
  void weigh(LocalIndex i) {
    T diagonal = diagonal_[static_cast<std::size_t>(i)];
    const auto in_set = [&](LocalIndex c) { return c >= 0 && place(c) >= 0; };
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex j = A_.on().cols[p];
      if (j == i) continue;
      const T a = A_.on().vals[p];
      const LocalIndex c = coarse_number_[static_cast<std::size_t>(j)];
      if (in_set(c)) {
        row_vals_[static_cast<std::size_t>(place(c))] += a;
      } else {
        diagonal += c < 0 && strength_.on[p] ? distribute(j, a, entry_back(j, i)) : a;
      }
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      const LocalIndex g = A_.off().cols[p];
      const T a = A_.off().vals[p];
      const LocalIndex c = ghost_coarse_number_[static_cast<std::size_t>(g)];
      if (in_set(c)) {
        row_vals_[static_cast<std::size_t>(place(c))] += a;
      } else {
        diagonal += c < 0 && strength_.off[p]
                        ? distribute(A_.n_local() + g, a, entry_back_from_ghost(g, i))
                        : a;
      }
    }
    const T scale = diagonal == T{} ? T{} : T{-1} / diagonal;
    for (T& weight : row_vals_) weight *= scale;
  }

  const DistMatrix<T>& A_;
  const Strength& strength_;
  const Splitting& splitting_;
  Layout coarse_layout_;
  GhostNumbering columns_;                       // of the coarse grid
  std::vector<LocalIndex> coarse_number_;        // of local points, -1 for fine ones
  std::vector<GlobalIndex> ghost_coarse_;        // of ghosts, global
  std::vector<LocalIndex> ghost_coarse_number_;  // of ghosts, as numbered by columns_
  std::vector<T> diagonal_;
  CoarseLinks<T> links_;
  FineLinks<T> fine_links_;

  // The interpolation under construction.
  matrix::RowBlock<T> block_;
  std::vector<LocalIndex> row_cols_;  // the current row, before truncation
  std::vector<T> row_vals_;
  std::vector<Offset> marker_;  // see place()
  Offset first_mark_ = 0;
  std::vector<LocalIndex> cursor_;  // see entry_back
};

}  // namespace

template <class T>
DistMatrix<T> extended_i(const DistMatrix<T>& A, const Strength& strength,
                         const Splitting& splitting, const Layout& coarse_points, int max_entries,
                         double truncation) {
  return ExtendedI<T>(A, strength, splitting, coarse_points).build(max_entries, truncation);
}

template DistMatrix<float> extended_i(const DistMatrix<float>&, const Strength&, const Splitting&,
                                      const Layout&, int, double);
template DistMatrix<double> extended_i(const DistMatrix<double>&, const Strength&, const Splitting&,
                                       const Layout&, int, double);

}  // namespace nodewise::amg::interpolate
