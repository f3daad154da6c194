#include "nodewise/io/problems/holstein_hubbard.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include <fmt/format.h>

#include "nodewise/io/problems/fock_states.hpp"
#include "nodewise/io/problems/grid.hpp"

namespace nodewise::io::problems {

std::span<const Field<HolsteinHubbardOptions>> holstein_hubbard_fields() {
  using S = HolsteinHubbardOptions;
  constexpr double any = -std::numeric_limits<double>::infinity();
  static const std::vector<Field<S>> fields = {
      field("sites", &S::sites, "Sites of the ring", 2),
      field("electrons_up", &S::electrons_up, "Electrons with spin up on it", 0),
      field("electrons_down", &S::electrons_down, "Electrons with spin down on it", 0),
      field("phonons", &S::phonons, "Phonons at most, in all modes but that of the whole ring", 0),
      field("hopping", &S::hopping, "What an electron gains that goes to the next site", any),
      field("interaction", &S::interaction, "What two electrons on one site cost", any),
      field("coupling", &S::coupling, "Between electrons and phonons, in units of the frequency",
            any),
      field("frequency", &S::frequency, "What a phonon costs", any),
      field("ordering", &S::ordering,
            "Which states are numbered successively: of phonons for each of the electrons, or of "
            "electrons for each of the phonons",
            {"phonons", "electrons"}),
      field("stored_zeros", &S::stored_zeros,
            "Couplings that are zero and stored: of no mode, of the even ones, or of all",
            {"none", "even", "all"})};
  return fields;
}

namespace {

constexpr int max_sites = 30;  // bits of a state of electrons

const HolsteinHubbardOptions& own_of(const GalleryOptions& options) {
  return options.problem.options<HolsteinHubbardOptions>();
}

/// Orthonormal, but for the mode of all sites alike: cosines and sines, and the alternating one.
struct Mode {
  std::vector<double> at_site;
  bool is_even;
};

std::vector<Mode> modes_of_ring(int sites) {
  std::vector<Mode> modes;
  const double n = sites;
  const auto add = [&](bool is_even, double scale, const auto& value) {
    Mode& mode = modes.emplace_back(Mode{{}, is_even});
    for (int j = 0; j < sites; ++j) mode.at_site.push_back(scale * value(j));
  };
  for (int k = 1; 2 * k <= sites; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    if (2 * k == sites) {
      add(true, std::sqrt(1 / n), [](int j) { return j % 2 == 0 ? 1.0 : -1.0; });
    } else {
      add(true, std::sqrt(2 / n), [&](int j) { return std::cos(angle * j); });
      add(false, std::sqrt(2 / n), [&](int j) { return std::sin(angle * j); });
    }
  }
  return modes;
}

/// What a row needs to know of a state of all electrons.
struct ElectronRow {
  struct Hop {
    GlobalIndex to;
    double sign;
  };
  struct Coupling {
    std::size_t mode;
    double value;  // sum_j v(j) n_j
  };
  int pairs = 0;  // sites with two electrons
  std::vector<Hop> hops;
  std::vector<Coupling> couplings;
};

/// The states of a ring and how they are coupled. State (up, down) of the electrons has the number
/// up * n_down + down.
class Ring {
 public:
  explicit Ring(const HolsteinHubbardOptions& own)
      : own_(own),
        modes_(modes_of_ring(own.sites)),
        up_(own.sites, own.electrons_up),
        down_(own.sites, own.electrons_down),
        phonons_(own.sites - 1, own.phonons) {
    electrons_.reserve(static_cast<std::size_t>(up_.size() * down_.size()));
    for (GlobalIndex u = 0; u < up_.size(); ++u) {
      for (GlobalIndex d = 0; d < down_.size(); ++d) electrons_.push_back(electron_row(u, d));
    }
  }

  GlobalIndex n_electron_states() const { return static_cast<GlobalIndex>(electrons_.size()); }
  GlobalIndex n_rows() const { return n_electron_states() * phonons_.size(); }

