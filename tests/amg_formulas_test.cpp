// The interpolation formulas but extended+i against themselves written down for dense matrices.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "nodewise/amg/interpolate/interpolate.hpp"

#include "amg_support.hpp"
#include "coarsen_reference.hpp"

namespace nodewise::amg::interpolate {
namespace amg_formulas_test {

using coarsen::coarse;
using coarsen::fine;
using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::layouts_of;
using test::test_comm;

constexpr double threshold = 0.25;

using States = std::vector<int>;

/// A matrix with its splitting, and what formulas are written in.
struct Problem {
  const DenseMatrix& A;
  const States& states;
  Dense<int> s;
  ToIsolated to_isolated = ToIsolated::dropped;

  GlobalIndex n() const { return A.rows(); }
  bool is_coarse(GlobalIndex i) const { return states[static_cast<std::size_t>(i)] == coarse; }
  bool near(GlobalIndex i, GlobalIndex j) const { return is_coarse(j) && s(i, j) == 1; }
  bool near_fine(GlobalIndex i, GlobalIndex k) const { return !is_coarse(k) && s(i, k) == 1; }
  bool near_or_far(GlobalIndex i, GlobalIndex j) const {
    bool found = near(i, j);
    for (GlobalIndex k = 0; k < n(); ++k) found = found || (near_fine(i, k) && near(k, j));
    return found;
  }
  bool in_common(GlobalIndex i, GlobalIndex k) const {
    bool found = false;
    for (GlobalIndex c = 0; c < n(); ++c) found = found || (near(i, c) && near(k, c));
    return found;
  }
  /// Whether couplings to k count for nothing: a fine point that depends on none.
  bool dropped(GlobalIndex k) const {
    bool any = is_coarse(k) || to_isolated == ToIsolated::lumped;
    for (GlobalIndex c = 0; c < n(); ++c) any = any || s(k, c) == 1;
    return !any;
  }
  double bar(GlobalIndex k, GlobalIndex l) const {
    return (A(k, k) < 0) == (A(k, l) < 0) ? 0.0 : A(k, l);
  }
};

/// Row i over all points; only coarse ones with weights.
using Row = std::vector<double>;
using Formula = std::function<Row(const Problem&, GlobalIndex)>;

std::size_t at(GlobalIndex i) {
  return static_cast<std::size_t>(i);
}

/// The formulas that share couplings to strong fine points out among the points of the row.
/// `in_row` says which these are, `value` the entry of k's row they are shared by, `lumped` which
/// strong couplings are not shared; one that cannot be shared is lumped, or left out.
template <class InRow, class Value, class Lumped>
Row shared_row(const Problem& p, GlobalIndex i, const InRow& in_row, const Value& value,
               const Lumped& lumped, bool leave_out = false) {
  Row row(at(p.n()), 0.0);
  double diagonal = p.A(i, i);
  for (GlobalIndex k = 0; k < p.n(); ++k) {
    if (k == i || p.A(i, k) == 0 || p.dropped(k)) continue;
    double sum = 0;
    for (GlobalIndex l = 0; l < p.n(); ++l) sum += in_row(l) ? value(k, l) : 0.0;
    if (in_row(k)) {
      row[at(k)] += p.A(i, k);
    } else if (!p.near_fine(i, k) || lumped(k) || (sum == 0 && !leave_out)) {
      diagonal += p.A(i, k);
    } else if (sum != 0) {
      for (GlobalIndex l = 0; l < p.n(); ++l) {
        if (in_row(l)) row[at(l)] += p.A(i, k) * value(k, l) / sum;
      }
    }
  }
  for (double& weight : row) weight /= -diagonal;
  return row;
}

Row classical_row(const Problem& p, GlobalIndex i) {
  return shared_row(
      p, i, [&](GlobalIndex l) { return p.near(i, l); },
      [&](GlobalIndex k, GlobalIndex l) { return p.A(k, l); }, [](GlobalIndex) { return false; });
}

Row modified_classical_row(const Problem& p, GlobalIndex i) {
  return shared_row(
      p, i, [&](GlobalIndex l) { return p.near(i, l); },
      [&](GlobalIndex k, GlobalIndex l) { return p.bar(k, l); },
      [&](GlobalIndex k) { return !p.in_common(i, k); }, true);
}

Row extended_row(const Problem& p, GlobalIndex i) {
  return shared_row(
      p, i, [&](GlobalIndex l) { return p.near_or_far(i, l); },
      [&](GlobalIndex k, GlobalIndex l) { return p.bar(k, l); }, [](GlobalIndex) { return false; });
}

/// Stüben's: the equation of i with those of its strong fine neighbours put in.
Row standard_row(const Problem& p, GlobalIndex i) {
  Row equation(at(p.n()), 0.0);
  for (GlobalIndex j = 0; j < p.n(); ++j) {
    if (p.dropped(j)) continue;
    if (!p.near_fine(i, j) || p.A(j, j) == 0) {
      equation[at(j)] += p.A(i, j);
      continue;
    }
    for (GlobalIndex l = 0; l < p.n(); ++l) {
      if (l != j) equation[at(l)] -= p.A(i, j) / p.A(j, j) * p.A(j, l);
    }
  }
  double all = 0;
  double chosen = 0;
  for (GlobalIndex j = 0; j < p.n(); ++j) {
    if (j != i) all += equation[at(j)];
    if (p.near_or_far(i, j)) chosen += equation[at(j)];
  }
  Row row(at(p.n()), 0.0);
  for (GlobalIndex j = 0; j < p.n(); ++j) {
    if (p.near_or_far(i, j)) row[at(j)] = -equation[at(j)] * all / chosen / equation[at(i)];
  }
  return row;
}

/// Direct interpolation from the chosen of the points that i depends on. Where none of these is of
/// the diagonal's sign, couplings of that sign are lumped into the diagonal, or added to the
/// others.
Row direct_row(const Problem& p, GlobalIndex i, const std::function<bool(GlobalIndex)>& chosen,
               bool adds = false) {
  double all[2] = {0, 0};
  double part[2] = {0, 0};
  const auto side = [&](GlobalIndex j) { return (p.A(i, j) < 0) == (p.A(i, i) < 0) ? 1 : 0; };
  for (GlobalIndex j = 0; j < p.n(); ++j) {
    if (j == i) continue;
    all[side(j)] += p.dropped(j) ? 0.0 : p.A(i, j);
    if (p.s(i, j) == 1 && chosen(j)) part[side(j)] += p.A(i, j);
  }
  double diagonal = p.A(i, i);
  if (part[1] == 0) (adds ? all[0] : diagonal) += all[1];
  Row row(at(p.n()), 0.0);
  for (GlobalIndex j = 0; j < p.n(); ++j) {
    if (j == i || p.s(i, j) == 0 || !chosen(j)) continue;
    row[at(j)] = -p.A(i, j) / diagonal * all[side(j)] / part[side(j)];
  }
  return row;
}

Row direct_coarse_row(const Problem& p, GlobalIndex i) {
  return direct_row(p, i, [&](GlobalIndex j) { return p.is_coarse(j); });
}

/// The columns of the coarse points.
DenseMatrix coarse_columns(const Problem& p, const std::vector<Row>& rows) {
  DenseMatrix P(p.n(), std::count(p.states.begin(), p.states.end(), coarse));
  for (GlobalIndex i = 0; i < p.n(); ++i) {
    GlobalIndex c = 0;
    for (GlobalIndex j = 0; j < p.n(); ++j) {
      if (p.is_coarse(j)) P(i, c++) = rows[at(i)].empty() ? 0.0 : rows[at(i)][at(j)];
    }
  }
  return P;
}

Row unit(GlobalIndex n, GlobalIndex i) {
  Row row(at(n), 0.0);
  row[at(i)] = 1.0;
  return row;
}

DenseMatrix reference(const Problem& p, const Formula& formula) {
  std::vector<Row> rows;
  for (GlobalIndex i = 0; i < p.n(); ++i) {
    rows.push_back(p.is_coarse(i) ? unit(p.n(), i) : formula(p, i));
  }
  return coarse_columns(p, rows);
}

/// Pass after pass, from the points that were done before it.
DenseMatrix reference_multipass(const Problem& p) {
  std::vector<Row> rows(at(p.n()));
  for (GlobalIndex i = 0; i < p.n(); ++i) {
    if (p.is_coarse(i)) rows[at(i)] = unit(p.n(), i);
  }
  for (bool any = true; any;) {
    any = false;
    const std::vector<Row> before = rows;
    const auto is_done = [&](GlobalIndex k) { return !before[at(k)].empty(); };
    for (GlobalIndex i = 0; i < p.n(); ++i) {
      bool reachable = false;
      for (GlobalIndex k = 0; k < p.n(); ++k)
        reachable = reachable || (p.s(i, k) == 1 && is_done(k));
      if (is_done(i) || !reachable) continue;
      any = true;
      const Row weights = direct_row(p, i, is_done, true);
      Row& row = rows[at(i)] = Row(at(p.n()), 0.0);
      for (GlobalIndex k = 0; k < p.n(); ++k) {
        for (GlobalIndex j = 0; j < p.n() && weights[at(k)] != 0; ++j) {
          row[at(j)] += weights[at(k)] * before[at(k)][at(j)];
        }
      }
    }
  }
  return coarse_columns(p, rows);
}

using Method = matrix::DistMatrix<double> (*)(const matrix::DistMatrix<double>&, const Strength&,
                                              const coarsen::Splitting&, const matrix::Layout&,
                                              const Rules&);

matrix::DistMatrix<double> run(Method method, const DenseMatrix& values,
                               const matrix::Layout& layout, const States& states,
                               const Rules& rules = {}) {
  const auto A = distribute(values, layout);
  const coarsen::Splitting splitting = test::splitting_part(layout, states);
  return method(A, strength_of_connection(A, threshold, 1.0), splitting,
                coarsen::coarse_layout(layout, splitting), rules);
}

/// Of matrices that may be symmetric or not.
constexpr Method any_extended_i = [](const auto&... arguments) {
  return extended_i<double>(arguments...);
};
constexpr Method any_standard = [](const auto&... arguments) {
  return standard<double>(arguments...);
};
/// Of matrices that are taken to be symmetric.
constexpr Method symmetric_extended_i = [](const auto&... arguments) {
  return extended_i<double>(arguments..., true);
};
constexpr Method symmetric_standard = [](const auto&... arguments) {
  return standard<double>(arguments..., true);
};

States random_states(GlobalIndex n, std::uint64_t seed, double share) {
  States states;
  for (GlobalIndex i = 0; i < n; ++i) {
    states.push_back(hash_uniform(static_cast<std::uint64_t>(i), seed) < share ? coarse : fine);
  }
  return states;
}

/// Collective. Expects the reference's weights on all layouts, for splittings of several kinds.
void expect_reference(Method method,
                      const std::function<DenseMatrix(const Problem&)>& make_reference) {
  for (const auto& [name, values] : test::level_matrices()) {
    const auto s = test::reference_strength(values, threshold, 1.0);
    for (const States& states :
         {test::coarsening::reference_ruge_stueben(s), random_states(values.rows(), 1, 0.3),
          random_states(values.rows(), 2, 0.1), random_states(values.rows(), 3, 1.1),
          random_states(values.rows(), 4, 0.0)}) {
      for (const ToIsolated to_isolated : {ToIsolated::dropped, ToIsolated::lumped}) {
        const DenseMatrix expected = make_reference({values, states, s, to_isolated});
        for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
          for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
            const auto P = run(method, values, layout, states, {0, 0.0, to_isolated});
            test::expect_invariants(P);
            test::expect_near(gathered(P), expected, 1e-11, name);
          }
        }
      }
    }
  }
}

