#include "nodewise/solver/field_split.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/comm/subset.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/matrix/submatrix.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/diagonal_preconditioner.hpp"
#include "nodewise/solver/field_inverse.hpp"
#include "nodewise/solver/field_rows.hpp"
#include "nodewise/solver/finite_check.hpp"

namespace nodewise::solver {

namespace {

using Matrix = matrix::DistMatrix<double>;
using MatrixPointer = std::shared_ptr<const Matrix>;

[[noreturn]] void refuse_row(GlobalIndex number, const char* what) {
  throw Error(ErrorCode::unsuitable_matrix,
              fmt::format("`preconditioner fields`: row {} (counted from 1) {}", number, what));
}

bool is_zero_row(const Matrix& A, LocalIndex i) {
  bool is_zero = true;
  matrix::for_each_entry(A, i, [&](LocalIndex, double value) { is_zero = is_zero && value == 0; });
  return is_zero;
}

/// Collective: an agreement. D^-1 G.
Matrix scaled_rows(const Matrix& G, std::span<const double> inverse) {
  Array<double> on(G.on().vals), off(G.off().vals);
  for (LocalIndex i = 0; i < G.n_local(); ++i) {
    const double factor = inverse[static_cast<std::size_t>(i)];
    for (Offset e = G.on().begin(i); e < G.on().end(i); ++e) on[std::size_t(e)] *= factor;
    for (Offset e = G.off().begin(i); e < G.off().end(i); ++e) off[std::size_t(e)] *= factor;
  }
  return G.with_values(std::move(on), std::move(off));
}

/// What a system is split into: a row's number counts from 1 where it was first.
struct FieldNumbers {
  RowFields known;  ///< of count 0: two, which are found
  std::vector<GlobalIndex> row_numbers;
};

/// Collective.
FieldNumbers numbers_of(const comm::Layout& rows, const RowFields& known) {
  return mpi::collectively(rows.comm(), [&] {
    FieldNumbers numbers{known, {}};
    for (LocalIndex i = 0; i < rows.n_local(); ++i) {
      numbers.row_numbers.push_back(rows.to_global(i) - rows.first() + 1);
    }
    return numbers;
  });
}

/// Local. Those of the rows left once field 0 is out.
FieldNumbers numbers_left(const FieldNumbers& all, const comm::Subset& second) {
  FieldNumbers left;
  left.known.count = all.known.count - 1;
  for (const LocalIndex i : second.indices()) {
    const auto k = static_cast<std::size_t>(i);
    left.known.of_row.push_back(all.known.of_row[k] - 1);
    left.row_numbers.push_back(all.row_numbers[k]);
  }
  return left;
}

/// The rows of the first field and of all others, and the parts of the system between them.
struct SplitSystem {
  comm::Subset first, second;
  MatrixPointer F;
  Matrix G, B, C;
};

FieldRows rows_of_fields(const Matrix& A, const FieldOptions& fields, const RowFields& known,
                         int unknowns) {
  if (known.count == 1) {
    throw Error(ErrorCode::unsuitable_matrix, "all rows are of one field, where two are needed");
  }
  if (known.count > 1) return given_fields(known);
  return fields.fields == FieldRule::interleaved ? interleaved_fields(A.rows(), unknowns)
                                                 : find_fields(A);
}

/// Collective.
SplitSystem split_system(const Matrix& A, const FieldOptions& fields, const RowFields& known,
                         int unknowns) {
  require_finite(A, "fields");
  FieldRows rows = rows_of_fields(A, fields, known, unknowns);
  comm::Subset first(A.rows(), std::move(rows.first));
  comm::Subset second(A.rows(), std::move(rows.second));
  auto F = std::make_shared<const Matrix>(matrix::submatrix(A, first, first));
  Matrix G = matrix::submatrix(A, first, second), B = matrix::submatrix(A, second, first);
  Matrix C = matrix::submatrix(A, second, second);
  return {std::move(first), std::move(second), std::move(F),
          std::move(G),     std::move(B),      std::move(C)};
}

/// Collective. One over the diagonal of F.
Array<double> inverse_diagonal(const SplitSystem& system, const FieldNumbers& numbers) {
  return mpi::collectively(system.F->comm(), [&] {
    Array<double> inverse = matrix::diagonal(*system.F);
    for (std::size_t i = 0; i < inverse.size(); ++i) {
      if (inverse[i] == 0) {
        refuse_row(numbers.row_numbers[static_cast<std::size_t>(system.first.indices()[i])],
                   "is of the first field and has no diagonal entry, which `schur` divides by");
      }
      inverse[i] = 1 / inverse[i];
    }
    return inverse;
  });
}

/// Collective. The moduli of the diagonal, or the diagonal, as a matrix.
Matrix diagonal_matrix(const Matrix& S, bool positive) {
  const Array<double> diagonal = matrix::diagonal(S);
  return matrix::matrix_from_rows<double>(S.rows(), S.rows(), [&](GlobalIndex i, auto&& emit) {
    const double d = diagonal[static_cast<std::size_t>(S.rows().to_local(i))];
    emit(i, positive ? std::abs(d) : d);
  });
}

class FieldSplit final : public solve::Operator<double> {
 public:
  FieldSplit(const Matrix& A, const FieldOptions& fields, const amg::Options& options,
             FieldNumbers numbers);

