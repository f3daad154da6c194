// The lists of ways to make coarse matrices sparser, of what they lose, and of where it goes. Each
// is described at the end of its own file.
#include "nodewise/amg/sparsify/sparsification_method.hpp"

namespace nodewise::amg {

namespace sparsify {

const LumpingMethod& diagonal_lumping();
const LumpingMethod& strong_lumping();
const LumpingMethod& hypre_lumping();

Family<LumpingMethod>& LumpingMethod::family() {
  static Family<LumpingMethod> methods("lumping",
                                       {&diagonal_lumping(), &strong_lumping(), &hypre_lumping()});
  return methods;
}

const DropRule& drop_entries();
const DropRule& drop_messages();

Family<DropRule>& DropRule::family() {
  static Family<DropRule> rules("drop", {&drop_entries(), &drop_messages()});
  return rules;
}

}  // namespace sparsify

const SparsificationMethod& no_sparsification();
const SparsificationMethod& non_galerkin();
const SparsificationMethod& sparse_galerkin();
const SparsificationMethod& hybrid_galerkin();
const SparsificationMethod& sparsification_by_cost();

Family<SparsificationMethod>& SparsificationMethod::family() {
  static Family<SparsificationMethod> methods(
      "sparsification", {&no_sparsification(), &non_galerkin(), &sparse_galerkin(),
                         &hybrid_galerkin(), &sparsification_by_cost()});
  return methods;
}

}  // namespace nodewise::amg
