// Electrons and phonons on a ring: counts by formulas, entries by operators, ground states.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/fock_states.hpp"
#include "nodewise/io/problems/holstein_hubbard.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_holstein_hubbard_test {

using problems::HolsteinHubbardOptions;
using problems::StateOrdering;
using problems::StoredZeros;
using test::expect_same_error;
using test::test_comm;
using testing::HasSubstr;

GalleryOptions ring(const HolsteinHubbardOptions& own) {
  GalleryOptions options;
  options.problem = "holstein_hubbard";
  options.problem.options<HolsteinHubbardOptions>() = own;
  return options;
}

Eigen::MatrixXd dense(const HolsteinHubbardOptions& own) {
  const auto A = generate<double>(test_comm(), ring(own));
  const auto n = A.rows().n_global();
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  for (const auto& [i, j, value] : test::gather_entries(A)) M(i, j) += value;
  return M;
}

double lowest(const HolsteinHubbardOptions& own) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(own), Eigen::EigenvaluesOnly)
      .eigenvalues()[0];
}

/// All lists of so many numbers with a sum up to `most`, in order.
std::vector<std::vector<int>> lists(int length, int most) {
  if (length == 0) return {{}};
  std::vector<std::vector<int>> all;
  for (int first = 0; first <= most; ++first) {
    for (std::vector<int>& rest : lists(length - 1, most - first)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

/// Orbitals of both spins as bits of one state, those with spin down above; every operator passes
/// those below its own.
class Orbitals {
 public:
  explicit Orbitals(const HolsteinHubbardOptions& own) : own_(own) {
    for (unsigned up = 0; up < 1U << own.sites; ++up) {
      for (unsigned down = 0; down < 1U << own.sites; ++down) {
        if (std::popcount(up) != own.electrons_up) continue;
        if (std::popcount(down) != own.electrons_down) continue;
        states_.push_back(up | down << own.sites);
      }
    }
  }
  const std::vector<unsigned>& states() const { return states_; }

  /// <to| -t sum (a+_i a_j + a+_j a_i) + U sum n_up n_down |from>
  double element(unsigned to, unsigned from) const {
    double sum = 0;
    for (int spin = 0; spin < 2; ++spin) {
      for (int j = 0; j < own_.sites; ++j) {
        const int a = spin * own_.sites + j, b = spin * own_.sites + (j + 1) % own_.sites;
        sum -= own_.hopping * (moved(to, from, a, b) + moved(to, from, b, a));
      }
    }
    if (to != from) return sum;
    const unsigned low = (1U << own_.sites) - 1;
    return sum + own_.interaction * std::popcount(from & low & from >> own_.sites);
  }
  int electrons(unsigned state, int site) const {
    return static_cast<int>((state >> site & 1U) + (state >> (own_.sites + site) & 1U));
  }

 private:
  static double apply(unsigned& state, int orbital, bool creates) {
    const unsigned bit = 1U << orbital;
    if (((state & bit) != 0) == creates) return 0;
    const double sign = std::popcount(state & (bit - 1)) % 2 == 0 ? 1 : -1;
    state ^= bit;
    return sign;
  }
  static double moved(unsigned to, unsigned from, int into, int out_of) {
    double sign = apply(from, out_of, false);
    if (sign != 0) sign *= apply(from, into, true);
    return from == to ? sign : 0;
  }

  HolsteinHubbardOptions own_;
  std::vector<unsigned> states_;
};

std::vector<std::vector<double>> modes(int n) {
  const double pi = std::acos(-1.0);
  std::vector<std::vector<double>> all;
  for (int k = 1; 2 * k <= n; ++k) {
    std::vector<double> even, odd;
    for (int j = 0; j < n; ++j) {
      even.push_back(std::cos(2 * pi * k * j / n) * std::sqrt((2 * k == n ? 1.0 : 2.0) / n));
      odd.push_back(std::sin(2 * pi * k * j / n) * std::sqrt(2.0 / n));
    }
    all.push_back(even);
    if (2 * k < n) all.push_back(odd);
  }
  return all;
}

/// By the operators, every element by itself.
Eigen::MatrixXd expected(const HolsteinHubbardOptions& own) {
  const Orbitals orbitals(own);
  const auto& electrons = orbitals.states();
  const auto phonons = lists(own.sites - 1, own.phonons);
  const auto v = modes(own.sites);
  const auto n_e = static_cast<Eigen::Index>(electrons.size());
  const auto n_p = static_cast<Eigen::Index>(phonons.size());
  const auto number = [&](Eigen::Index e, Eigen::Index p) {
    return own.ordering == StateOrdering::phonons ? e * n_p + p : p * n_e + e;
  };
  const auto boson = [&](unsigned state, const std::vector<int>& to, const std::vector<int>& from) {
    double sum = 0;
    for (std::size_t k = 0; k < v.size(); ++k) {
      std::vector<int> with = from;
      ++with[k];
      std::vector<int> less = from;
      --less[k];
      const double element = to == with   ? std::sqrt(from[k] + 1.0)
                             : to == less ? std::sqrt(double(from[k]))
                                          : 0.0;
      double lambda = 0;
      for (int j = 0; j < own.sites; ++j) {
        lambda += v[k][static_cast<std::size_t>(j)] * orbitals.electrons(state, j);
      }
      sum -= own.coupling * own.frequency * lambda * element;
    }
    return sum;
  };
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n_e * n_p, n_e * n_p);
  for (Eigen::Index e = 0; e < n_e; ++e) {
    const unsigned state = electrons[static_cast<std::size_t>(e)];
    for (Eigen::Index p = 0; p < n_p; ++p) {
      const auto& here = phonons[static_cast<std::size_t>(p)];
      for (Eigen::Index f = 0; f < n_e; ++f) {
        M(number(f, p), number(e, p)) +=
            orbitals.element(electrons[static_cast<std::size_t>(f)], state);
      }
      for (const int m : here) M(number(e, p), number(e, p)) += own.frequency * m;
      for (Eigen::Index q = 0; q < n_p; ++q) {
        M(number(e, q), number(e, p)) += boson(state, phonons[static_cast<std::size_t>(q)], here);
      }
    }
  }
  return M;
}

TEST(HolsteinHubbard, HasTheElementsOfItsOperators) {
  for (HolsteinHubbardOptions own :
       {HolsteinHubbardOptions{.sites = 4, .electrons_up = 2, .electrons_down = 1, .phonons = 2},
        HolsteinHubbardOptions{.sites = 3, .electrons_up = 2, .electrons_down = 2, .phonons = 3},
        HolsteinHubbardOptions{.sites = 2, .electrons_up = 1, .electrons_down = 1, .phonons = 4},
        HolsteinHubbardOptions{.sites = 5, .electrons_up = 0, .electrons_down = 4, .phonons = 0},
        HolsteinHubbardOptions{.sites = 4, .electrons_up = 4, .electrons_down = 2, .phonons = 1}}) {
    own.hopping = 0.7;
    own.interaction = 2.3;
    own.coupling = 1.1;
    own.frequency = 0.6;
    for (const auto ordering : {StateOrdering::phonons, StateOrdering::electrons}) {
      own.ordering = ordering;
      const Eigen::MatrixXd M = dense(own);
      EXPECT_LE((M - M.transpose()).cwiseAbs().maxCoeff(), 0);
      EXPECT_LE((M - expected(own)).cwiseAbs().maxCoeff(), 1e-13) << own.sites;
    }
  }
}

TEST(HolsteinHubbard, HasAsManyEntriesAsTheFormula) {
  const auto count = [](HolsteinHubbardOptions own, StoredZeros zeros) {
    own.stored_zeros = zeros;
    const MatrixSize size = (*ring(own).problem->size)(ring(own));
    if (own.phonons < 4) {
      const auto A = generate<double>(test_comm(), ring(own));
      EXPECT_EQ(static_cast<double>(A.rows().n_global()), size.rows);
      EXPECT_EQ(static_cast<double>(A.nnz_global()), size.nonzeros);
    }
    return size;
  };
  const auto binomial = [](int n, int k) { return static_cast<double>(problems::binomial(n, k)); };
  for (const int most : {0, 1, 3, 15}) {
    const HolsteinHubbardOptions own = {.phonons = most};
    const double states = binomial(most + 5, 5), raised = most == 0 ? 0 : binomial(most + 4, 5);
    const auto expected_entries = [&](double couplings) {
      return 3280 * states + couplings * 2 * raised;
    };
    EXPECT_EQ(count(own, StoredZeros::none).nonzeros, expected_entries(1382));
    EXPECT_EQ(count(own, StoredZeros::even).nonzeros, expected_entries(1792));
    EXPECT_EQ(count(own, StoredZeros::all).nonzeros, expected_entries(2000));
    EXPECT_EQ(count(own, StoredZeros::all).rows, 400 * states);
  }
  const MatrixSize published = count({}, StoredZeros::even);
  EXPECT_EQ(published.rows, 6201600);
  EXPECT_EQ(published.nonzeros, 92527872);
  for (const int sites : {2, 4}) {
    count({.sites = sites, .electrons_up = 1, .electrons_down = 1, .phonons = 3},
          StoredZeros::none);
  }
}

TEST(HolsteinHubbard, HasTheGroundStatesOfTheHubbardModel) {
  HolsteinHubbardOptions own = {.phonons = 0, .interaction = 0};
  EXPECT_NEAR(lowest(own), -8, 1e-12);
  own.interaction = 4;
  EXPECT_NEAR(lowest(own), -3.66870618, 1e-8);
}

/// Without hopping the phonons of each state of the electrons are shifted oscillators: the energy
/// falls by g^2 omega sum_k lambda_k^2 (Lang, Firsov 1962). Two electrons on one of two sites have
/// lambda^2 = 2.
TEST(HolsteinHubbard, GoesToShiftedOscillatorsWithoutHopping) {
  HolsteinHubbardOptions own = {.sites = 2, .electrons_up = 1, .electrons_down = 1};
  own.hopping = 0;
  own.interaction = 0.5;
  own.coupling = 0.7;
  own.frequency = 1.5;
  own.phonons = 30;
  EXPECT_NEAR(lowest(own), 0.5 - 2 * 0.7 * 0.7 * 1.5, 1e-10);
}

TEST(HolsteinHubbard, NumbersStatesBothWays) {
  const problems::PhononStates states(4, 7);
  const auto all = lists(4, 7);
  ASSERT_EQ(states.size(), std::ssize(all));
  std::vector<int> found(4);
  for (GlobalIndex i = 0; i < states.size(); ++i) {
    states.read(i, found);
    EXPECT_EQ(found, all[static_cast<std::size_t>(i)]);
    EXPECT_EQ(states.number_of(found), i);
  }
}

TEST(HolsteinHubbard, RefusesWhatItCannotMake) {
  const auto refusal = [](const HolsteinHubbardOptions& own, ErrorCode code) {
    return expect_same_error(*test_comm(), code, [&] { generate<double>(test_comm(), ring(own)); });
  };
  const auto invalid = ErrorCode::invalid_argument, overflow = ErrorCode::index_overflow;
  EXPECT_THAT(refusal({.sites = 1}, invalid), HasSubstr("sites is 1"));
  EXPECT_THAT(refusal({.sites = 31}, invalid), HasSubstr("sites is 31"));
  EXPECT_THAT(refusal({.electrons_up = 7}, invalid), HasSubstr("electrons_up is 7"));
  EXPECT_THAT(refusal({.electrons_down = -1}, invalid), HasSubstr("electrons_down is -1"));
  EXPECT_THAT(refusal({.phonons = -1}, invalid), HasSubstr("phonons is -1"));
  EXPECT_THAT(refusal({.phonons = 2000000}, invalid), HasSubstr("phonons is 2000000"));
  EXPECT_THAT(refusal({.sites = 30, .electrons_up = 15}, invalid), HasSubstr("states"));
  EXPECT_THAT(refusal({.frequency = std::nan("")}, invalid), HasSubstr("frequency is not finite"));
  EXPECT_THAT(
      refusal({.sites = 30, .electrons_up = 1, .electrons_down = 0, .phonons = 10000}, overflow),
      HasSubstr("count"));
  EXPECT_THAT(refusal({.sites = 8, .phonons = 500000}, overflow), HasSubstr("count"));
}

}  // namespace io_holstein_hubbard_test
}  // namespace nodewise::io
