#include "nodewise/eigen/options.hpp"

namespace nodewise::eigen {

const char* to_string(Which which) noexcept {
  return which == Which::smallest ? "smallest" : "largest";
}

std::span<const Field<Options>> option_fields() {
  static const std::vector<Field<Options>> fields = {
      field("eigensolver", &Options::eigensolver,
            "how eigenpairs are found (docs/methods/eigen.md)")
          .common(),
      field("pairs", &Options::pairs, "so many eigenpairs, a multiple eigenvalue counted as often",
            1, 10000)
          .common('k'),
      field("which", &Options::which, "the end of the spectrum that they are at",
            {"smallest", "largest"})
          .common(),
      field("start_seed", &Options::start_seed,
            "of the random vectors that an eigensolver begins with", 0),
  };
  return fields;
}

}  // namespace nodewise::eigen
