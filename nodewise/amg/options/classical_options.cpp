#include "nodewise/amg/options/classical_options.hpp"

#include <vector>

namespace nodewise::amg {

namespace {

/// A member of a base as one of the derived struct, so that both have the same fields.
template <class S, class Member, class Base>
Member S::*in(Member Base::*member) {
  return member;
}

template <class S>
std::vector<Field<S>> common_fields() {
  return {
      field("strength_threshold", in<S>(&S::strength_threshold),
            "An entry is strong when its size exceeds this fraction of the row's largest", 0.0, 1.0)
          .common(),
      field("strength_measure", in<S>(&S::strength_measure), "What counts as the size of an entry",
            {{"automatic", "opposite_sign for a symmetric matrix, absolute for another"},
             {"opposite_sign",
              "its value if its sign is opposite to the diagonal's, and nothing if not"},
             {"absolute", "its modulus"}}),
      field("max_row_sum", in<S>(&S::max_row_sum),
            "Rows whose sum exceeds this fraction of the diagonal have no strong entries; 1: off",
            0.0, 1.0),
      field("coarsening", in<S>(&S::coarsening), "How the coarse points are chosen"),
      field("aggressive_levels", in<S>(&S::aggressive_levels),
            "So many of the finest levels are coarsened twice at once, the second time by paths of "
            "two dependences, and interpolated by multipass",
            0, 100),
      field("aggressive_paths", in<S>(&S::aggressive_paths),
            "How many such paths make a dependence: with 2 fewer points are dropped than with 1", 1,
            2)
          .needing("aggressive_levels above 0",
                   [](const S& options) { return options.aggressive_levels > 0; }),
      field("interpolation", in<S>(&S::interpolation), "The formula of the prolongation"),
      field("max_interpolation_entries", in<S>(&S::max_interpolation_entries),
            "Longest row of the interpolation; 0: any length", 0),
      field("interpolation_truncation", in<S>(&S::interpolation_truncation),
            "Interpolation weights below this fraction of the row's largest are dropped", 0.0, 1.0),
      field("isolated_couplings", in<S>(&S::isolated_couplings),
            "What interpolation makes of couplings to fine points that depend on no other, whose "
            "error relaxation alone removes",
            {{"dropped", "nothing"}, {"lumped", "part of the diagonal"}}),
  };
}

}  // namespace

std::span<const Field<ClassicalOptions>> classical_fields() {
  static const std::vector<Field<ClassicalOptions>> fields = common_fields<ClassicalOptions>();
  return fields;
}

std::span<const Field<AirOptions>> air_fields() {
  using O = AirOptions;
  static const std::vector<Field<O>> fields = [] {
    std::vector<Field<O>> all = common_fields<O>();
    all.push_back(field("restriction_distance", &O::restriction_distance,
                        "Graph distance of the fine points used to build each restriction row", 1,
                        2));
    all.push_back(field("restriction_threshold", &O::restriction_threshold,
                        "Which couplings are strong for that: the modulus exceeds this fraction of "
                        "the row's largest",
                        0.0, 1.0));
    all.push_back(field("restriction_truncation", &O::restriction_truncation,
                        "Weights of that restriction below this fraction of the row's largest are "
                        "dropped",
                        0.0, 1.0));
    all.push_back(field("coarse_filter", &O::coarse_filter,
                        "Entries of coarse matrices below this fraction of the row's largest are "
                        "added to the diagonal instead; 0: none",
                        0.0, 1.0));
    return all;
  }();
  return fields;
}

}  // namespace nodewise::amg
