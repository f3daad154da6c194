// What a rank computes while its messages travel.
#pragma once

namespace nodewise::comm {

/// When work beside an exchange is done (Schubert, Hager, Fehske, Wellein 2011, figure 5).
enum class Overlap {
  none,   ///< behind it
  naive,  ///< between its beginning and its end; MPI carries meanwhile what it carries by itself
  task    ///< on all threads but the first, which does nothing but exchange; with one it is naive
};

}  // namespace nodewise::comm
