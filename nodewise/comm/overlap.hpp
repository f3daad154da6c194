// What a rank computes while its messages travel.
#pragma once

namespace nodewise::comm {

/// When work beside an exchange is done (Schubert, Hager, Fehske, Wellein 2011, figure 5).
enum class Overlap {
  none,      ///< behind it
  naive,     ///< between its beginning and its end; MPI carries meanwhile what it carries by itself
  task,      ///< on all threads but the first, which does nothing but exchange; with one: naive
  automatic  ///< as it is to be chosen; an exchange that is told so is naive
};

/// As options name it.
constexpr const char* overlap_name(Overlap overlap) {
  constexpr const char* names[] = {"none", "naive", "task", "automatic"};
  return names[static_cast<int>(overlap)];
}

/// Where this rank's time in exchanges and the work beside them goes, in seconds, added up (figure
/// 7 of the paper).
struct OverlapTimes {
  double gather = 0;  ///< copying what is sent, or came, to where it belongs
  double work = 0;    ///< computing beside messages, or behind them
  double wait = 0;    ///< in MPI: beginning messages, and waiting for them
};

}  // namespace nodewise::comm