  const comm::Layout& layout() const override { return layout_; }
  void apply(std::span<const double> x, std::span<double> y) const override;
  std::string broken_symmetry() const override;
  bool is_fixed() const override { return options_.cycle->is_fixed; }

  const FieldOptions& fields() const { return asked_; }
  const amg::Options& options() const { return options_; }
  const RowFields& known() const { return numbers_.known; }

 private:
  bool has_more_fields() const { return numbers_.known.count > 2; }
  void require_schur(const Matrix& S) const;
  void choose_schur();
  void set_up_schur();
  void invert_schur(const MatrixPointer& S);
  bool is_positive() const { return fields_.split == SplitForm::diagonal; }
  void solve_first() const;
  void solve_schur() const;
  void commute(std::span<const double> y, std::span<double> x) const;
  void correct_first() const;

  comm::Layout layout_;
  FieldOptions asked_, fields_;  // and with what was left open
  amg::Options options_;
  FieldNumbers numbers_;
  SplitSystem system_;
  Array<double> inverse_diagonal_;  // of F
  FieldInverse first_, second_;     // of F, and of S or L
  // The parts of a vector and of what becomes of it, and room for two of the first field.
  mutable std::vector<double> b1_, x1_, b2_, x2_, u1_, v1_;
};

FieldSplit::FieldSplit(const Matrix& A, const FieldOptions& fields, const amg::Options& options,
                       FieldNumbers numbers)
    : layout_(A.rows()),
      asked_(fields),
      fields_(fields),
      options_(options),
      numbers_(std::move(numbers)),
      system_(split_system(A, fields, numbers_.known, options.unknowns)),
      inverse_diagonal_(inverse_diagonal(system_, numbers_)) {
  const bool by_points = fields.fields == FieldRule::interleaved;
  const int given = by_points ? options.unknowns - 1 : options.unknowns;
  first_ =
      invert_field(system_.F, fields_.field_solve, options_, given > 1 || by_points ? given : 0,
                   "`preconditioner fields`, the first field");
  set_up_schur();
  mpi::collectively(A.comm(), [&] {
    const std::size_t n1 = system_.first.indices().size(), n2 = system_.second.indices().size();
    for (auto* v : {&b1_, &x1_, &u1_, &v1_}) v->resize(n1);
    for (auto* v : {&b2_, &x2_}) v->resize(n2);
  });
}

/// Local. Throws where the Schur complement has a row of zeros, or leaves entries of C out.
void FieldSplit::require_schur(const Matrix& S) const {
  const Array<double> diagonal = matrix::diagonal(S);
  for (LocalIndex i = 0; i < S.n_local(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const auto row = static_cast<std::size_t>(system_.second.indices()[k]);
    if (fields_.schur == SchurForm::lsc && !is_zero_row(system_.C, i)) {
      refuse_row(numbers_.row_numbers[row],
                 "has entries in its own field, which `schur lsc` leaves out; take `schur simple`");
    }
    const bool is_zero =
        fields_.schur == SchurForm::diagonal ? diagonal[k] == 0 : is_zero_row(S, i);
    if (is_zero) {
      refuse_row(numbers_.row_numbers[row], "is zero in the Schur complement, which is singular");
    }
  }
}

/// Collective where nothing was chosen.
void FieldSplit::choose_schur() {
  if (fields_.schur == SchurForm::lsc && has_more_fields()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`schur lsc` is for two fields, and there are {}; take `schur simple`",
                            numbers_.known.count));
  }
  if (fields_.schur != SchurForm::automatic) return;
  const auto is_zero = [](double value) { return value == 0; };
  const Matrix& C = system_.C;
  const bool here = std::all_of(C.on().vals.begin(), C.on().vals.end(), is_zero) &&
                    std::all_of(C.off().vals.begin(), C.off().vals.end(), is_zero);
  const bool everywhere = mpi::min(C.comm(), std::int32_t{here && !has_more_fields()}) == 1;
  fields_.schur = everywhere ? SchurForm::lsc : SchurForm::simple;
}

/// Collective.
void FieldSplit::set_up_schur() {
  choose_schur();
  const Matrix L = matrix::multiply(system_.B, scaled_rows(system_.G, inverse_diagonal_));
  const bool commutes = fields_.schur == SchurForm::lsc;
  const auto S =
      std::make_shared<const Matrix>(commutes ? L : matrix::add(1.0, system_.C, -1.0, L));
  mpi::collectively(S->comm(), [&] { require_schur(*S); });
  invert_schur(S);
}

/// Collective.
void FieldSplit::invert_schur(const MatrixPointer& S) {
  if (fields_.schur == SchurForm::diagonal) {
    second_.map =
        std::make_unique<solve::DiagonalPreconditioner>(diagonal_matrix(*S, is_positive()));
  } else if (has_more_fields()) {
    FieldNumbers left =
        mpi::collectively(S->comm(), [&] { return numbers_left(numbers_, system_.second); });
    second_.map = std::make_unique<FieldSplit>(*S, fields_, options_, std::move(left));
  } else {
    second_ = invert_field(S, fields_.field_solve, options_, 1,
                           "`preconditioner fields`, the Schur complement");
  }
}

/// Collective. x = B D^-1 F D^-1 G y, of the second field.
void FieldSplit::commute(std::span<const double> y, std::span<double> x) const {
  const auto scale = [&](std::vector<double>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= inverse_diagonal_[i];
  };
  matrix::multiply(system_.G, y, std::span<double>(u1_));
  scale(u1_);
  matrix::multiply(*system_.F, std::span<const double>(u1_), std::span<double>(v1_));
  scale(v1_);
  matrix::multiply(system_.B, std::span<const double>(v1_), x);
}

/// Collective. x2 = S^-1 b2, or |S|^-1 b2; overwrites b2 where there is a commutator.
void FieldSplit::solve_schur() const {
  if (fields_.schur != SchurForm::lsc) {
    is_positive() ? second_.apply_positive(b2_, x2_) : second_.apply(b2_, x2_);
    return;
  }
  second_.map->apply(b2_, x2_);
  commute(x2_, b2_);
  second_.map->apply(b2_, x2_);
  const double sign = is_positive() ? first_.sign : -1;
  for (double& value : x2_) value *= sign;
}

/// Collective. x1 = F^-1 b1, or |F|^-1 b1.
void FieldSplit::solve_first() const {
  is_positive() ? first_.apply_positive(b1_, x1_) : first_.apply(b1_, x1_);
}

/// Collective. x1 -= E x2.
void FieldSplit::correct_first() const {
  matrix::multiply(system_.G, std::span<const double>(x2_), std::span<double>(u1_));
  if (fields_.schur == SchurForm::lsc) {
    first_.apply(u1_, v1_);
  } else {
    for (std::size_t i = 0; i < u1_.size(); ++i) v1_[i] = u1_[i] * inverse_diagonal_[i];
  }
  for (std::size_t i = 0; i < x1_.size(); ++i) x1_[i] -= v1_[i];
}

void FieldSplit::apply(std::span<const double> x, std::span<double> y) const {
  system_.first.take(x, std::span<double>(b1_));
  system_.second.take(x, std::span<double>(b2_));
  switch (fields_.split) {
    case SplitForm::upper:
      solve_schur();
      matrix::residual(system_.G, std::span<const double>(x2_), std::span<const double>(b1_),
                       std::span<double>(b1_));
      solve_first();
      break;
    case SplitForm::lower:
    case SplitForm::full:
      solve_first();
      matrix::residual(system_.B, std::span<const double>(x1_), std::span<const double>(b2_),
                       std::span<double>(b2_));
      solve_schur();
      if (fields_.split == SplitForm::full) correct_first();
      break;
    case SplitForm::diagonal:
      solve_first();
      solve_schur();
      break;
  }
  system_.first.put(std::span<const double>(x1_), y);
  system_.second.put(std::span<const double>(x2_), y);
}

/// What of the options makes the preconditioner nonsymmetric; empty where nothing does.
std::string asymmetry_of_split(const FieldOptions& fields, const amg::Options& options) {
  switch (fields.split) {
    case SplitForm::upper:
      return "split upper";
    case SplitForm::lower:
      return "split lower";
    case SplitForm::full:
      return "split full";
    case SplitForm::diagonal:
      break;
  }
  return amg::asymmetry_of(options);
}

std::string FieldSplit::broken_symmetry() const {
  return asymmetry_of_split(fields_, options_);
}

}  // namespace

