// The one list of ways to join a level to the next. Each is described at the end of its own file.
#include "nodewise/amg/options/level_method.hpp"

namespace nodewise::amg {

const LevelMethod& classical_method();
const LevelMethod& aggregation_method();
const LevelMethod& air_method();

Family<LevelMethod>& LevelMethod::family() {
  static Family<LevelMethod> methods("method",
                                     {&classical_method(), &aggregation_method(), &air_method()});
  return methods;
}

}  // namespace nodewise::amg
