// The lists of ways to say how many ranks a level has, to put ranks in groups, and to get rows
// there. Each is described at the end of its own file.
#include "nodewise/amg/redistribute/group_method.hpp"
#include "nodewise/amg/redistribute/move_method.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"

namespace nodewise::amg {

const RedistributionMethod& no_redistribution();
const RedistributionMethod& redistribution_to_ranks();
const RedistributionMethod& redistribution_by_rows();
const RedistributionMethod& redistribution_by_model_2014();
const RedistributionMethod& redistribution_by_cost();

Family<RedistributionMethod>& RedistributionMethod::family() {
  static Family<RedistributionMethod> methods(
      "redistribution",
      {&no_redistribution(), &redistribution_to_ranks(), &redistribution_by_rows(),
       &redistribution_by_model_2014(), &redistribution_by_cost()});
  return methods;
}

const GroupMethod& groups_by_node_first();
const GroupMethod& groups_by_rank();
const GroupMethod& groups_by_socket();
const GroupMethod& groups_by_graph();

Family<GroupMethod>& GroupMethod::family() {
  static Family<GroupMethod> methods(
      "redistribution_groups",
      {&groups_by_node_first(), &groups_by_rank(), &groups_by_socket(), &groups_by_graph()});
  return methods;
}

const MoveMethod& direct_move();
const MoveMethod& collective_move();

Family<MoveMethod>& MoveMethod::family() {
  static Family<MoveMethod> methods("redistribution_move", {&direct_move(), &collective_move()});
  return methods;
}

}  // namespace nodewise::amg