void expect_formula(Method method, const Formula& formula) {
  expect_reference(method, [&](const Problem& p) { return reference(p, formula); });
}

TEST(Formulas, ClassicalEqualsItsDefinition) {
  expect_formula(classical<double>, classical_row);
}
TEST(Formulas, ModifiedClassicalEqualsItsDefinition) {
  expect_formula(modified_classical<double>, modified_classical_row);
}
TEST(Formulas, ExtendedEqualsItsDefinition) {
  expect_formula(extended<double>, extended_row);
}
TEST(Formulas, StandardEqualsItsDefinition) {
  expect_formula(any_standard, standard_row);
}
TEST(Formulas, DirectEqualsItsDefinition) {
  expect_formula(direct<double>, direct_coarse_row);
}
TEST(Formulas, MultipassEqualsItsDefinition) {
  expect_reference(multipass<double>, reference_multipass);
}

TEST(Formulas, TakeEntriesFromTheOtherSideOfASymmetricMatrix) {
  for (const auto& [name, values] : test::level_matrices()) {
    DenseMatrix symmetric = values;
    for (GlobalIndex i = 0; i < values.rows(); ++i) {
      for (GlobalIndex j = 0; j < values.rows(); ++j) {
        symmetric(i, j) = 0.5 * (values(i, j) + values(j, i));
      }
    }
    const States states = random_states(values.rows(), 1, 0.3);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      test::expect_near(gathered(run(symmetric_extended_i, symmetric, layout, states)),
                        gathered(run(any_extended_i, symmetric, layout, states)), 1e-13, name);
      test::expect_near(gathered(run(symmetric_standard, symmetric, layout, states)),
                        gathered(run(any_standard, symmetric, layout, states)), 1e-13, name);
    }
  }
}