  /// Entries over all rows.
  double n_entries() const {
    double diagonals_and_hops = 0, couplings = 0;
    for (const ElectronRow& row : electrons_) {
      diagonals_and_hops += 1 + static_cast<double>(row.hops.size());
      couplings += static_cast<double>(row.couplings.size());
    }
    const GlobalIndex modes = own_.sites - 1;
    const GlobalIndex raised = own_.phonons == 0 ? 0 : binomial(own_.phonons - 1 + modes, modes);
    return diagonals_and_hops * static_cast<double>(phonons_.size()) +
           couplings * 2 * static_cast<double>(raised);
  }

  /// Calls emit(column, value) for the entries of a row. `state` is room for its phonons.
  template <class Emit>
  void row(GlobalIndex i, std::vector<int>& state, const Emit& emit) const {
    const bool phonons_first = own_.ordering == StateOrdering::phonons;
    const GlobalIndex e = phonons_first ? i / phonons_.size() : i % n_electron_states();
    const GlobalIndex p = phonons_first ? i % phonons_.size() : i / n_electron_states();
    const auto column = [&](GlobalIndex electron, GlobalIndex phonon) {
      return phonons_first ? electron * phonons_.size() + phonon
                           : phonon * n_electron_states() + electron;
    };
    state.resize(modes_.size());
    phonons_.read(p, state);
    int total = 0;
    for (const int m : state) total += m;
    const ElectronRow& here = electrons_[static_cast<std::size_t>(e)];
    emit(i, own_.interaction * here.pairs + own_.frequency * total);
    for (const auto& [to, sign] : here.hops) emit(column(to, p), -own_.hopping * sign);
    for (const auto& [mode, value] : here.couplings) {
      const double factor = -own_.coupling * own_.frequency * value;
      int& m = state[mode];
      if (m > 0) {
        --m;
        emit(column(e, phonons_.number_of(state)), factor * std::sqrt(double(m + 1)));
        ++m;
      }
      if (total < own_.phonons) {
        ++m;
        emit(column(e, phonons_.number_of(state)), factor * std::sqrt(double(m)));
        --m;
      }
    }
  }

 private:
  ElectronRow electron_row(GlobalIndex u, GlobalIndex d) const {
    ElectronRow row;
    row.pairs = std::popcount(up_[u] & down_[d]);
    for (const auto& [to, sign] : up_.hops(u)) add_hop(row, to * down_.size() + d, sign);
    for (const auto& [to, sign] : down_.hops(d)) add_hop(row, u * down_.size() + to, sign);
    for (std::size_t k = 0; k < modes_.size(); ++k) {
      double sum = 0;
      for (int j = 0; j < own_.sites; ++j) {
        const double electrons = (up_[u] >> j & 1U) + (down_[d] >> j & 1U);
        sum += modes_[k].at_site[static_cast<std::size_t>(j)] * electrons;
      }
      const bool is_zero = std::abs(sum) < 1e-12;
      const bool is_kept = own_.stored_zeros == StoredZeros::all ||
                           (own_.stored_zeros == StoredZeros::even && modes_[k].is_even);
      if (!is_zero || is_kept) row.couplings.push_back({k, is_zero ? 0 : sum});
    }
    return row;
  }
  /// Two sites are joined by two bonds, which are one entry.
  static void add_hop(ElectronRow& row, GlobalIndex to, double sign) {
    for (ElectronRow::Hop& hop : row.hops) {
      if (hop.to != to) continue;
      hop.sign += sign;
      return;
    }
    row.hops.push_back({to, sign});
  }

