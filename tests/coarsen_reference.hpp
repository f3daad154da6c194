// Splittings written down plainly for a dense matrix of strong dependences, as every rank sees it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"

#include "amg_support.hpp"

namespace nodewise::test::coarsening {

using amg::coarsen::coarse;
using amg::coarsen::fine;
using amg::coarsen::undecided;

inline constexpr double threshold = 0.25;
inline constexpr double max_row_sum = 1.0;

inline std::vector<NamedMatrix> matrices() {
  auto list = test::level_matrices();
  list.push_back({"laplace7", test::model("laplace7", 4)});
  list.push_back({"sparse random", test::random_matrix(60, 0.03, 0.2, 9)});
  return list;
}

inline Dense<int> strong(const DenseMatrix& A) {
  return test::reference_strength(A, threshold, max_row_sum);
}

inline std::vector<double> weights(const Dense<int>& s, int seed) {
  std::vector<double> w;
  for (GlobalIndex j = 0; j < s.cols(); ++j) {
    double dependants = 0;
    for (GlobalIndex i = 0; i < s.rows(); ++i) dependants += s(i, j);
    w.push_back(dependants +
                hash_uniform(static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(seed)));
  }
  return w;
}

inline bool depends_on_coarse(const Dense<int>& s, const std::vector<int>& state, GlobalIndex i) {
  for (GlobalIndex j = 0; j < s.cols(); ++j) {
    if (s(i, j) == 1 && state[static_cast<std::size_t>(j)] == coarse) return true;
  }
  return false;
}

inline bool depends_on_any(const Dense<int>& s, GlobalIndex i) {
  bool any = false;
  for (GlobalIndex j = 0; j < s.cols(); ++j) any = any || s(i, j) == 1;
  return any;
}

/// The states with the undecided points fine that depend on nothing.
inline std::vector<int> without_independent(const Dense<int>& s, std::vector<int> state) {
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (state[i] == undecided && !depends_on_any(s, static_cast<GlobalIndex>(i))) state[i] = fine;
  }
  return state;
}

/// PMIS as the paper states it, all points at once. `state` holds what is decided already.
inline std::vector<int> reference_pmis(const Dense<int>& s, int seed, std::vector<int> state) {
  state = without_independent(s, std::move(state));
  const GlobalIndex n = s.rows();
  const std::vector<double> w = weights(s, seed);
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  const auto drop = [&] {
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] == undecided && depends_on_coarse(s, state, i)) state[at(i)] = fine;
    }
  };
  for (GlobalIndex i = 0; i < n; ++i) {
    if (state[at(i)] == undecided && w[at(i)] < 1) state[at(i)] = fine;
  }
  drop();
  while (std::count(state.begin(), state.end(), undecided) > 0) {
    std::vector<GlobalIndex> heaviest;
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] != undecided) continue;
      bool beaten = false;
      for (GlobalIndex j = 0; j < n; ++j) {
        const bool neighbour = j != i && s(i, j) + s(j, i) > 0 && state[at(j)] == undecided;
        beaten = beaten || (neighbour && w[at(j)] > w[at(i)]);
      }
      if (!beaten) heaviest.push_back(i);
    }
    for (const GlobalIndex i : heaviest) state[at(i)] = coarse;
    drop();
  }
  return state;
}

/// The first pass of Ruge-Stüben; of equal measures the one that has had its measure longest.
inline std::vector<int> reference_first_pass(const Dense<int>& s, std::vector<int> state = {}) {
  const GlobalIndex n = s.rows();
  state.resize(static_cast<std::size_t>(n), undecided);
  std::vector<int> measure(state.size(), 0);
  std::vector<int> since(state.size(), 0);
  int now = 0;
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  for (GlobalIndex j = 0; j < n; ++j) {
    since[at(j)] = now++;
    for (GlobalIndex i = 0; i < n; ++i) measure[at(j)] += s(i, j);
  }
  const auto change = [&](GlobalIndex i, int by) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (s(i, j) == 0 || state[at(j)] != undecided) continue;
      measure[at(j)] += by;
      since[at(j)] = now++;
    }
  };
  while (true) {
    GlobalIndex best = -1;
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] != undecided || measure[at(i)] == 0) continue;
      if (best < 0 || measure[at(i)] > measure[at(best)] ||
          (measure[at(i)] == measure[at(best)] && since[at(i)] < since[at(best)])) {
        best = i;
      }
    }
    if (best < 0) return state;
    state[at(best)] = coarse;
    for (GlobalIndex j = 0; j < n; ++j) {
      if (s(j, best) == 0 || state[at(j)] != undecided) continue;
      state[at(j)] = fine;
      change(j, 1);
    }
    change(best, -1);
  }
}

inline std::vector<int> all_undecided(const DenseMatrix& A) {
  return std::vector<int>(static_cast<std::size_t>(A.rows()), undecided);
}