std::span<const Field<FieldOptions>> field_options() {
  static const std::vector<Field<FieldOptions>> fields = {
      field(
          "fields", &FieldOptions::fields,
          "Which rows are the second field, that of a pressure or a multiplier",
          {{"auto",
            "as `row_fields` says; without it those whose diagonal entry does not count, or is of "
            "the other sign"},
           {"interleaved", "the last of `unknowns` at each point"}}),
      field("schur", &FieldOptions::schur,
            "What stands for the Schur complement C - B F^-1 G of (F G; B C)",
            {{"auto", "lsc where C is zero and there are two fields, else simple"},
             {"simple", "C - B D^-1 G with the diagonal D of F"},
             {"lsc", "the least-squares commutator, where C is zero"},
             {"diagonal", "the diagonal of the first"}}),
      field("split", &FieldOptions::split, "Which triangles of (F G; B C) are kept",
            {{"upper", "G"},
             {"lower", "B"},
             {"full", "both, one after the other"},
             {"diagonal", "none, and without signs: for minres"}}),
      field("field_solve", &FieldOptions::field_solve,
            "What F and the Schur complement are solved with, above 300 rows",
            {{"auto", "a cycle, or factors where five cycles leave half of a residual"},
             {"cycle", "a cycle of multigrid"},
             {"direct", "factors by MUMPS"}}),
  };
  return fields;
}

