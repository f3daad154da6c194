// The rule by which routes and transports are chosen.
#pragma once

#include <cstddef>
#include <span>

namespace nodewise::routing {

/// The least part that must be saved before a coarse model, or a trial of few rounds, is believed.
inline constexpr double least_saving = 0.1;

/// The runs of a level's exchange while its hierarchy serves one solve: some eight V(1,1) cycles,
/// each with about four of them.
inline constexpr double exchanges_of_a_solve = 30;

/// One of several ways to do the same, by its place.
struct Selection {
  std::size_t chosen = 0;
  std::size_t rival = 0;  ///< the best of the others than the first; 0 where there is none
};

/// Local. The first way stays unless another takes a tenth less than it and saves in so many uses
/// more than its price: of such the one that costs least altogether, the first of equal ones.
/// `seconds` is what a use of each takes; without `prices` nothing has one.
Selection select(std::span<const double> seconds, double uses = 1,
                 std::span<const double> prices = {});

}  // namespace nodewise::routing