constexpr Method methods[] = {
    classical<double>, modified_classical<double>, extended<double>, any_extended_i, any_standard,
    direct<double>,    multipass<double>};

// What a smooth error is made of first of all.
TEST(Formulas, ReproduceConstantsWhereRowsSumToZero) {
  DenseMatrix values = test::random_matrix(50, 0.15, 0.0, 8);
  for (GlobalIndex i = 0; i < values.rows(); ++i) values(i, i) -= 0.01;  // now the sums are zero
  const auto s = test::reference_strength(values, threshold, 1.0);
  const States states = test::coarsening::reference_ruge_stueben(s);
  for (const Method method : methods) {
    for (const int most : {0, 2}) {
      for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
        const DenseMatrix P = gathered(run(method, values, layout, states, {most, 0.0}));
        for (GlobalIndex i = 0; i < P.rows(); ++i) {
          double sum = 0;
          int entries = 0;
          for (GlobalIndex c = 0; c < P.cols(); ++c) {
            sum += P(i, c);
            entries += P(i, c) != 0 ? 1 : 0;
          }
          if (entries > 0) {
            EXPECT_NEAR(sum, 1.0, 1e-12) << "row " << i;
          }
          EXPECT_LE(entries, most > 0 ? most : entries) << "row " << i;
        }
      }
    }
  }
}

