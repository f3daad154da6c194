// What a way of joining a level to the next says of itself. methods.cpp lists them.
#pragma once

#include <string>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

struct Options;

/// The functions of a method for one type of numbers.
template <class T>
struct LevelFunctions {
  /// Collective. What joins a level to the next; like `earlier`, made of a matrix with the same
  /// rows, where there is one.
  GridTransfer<T> (*transfer)(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                              const Options& options, const GridTransfer<T>* earlier);
  /// Collective. Throws the same Error on every rank where it cannot start from what is known of
  /// the finest level; null: from anything.
  void (*check)(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                const Options& options) = nullptr;
};

/// Which steps the messages of a setup are those of: a splitting and an interpolation, or
/// aggregates and a tentative prolongator.
enum class SetupSteps { splitting, aggregation };

struct LevelMethod : MethodInfo {
  /// Whether the points of a level are some of those of the finer one, so that there are coarse
  /// points and fine ones.
  Required<bool> has_coarse_points;
  /// Whether it takes a near null space, which its levels represent.
  Required<bool> takes_near_null_space;
  /// Whether the levels below a symmetric one are symmetric, where its options allow.
  Required<bool> keeps_symmetry;
  /// Whether its setup depends on the symmetry of the matrix.
  Required<bool> asks_for_symmetry;
  /// Which of the options make another operator than a symmetric one; empty where none does.
  Required<std::string (*)(const Options& options)> asymmetry;
  Required<Answer<SetupSteps>> messages;
  Required<LevelFunctions<double>> in_double;
  Required<LevelFunctions<float>> in_float;
  /// The word of the family that an automatic interpolation stands for.
  std::string interpolation = {};
  /// Whether devices make its levels (offload/setup_levels.hpp).
  bool is_set_up_on_devices = false;

  template <class T>
  const LevelFunctions<T>& functions() const;

  static Family<LevelMethod>& family();
};

template <>
inline const LevelFunctions<double>& LevelMethod::functions<double>() const {
  return in_double;
}
template <>
inline const LevelFunctions<float>& LevelMethod::functions<float>() const {
  return in_float;
}

}  // namespace nodewise::amg