  const HolsteinHubbardOptions& own_;
  std::vector<Mode> modes_;
  ElectronStates up_, down_;
  PhononStates phonons_;
  std::vector<ElectronRow> electrons_;
};

void check_finite(const char* name, double value) {
  if (!std::isfinite(value)) refuse_problem(fmt::format("{} is not finite", name));
}

void check_holstein_hubbard(const GalleryOptions& options) {
  const HolsteinHubbardOptions& own = own_of(options);
  if (own.sites < 2 || own.sites > max_sites) {
    refuse_problem(fmt::format("sites is {}, needs to be from 2 to {}", own.sites, max_sites));
  }
  const auto check_electrons = [&](const char* name, int electrons) {
    if (electrons < 0 || electrons > own.sites) {
      refuse_problem(
          fmt::format("{} is {}, needs to be from 0 to the {} sites", name, electrons, own.sites));
    }
  };
  check_electrons("electrons_up", own.electrons_up);
  check_electrons("electrons_down", own.electrons_down);
  if (own.phonons < 0) refuse_problem(fmt::format("phonons is {}, needs >= 0", own.phonons));
  check_finite("hopping", own.hopping);
  check_finite("interaction", own.interaction);
  check_finite("coupling", own.coupling);
  check_finite("frequency", own.frequency);
  const GlobalIndex of_electrons =
      binomial(own.sites, own.electrons_up) * binomial(own.sites, own.electrons_down);
  constexpr GlobalIndex most_of_electrons = GlobalIndex{1} << 20;  // each rank has a list of them
  if (of_electrons > most_of_electrons) {
    refuse_problem(
        fmt::format("the electrons have {} states, {} at most", of_electrons, most_of_electrons));
  }
  constexpr int most_phonons = 1000000;  // each rank has a table
  if (own.phonons > most_phonons) {
    refuse_problem(fmt::format("phonons is {}, needs <= {}", own.phonons, most_phonons));
  }
  const GlobalIndex of_phonons = binomial(own.sites - 1 + GlobalIndex{own.phonons}, own.sites - 1);
  if (of_phonons > std::numeric_limits<GlobalIndex>::max() / of_electrons) {
    throw Error(
        ErrorCode::index_overflow,
        fmt::format("problem: {} states of electrons by {} of phonons are more than indices "
                    "can count",
                    of_electrons, of_phonons));
  }
}

MatrixSize holstein_hubbard_size(const GalleryOptions& options) {
  const Ring ring(own_of(options));
  return {static_cast<double>(ring.n_rows()), ring.n_entries()};
}

std::string holstein_hubbard_in_words(const GalleryOptions& options) {
  const HolsteinHubbardOptions& own = own_of(options);
  return fmt::format("{} sites, {} + {} electrons, up to {} phonons", own.sites, own.electrons_up,
                     own.electrons_down, own.phonons);
}

template <class T>
matrix::DistMatrix<T> make_holstein_hubbard(const std::shared_ptr<const mpi::Comm>& comm,
                                            const GalleryOptions& options) {
  const Ring ring = mpi::collectively(*comm, [&] { return Ring(own_of(options)); });
  return make_problem<T>(
      comm, ring.n_rows(), [&ring, state = std::vector<int>()](GlobalIndex i, auto&& emit) mutable {
        ring.row(i, state,
                 [&](GlobalIndex column, double value) { emit(column, static_cast<T>(value)); });
      });
}

}  // namespace

const ModelProblem& holstein_hubbard_problem() {
  static const ModelProblem problem = {
      {"holstein_hubbard", "electrons and phonons on a ring; indefinite, for `bench` and `convert`",
       "Schubert, Hager, Fehske, Wellein 2011", own_options(holstein_hubbard_fields)},
      {.dimensions = 0,
       .unknowns = 1,
       .is_symmetric = true,
       .check = check_holstein_hubbard,
       .size = holstein_hubbard_size,
       .coordinates = nullptr,
       .in_double = make_holstein_hubbard<double>,
       .in_float = make_holstein_hubbard<float>,
       .says_size = holstein_hubbard_in_words}};
  return problem;
}

}  // namespace nodewise::io::problems
