#include "nodewise/solver/ilu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/amg/relax/incomplete_factors.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/overlapping_rows.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/partition/reordering_method.hpp"
#include "nodewise/solver/finite_check.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

namespace {

using MatrixPointer = PreconditionerCall::MatrixPointer;
using kernels::Csr;

/// Points in the order of reverse Cuthill and McKee; as they are in a build without it.
std::vector<LocalIndex> order_of(const Csr<double>& rows, int block) {
  const partition::PointGraph graph = partition::point_graph(rows, block);
  const auto& orders = partition::ReorderingMethod::family();
  try {
    return (*orders.find("rcm").order)(graph);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return (*orders.find("none").order)(graph);
  }
}

/// A power of two near one over the value, so that scaling is exact; 1 for zero.
double inverse_power(double value) {
  if (value == 0) return 1;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, -std::clamp(exponent, -1000, 1000));
}

/// Powers of two that bring the largest modulus of each row, then that of each column, near one:
/// the pivots and entries that are small can be told whatever the units.
struct RowAndColumnScales {
  std::vector<double> rows, cols;

  explicit RowAndColumnScales(const Csr<double>& A)
      : rows(static_cast<std::size_t>(A.n_rows), 0), cols(rows) {
    const auto for_each = [&](const auto& f) {
      for (LocalIndex i = 0; i < A.n_rows; ++i) {
        for (auto p = static_cast<std::size_t>(A.begin(i)); std::cmp_less(p, A.end(i)); ++p) {
          f(static_cast<std::size_t>(i), static_cast<std::size_t>(A.cols[p]), std::abs(A.vals[p]));
        }
      }
    };
    for_each([&](std::size_t i, std::size_t, double size) { rows[i] = std::max(rows[i], size); });
    std::transform(rows.begin(), rows.end(), rows.begin(), inverse_power);
    for_each([&](std::size_t i, std::size_t j, double size) {
      cols[j] = std::max(cols[j], rows[i] * size);
    });
    std::transform(cols.begin(), cols.end(), cols.begin(), inverse_power);
  }
};

/// The rows in their new order and scaled, as blocks.
kernels::Bsr<double> arranged(const Csr<double>& A, const RowAndColumnScales& scales,
                              const std::vector<LocalIndex>& old_rows, int block) {
  std::vector<LocalIndex> new_rows(old_rows.size());
  for (std::size_t k = 0; k < old_rows.size(); ++k) {
    new_rows[static_cast<std::size_t>(old_rows[k])] = static_cast<LocalIndex>(k);
  }
  Csr<double> rows;
  rows.n_rows = rows.n_cols = A.n_rows;
  Array<Offset> row_ptr = {0};
  Array<LocalIndex> cols;
  cols.reserve(A.cols.size());
  rows.vals.reserve(A.cols.size());
  for (const LocalIndex i : old_rows) {
    for (auto p = static_cast<std::size_t>(A.begin(i)); std::cmp_less(p, A.end(i)); ++p) {
      const auto j = static_cast<std::size_t>(A.cols[p]);
      cols.push_back(new_rows[j]);
      rows.vals.push_back(scales.rows[static_cast<std::size_t>(i)] * A.vals[p] * scales.cols[j]);
    }
    row_ptr.push_back(static_cast<Offset>(cols.size()));
  }
  rows.row_ptr = std::move(row_ptr);
  rows.cols = std::move(cols);
  kernels::sort_and_combine_rows(rows);
  if (block > 1) return kernels::to_bsr(rows, block);
  return {1, rows.n_rows, rows.n_cols, rows.row_ptr, rows.cols, std::move(rows.vals)};
}

/// The rows of points in this order.
std::vector<LocalIndex> rows_of_points(const std::vector<LocalIndex>& points, int block) {
  std::vector<LocalIndex> rows;
  rows.reserve(points.size() * static_cast<std::size_t>(block));
  for (const LocalIndex point : points) {
    for (int r = 0; r < block; ++r) rows.push_back(point * block + r);
  }
  return rows;
}