std::unique_ptr<solve::Operator<double>> split_fields(const MatrixPointer& A,
                                                      const FieldOptions& fields,
                                                      const amg::Options& options,
                                                      const RowFields& known) {
  if (known.count > 0 && fields.fields != FieldRule::automatic) {
    throw Error(ErrorCode::invalid_argument,
                "the field of each row is given, which leaves no choice of `fields`: drop one");
  }
  return std::make_unique<FieldSplit>(*A, fields, options, numbers_of(A->rows(), known));
}

const PreconditionerMethod& fields_preconditioner() {
  static const PreconditionerMethod method = {
      {"fields", "a cycle for each of two or more fields, for saddle points",
       "Murphy, Golub, Wathen 2000; Elman and others 2006", own_options(field_options)},
      false,
      [](PreconditionerCall&& call) -> Preconditioner {
        return {
            split_fields(call.A, call.method.options<FieldOptions>(), call.options, call.fields),
            nullptr};
      },
      [](Preconditioner& made, const MatrixPointer& next, amg::Reuse) {
        const auto& before = dynamic_cast<const FieldSplit&>(*made.map);
        made.map = split_fields(next, before.fields(), before.options(), before.known());
      },
      {.is_exact = false,
       .has_cycles = true,
       .suits_indefinite = true,
       .takes_fields = true,
       .asymmetry =
           [](const Choice<PreconditionerMethod>& chosen, const amg::Options& options) {
             return asymmetry_of_split(chosen.options<FieldOptions>(), options);
           },
       .symmetric_form = "split diagonal"}};
  return method;
}

}  // namespace nodewise::solver
