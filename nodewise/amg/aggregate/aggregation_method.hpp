// What a way of grouping points says of itself. methods.cpp lists them.
#pragma once

#include <cstdint>
#include <span>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

class VirtualExchanges;
struct AggregationMethod;

/// What a way of grouping points is given.
template <class T>
struct AggregationCall {
  const Choice<AggregationMethod>& method;  ///< with the options that are its own
  const matrix::DistMatrix<T>& G;           ///< the graph of points
  const Strength& strength;
  std::span<const GlobalIndex> starts;  ///< of the points of virtual ranks, if there are any
  int distance;
  int seed;
  bool both_ways;  ///< whether all strong connections are known to go both ways
};

template <class T>
using AggregateFunction = aggregate::Aggregates (*)(const AggregationCall<T>& call);

/// What making aggregates sends, as told by the reductions that were counted meanwhile.
struct AggregationMessages {
  int (*rounds)(std::int64_t collectives);
  /// Adds the exchanges over the plans of the graph of points.
  void (*exchanges)(int rounds, int distance, VirtualExchanges& exchanges);
};

struct AggregationMethod : MethodInfo {
  /// Whether it makes the same aggregates on any number of ranks; if not, each rank by itself.
  Required<bool> is_same_on_any_ranks;
  Required<Answer<AggregationMessages>> messages;
  Required<AggregateFunction<double>> in_double;
  Required<AggregateFunction<float>> in_float;
  /// Whether devices make the same aggregates (device/aggregates.hpp).
  bool runs_on_devices = false;

  template <class T>
  AggregateFunction<T> function() const;

  static Family<AggregationMethod>& family();
};

template <>
inline AggregateFunction<double> AggregationMethod::function<double>() const {
  return in_double;
}
template <>
inline AggregateFunction<float> AggregationMethod::function<float>() const {
  return in_float;
}

}  // namespace nodewise::amg
