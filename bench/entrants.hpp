// Who takes part in the comparison with other libraries, and with what.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"

namespace nodewise::bench {

struct Entrant {
  std::string library;
  std::string choices;  ///< in words
  std::function<std::unique_ptr<Peer>(const System&)> make;
};

/// Local. Those of every library that is here, of only the libraries named if any are. With several
/// unknowns a point, each library that knows of such is also told how many.
std::vector<Entrant> all_entrants(const std::vector<std::string>& libraries, int unknowns);

}  // namespace nodewise::bench