class OverlappingIlu final : public IncompleteLu {
 public:
  OverlappingIlu(const MatrixPointer& A, const IluOptions& options)
      : layout_(A->rows()),
        options_(options),
        block_(A->blocks() != nullptr ? A->blocks()->block() : 1) {
    require_finite_rows(*A, "preconditioner ilu");
    overlap_ = matrix::find_overlap(A, options.ilu_overlap, block_);
    is_carried_by_matrix_ = overlap_.carrier == A;
    factorise(*A);
  }

  void rebuild(const MatrixPointer& A) override {
    require_finite_rows(*A, "preconditioner ilu");
    if (is_carried_by_matrix_) overlap_.carrier = A;  // lest the old values be kept
    factorise(*A);
  }
  std::string text() const override;

  const comm::Layout& layout() const override { return layout_; }
  std::string broken_symmetry() const override;
  void apply(std::span<const double> x, std::span<double> y) const override {
    apply_block(x, y, 1, {});
  }
  void apply_block(std::span<const double> X, std::span<double> Y, int width,
                   std::span<double> work) const override;

 private:
  void factorise(const matrix::DistMatrix<double>& A);
  void factorise_here(const Csr<double>& rows);

  comm::Layout layout_;
  IluOptions options_;
  int block_;
  matrix::RowOverlap overlap_;
  bool is_carried_by_matrix_ = false;
  std::vector<LocalIndex> old_rows_;       // of each row in the order of the factors
  Array<double> row_scales_, col_scales_;  // in that order
  std::optional<amg::relax::IncompleteFactors> factors_;
  std::int64_t entries_ = 0, entries_of_A_ = 0, changed_ = 0;  // on all ranks
  mutable Array<double> vectors_;                              // in that order
  mutable int width_ = 0;                                      // there is room for
};

/// Collective.
void OverlappingIlu::factorise(const matrix::DistMatrix<double>& A) {
  const Csr<double> rows = matrix::rows_with_overlap(A, overlap_);
  std::array<std::int64_t, 2> sums{};
  const auto error = mpi::caught([&] {
    factorise_here(rows);
    sums = {factors_->n_entries(), factors_->n_changed()};
  });
  mpi::agree_on_sums(layout_.comm(), error, sums);
  entries_ = sums[0];
  changed_ = sums[1];
  entries_of_A_ = A.nnz_global();
}

void OverlappingIlu::factorise_here(const Csr<double>& rows) {
  if (width_ == 0) vectors_.resize(static_cast<std::size_t>(rows.n_rows));
  width_ = std::max(width_, 1);
  if (old_rows_.empty()) old_rows_ = rows_of_points(order_of(rows, block_), block_);
  const RowAndColumnScales scales(rows);
  row_scales_.resize(old_rows_.size());
  col_scales_.resize(old_rows_.size());
  for (std::size_t k = 0; k < old_rows_.size(); ++k) {
    row_scales_[k] = scales.rows[static_cast<std::size_t>(old_rows_[k])];
    col_scales_[k] = scales.cols[static_cast<std::size_t>(old_rows_[k])];
  }
  const kernels::Bsr<double> blocks = arranged(rows, scales, old_rows_, block_);
  if (factors_) {
    factors_->factorise(blocks);
  } else {
    factors_.emplace(
        blocks, amg::relax::FillRule{options_.ilu_levels, options_.ilu_drop, options_.ilu_fill});
  }
}

void OverlappingIlu::apply_block(std::span<const double> X, std::span<double> Y, int width,
                                 std::span<double> /*work*/) const {
  if (width > width_) {
    mpi::collectively(layout_.comm(),
                      [&] { vectors_.resize(old_rows_.size() * static_cast<std::size_t>(width)); });
    width_ = width;
  }
  const mpi::Scope scope(layout_.comm(), "incomplete_factors");
  std::span<const double> ghosts;
  if (overlap_.carrier) {
    comm::Exchange& exchange = overlap_.carrier->exchange();
    const std::span<double> buffer = exchange.ghost_buffer<double>(width);
    exchange.forward(X, buffer, width);
    ghosts = buffer;
  }
  const auto w = static_cast<std::size_t>(width);
  const std::span<double> V(vectors_.data(), old_rows_.size() * w);
  parallel::for_range(old_rows_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t at = static_cast<std::size_t>(old_rows_[k]) * w;
      const double* const from = at < X.size() ? X.data() + at : ghosts.data() + (at - X.size());
      for (std::size_t c = 0; c < w; ++c) V[k * w + c] = row_scales_[k] * from[c];
    }
  });
  factors_->solve(V, width);
  parallel::for_range(old_rows_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t at = static_cast<std::size_t>(old_rows_[k]) * w;
      if (at >= Y.size()) continue;
      for (std::size_t c = 0; c < w; ++c) Y[at + c] = col_scales_[k] * V[k * w + c];
    }
  });
}

