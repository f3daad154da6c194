// The one list of coarsenings. Each is described at the end of its own file.
#include "nodewise/amg/coarsen/coarsening_method.hpp"

namespace nodewise::amg {

const CoarseningMethod& hmis_coarsening();
const CoarseningMethod& pmis_coarsening();
const CoarseningMethod& cljp_coarsening();
const CoarseningMethod& falgout_coarsening();
const CoarseningMethod& ruge_stueben_coarsening();
const CoarseningMethod& ruge_stueben_boundary_coarsening();
const CoarseningMethod& ruge_stueben_first_pass_coarsening();

Family<CoarseningMethod>& CoarseningMethod::family() {
  static Family<CoarseningMethod> coarsenings(
      "coarsening", {&hmis_coarsening(), &pmis_coarsening(), &cljp_coarsening(),
                     &falgout_coarsening(), &ruge_stueben_coarsening(),
                     &ruge_stueben_boundary_coarsening(), &ruge_stueben_first_pass_coarsening()});
  return coarsenings;
}

}  // namespace nodewise::amg