/// The second pass as Ruge and Stüben state it; undecided points are passed over.
inline std::vector<int> reference_second_pass(const Dense<int>& s, std::vector<int> state) {
  const GlobalIndex n = s.rows();
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  const auto in_common = [&](GlobalIndex i, GlobalIndex j) {
    for (GlobalIndex c = 0; c < n; ++c) {
      if (state[at(c)] == coarse && s(i, c) == 1 && s(j, c) == 1) return true;
    }
    return false;
  };
  for (GlobalIndex i = 0; i < n; ++i) {
    if (state[at(i)] != fine) continue;
    GlobalIndex added = -1;
    for (GlobalIndex j = 0; j < n; ++j) {
      if (s(i, j) == 0 || state[at(j)] != fine || in_common(i, j)) continue;
      state[at(j)] = coarse;
      if (added < 0) {
        added = j;
        continue;
      }
      state[at(j)] = state[at(added)] = fine;
      state[at(i)] = coarse;
      break;
    }
  }
  return state;
}

/// The first pass where points stand in a line by measure and are taken from its end. One whose
/// measure changes swaps places with the last of its measure, or the first where it falls.
inline std::vector<int> reference_pass_in_line(const Dense<int>& s,
                                               const std::vector<int>& influence = {}) {
  const auto n = static_cast<std::size_t>(s.rows());
  const auto depends = [&](std::size_t i, std::size_t j) {
    return s(static_cast<GlobalIndex>(i), static_cast<GlobalIndex>(j)) == 1;
  };
  std::vector<int> measure(n, 0), state(n, undecided);
  std::vector<std::size_t> line;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) measure[j] += depends(i, j) ? 1 : 0;
    if (!influence.empty()) measure[j] += influence[j];
    if (measure[j] == 0) state[j] = fine;
    line.push_back(j);
  }
  std::stable_sort(line.begin(), line.end(),
                   [&](std::size_t a, std::size_t b) { return measure[a] < measure[b]; });
  const auto change = [&](std::size_t k, int by) {
    const auto same = [&](std::size_t j) { return measure[j] == measure[k]; };
    const auto place = std::find(line.begin(), line.end(), k);
    const auto edge = by < 0 ? std::find_if(line.begin(), line.end(), same)
                             : std::find_if(line.rbegin(), line.rend(), same).base() - 1;
    std::iter_swap(place, edge);
    measure[k] += by;
  };
  while (!line.empty() && measure[line.back()] > 0) {
    const std::size_t i = line.back();
    line.pop_back();
    if (state[i] != undecided) continue;
    state[i] = coarse;
    std::vector<std::size_t> served;
    for (std::size_t j = 0; j < n; ++j) {
      if (depends(j, i) && state[j] == undecided) served.push_back(j);
    }
    for (const std::size_t j : served) state[j] = fine;
    for (const std::size_t j : served) {
      for (std::size_t k = 0; k < n; ++k) {
        if (depends(j, k) && state[k] == undecided) change(k, 1);
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (depends(i, k) && state[k] == undecided) change(k, -1);
    }
  }
  std::replace(state.begin(), state.end(), int{undecided}, int{fine});
  return state;
}

inline std::vector<int> reference_ruge_stueben(const Dense<int>& s) {
  return reference_second_pass(s, reference_pass_in_line(s));
}

/// What HMIS and Falgout begin with on a rank's block: the points that depend on nothing, of other
/// ranks either, are fine.
inline std::vector<int> block_start(const Dense<int>& s, const matrix::Layout& layout) {
  const auto all = without_independent(s, std::vector<int>(static_cast<std::size_t>(s.rows()), 0));
  const auto first = all.begin() + (layout.begin() - layout.first());
  return {first, first + layout.n_local()};
}

/// The strong dependences among the rows of one rank, or all where the layout has one.
inline Dense<int> own_block(const Dense<int>& s, const matrix::Layout& layout) {
  Dense<int> block(layout.n_local(), layout.n_local());
  for (LocalIndex i = 0; i < layout.n_local(); ++i) {
    for (LocalIndex j = 0; j < layout.n_local(); ++j) {
      block(i, j) = s(layout.to_global(i) - layout.first(), layout.to_global(j) - layout.first());
    }
  }
  return block;
}

/// Expects two fine points of which one depends on the other to depend on a coarse point both, but
/// where the other depends on nothing.
inline void expect_common_coarse_points(const Dense<int>& s, const std::vector<int>& state,
                                        const std::string& what) {
  const auto is_coarse = [&](GlobalIndex i) {
    return state[static_cast<std::size_t>(i)] == coarse;
  };
  for (GlobalIndex i = 0; i < s.rows(); ++i) {
    for (GlobalIndex j = 0; j < s.cols(); ++j) {
      if (s(i, j) == 0 || is_coarse(i) || is_coarse(j) || !depends_on_any(s, j)) continue;
      bool found = false;
      for (GlobalIndex c = 0; c < s.cols(); ++c) {
        found = found || (is_coarse(c) && s(i, c) == 1 && s(j, c) == 1);
      }
      EXPECT_TRUE(found) << what << ", points " << i << " and " << j;
    }
  }
}

}  // namespace nodewise::test::coarsening