/// What of the options makes a map that is not its own transpose; empty: nothing.
std::string asymmetry_of_ilu(const IluOptions& options) {
  if (options.ilu_drop > 0) return "ilu_drop";
  return options.ilu_overlap > 0 ? fmt::format("ilu_overlap {}", options.ilu_overlap) : "";
}

std::string OverlappingIlu::broken_symmetry() const {
  return asymmetry_of_ilu(options_);
}

std::string OverlappingIlu::text() const {
  const std::string name = options_.ilu_drop > 0 ? fmt::format("ILUT({:g})", options_.ilu_drop)
                                                 : fmt::format("ILU({})", options_.ilu_levels);
  std::string text = name + (block_ > 1 ? fmt::format(" in blocks of {}", block_) : "");
  text += " of the rows of each rank";
  if (overlap_.carrier) {
    text += fmt::format(" and {} around them", counted(options_.ilu_overlap, "layer"));
  }
  text += fmt::format(", with {:.1f} times the entries of the matrix",
                      static_cast<double>(entries_) /
                          static_cast<double>(std::max<std::int64_t>(1, entries_of_A_)));
  if (changed_ > 0) text += fmt::format(", {} changed", counted(changed_, "small pivot"));
  return text;
}

}  // namespace

std::unique_ptr<IncompleteLu> incomplete_lu(const MatrixPointer& A, const IluOptions& options) {
  return std::make_unique<OverlappingIlu>(A, options);
}

std::span<const Field<IluOptions>> ilu_fields() {
  static const std::vector<Field<IluOptions>> fields = {
      field("ilu_levels", &IluOptions::ilu_levels, "Levels of fill of the incomplete factors", 0,
            1000)
          .needing("ilu_drop 0", [](const IluOptions& o) { return o.ilu_drop == 0; }),
      field("ilu_drop", &IluOptions::ilu_drop,
            "Entries of the factors that are dropped, as a share of their row; 0: by levels", 0.0,
            1.0),
      field("ilu_fill", &IluOptions::ilu_fill,
            "Entries that a row of the factors keeps, times those of the row of the matrix", 0.0)
          .needing("ilu_drop above 0", [](const IluOptions& o) { return o.ilu_drop > 0; }),
      field("ilu_overlap", &IluOptions::ilu_overlap,
            "Layers of rows of other ranks that a rank solves for as well; 0: none", 0, 100)};
  return fields;
}

const PreconditionerMethod& ilu_preconditioner() {
  static const PreconditionerMethod method = {
      {"ilu", "incomplete factors of the rows of each rank, and of rows around them",
       "Saad 2003, algorithms 10.6 and 10.8; Cai, Sarkis 1999", own_options(ilu_fields)},
      false,
      [](PreconditionerCall&& call) -> Preconditioner {
        auto map = incomplete_lu(call.A, call.method.options<IluOptions>());
        std::string text = map->text();
        return {std::move(map), nullptr, std::move(text)};
      },
      [](Preconditioner& made, const MatrixPointer& next, amg::Reuse) {
        auto& map = static_cast<IncompleteLu&>(*made.map);
        map.rebuild(next);
        made.text = map.text();
      },
      {.wants_diagonal = true,
       .asymmetry = [](const Choice<PreconditionerMethod>& chosen,
                       const amg::Options& /*options*/) {
         return asymmetry_of_ilu(chosen.options<IluOptions>());
       }}};
  return method;
}

}  // namespace nodewise::solver
