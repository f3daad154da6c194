// Electrons and lattice vibrations on a ring: the matrices of Schubert, Hager, Fehske, Wellein
// 2011.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::io::problems {

/// What is numbered successively: the states of phonons for each one of the electrons, or those of
/// electrons for each one of the phonons.
enum class StateOrdering { phonons, electrons };

/// Zeros of couplings between an electron state and a mode that are stored: none; those of modes
/// that are even around the first site; all.
enum class StoredZeros { none, even, all };

struct HolsteinHubbardOptions {
  int sites = 6;
  int electrons_up = 3, electrons_down = 3;
  int phonons = 15;        ///< at most, in all modes
  double hopping = 1;      ///< t
  double interaction = 1;  ///< U
  double coupling = 1;     ///< g
  double frequency = 1;    ///< omega
  StateOrdering ordering = StateOrdering::electrons;
  StoredZeros stored_zeros = StoredZeros::even;
};

std::span<const Field<HolsteinHubbardOptions>> holstein_hubbard_fields();

}  // namespace nodewise::io::problems