// Powers of two, so that the weights are the same to the last bit.
TEST(Formulas, DoNotDependOnTheUnitsOfTheMatrix) {
  const DenseMatrix values = test::random_matrix(50, 0.15, 0.2, 8);
  const auto s = test::reference_strength(values, threshold, 1.0);
  const States states = test::coarsening::reference_ruge_stueben(s);
  const matrix::Layout layout = layouts_of(test_comm(), values.rows()).front();
  for (const double unit : {0x1p-900, 0x1p900}) {
    DenseMatrix scaled = values;
    for (std::size_t k = 0; k < scaled.size(); ++k) scaled.data()[k] *= unit;
    for (const Method method : methods) {
      const DenseMatrix expected = gathered(run(method, values, layout, states));
      test::expect_near(gathered(run(method, scaled, layout, states)), expected, 0, "units");
    }
  }
}

// A chain with every fifth point coarse: each of the others takes the value of the nearest.
TEST(Formulas, MultipassReachesFarPoints) {
  constexpr GlobalIndex n = 21;
  DenseMatrix chain(n, n);
  States every_fifth;
  for (GlobalIndex i = 0; i < n; ++i) {
    chain(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
    every_fifth.push_back(i % 5 == 0 ? coarse : fine);
  }
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const DenseMatrix P = gathered(run(multipass<double>, chain, layout, every_fifth));
    EXPECT_EQ(P(1, 0), 1.0);  // direct: from its one coarse neighbour
    EXPECT_EQ(P(2, 0), 1.0);
    EXPECT_EQ(P(3, 1), 1.0);
    EXPECT_EQ(P(4, 1), 1.0);
  }
}

TEST(Formulas, OfNoCoarsePointsHaveNoColumns) {
  const DenseMatrix values = test::model("laplace5", 5);
  for (const Method method : methods) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto P = run(method, values, layout, random_states(25, 0, 0.0), {4, 0.0});
      test::expect_invariants(P);
      EXPECT_EQ(P.cols().n_global(), 0);
      EXPECT_EQ(P.nnz_global(), 0);
    }
  }
}

}  // namespace amg_formulas_test
}  // namespace nodewise::amg::interpolate
