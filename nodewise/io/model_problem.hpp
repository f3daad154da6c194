// What a model problem says of itself. problems/methods.cpp lists them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/io/matrix_size.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

struct GalleryOptions;

/// Collective. Makes the matrix, its rows in uniform ranges.
template <class T>
using GenerateProblem = matrix::DistMatrix<T> (*)(const std::shared_ptr<const mpi::Comm>& comm,
                                                  const GalleryOptions& options);

/// What is true of a model problem, and its functions.
struct ModelProblemFacts {
  Required<int> dimensions;  ///< of space; 0 for a problem without
  Required<int> unknowns;    ///< the rows that a point has
  Required<bool> is_symmetric;
  /// Local. Throws invalid_argument where options contradict each other or are outside their range.
  Required<void (*)(const GalleryOptions& options)> check;
  /// Its entries are counted as if there were no boundary.
  Required<MatrixSize (*)(const GalleryOptions& options)> size;
  /// Local. The coordinates of this rank's points, as many of each as it has unknowns, whose rigid
  /// body modes are the near null space; null where the constants of each unknown are.
  Required<std::vector<double> (*)(const comm::Layout& rows, const GalleryOptions& options)>
      coordinates;
  Required<GenerateProblem<double>> in_double;
  Required<GenerateProblem<float>> in_float;
  /// Local. How large it is, in words; null where `n` says it.
  std::string (*says_size)(const GalleryOptions& options) = nullptr;
  bool has_sides = false;  ///< `n` may be three numbers
  /// Local. This rank's part of the right-hand side that belongs to the problem, in the scale of
  /// its matrix; null where there is none.
  std::vector<double> (*right_hand_side)(const comm::Layout& rows,
                                         const GalleryOptions& options) = nullptr;
};

struct ModelProblem : MethodInfo, ModelProblemFacts {
  bool has_rigid_body_modes() const { return *coordinates != nullptr; }
  bool has_right_hand_side() const { return right_hand_side != nullptr; }

  template <class T>
  GenerateProblem<T> generate() const;

  /// Their list, which defines the order of help and reports.
  static Family<ModelProblem>& family();
};

template <>
inline GenerateProblem<double> ModelProblem::generate<double>() const {
  return in_double;
}
template <>
inline GenerateProblem<float> ModelProblem::generate<float>() const {
  return in_float;
}

}  // namespace nodewise::io
