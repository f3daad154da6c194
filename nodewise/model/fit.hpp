// The parameters of models of communication, from measured times: pure functions, without MPI.
#pragma once

#include <span>
#include <vector>

#include "nodewise/model/relative_fit.hpp"

namespace nodewise::model {

/// The time of one message.
struct Sample {
  double bytes = 0;
  double seconds = 0;
};

/// Local. One sample for each size, ascending: the median of its times. Throws invalid_argument
/// for a size that is negative or not finite and a time that is not finite or not positive.
std::vector<Sample> medians(std::span<const Sample> samples);

/// latency + bytes / rate, the postal model (Bienz, "Reducing communication in sparse solvers",
/// 2018, eq. 2.1), for messages of sizes [first_bytes, last_bytes].
struct PostalFit {
  Estimate latency_s;
  Estimate seconds_per_byte;
  double first_bytes = 0;
  double last_bytes = 0;
  double relative_error = 0;  ///< root mean square, without outliers

  /// Whether the times grow with the size at all.
  bool has_rate() const { return seconds_per_byte.value > 0; }
  /// Always positive. Where the times do not grow it is the least rate that does not contradict
  /// them, that of the upper end of the interval; infinite where that is zero, too.
  double rate_bytes_per_s() const;
  double seconds(double bytes) const { return latency_s.value + seconds_per_byte.value * bytes; }
};

/// Local. One piece for all sizes, by fit_relative() of the medians. Throws invalid_argument as
/// medians() does, and where fewer than two sizes were measured.
PostalFit fit_postal(std::span<const Sample> samples);

struct PiecewiseOptions {
  int max_pieces = 3;      ///< short, eager, rendezvous
  int sizes_of_piece = 4;  ///< the fewest sizes a piece has, at least two
  double noise = 0.02;     ///< relative errors below this are no reason for another piece
};

/// Local. fit_postal() by pieces, ascending: where one protocol of MPI ends and another begins,
/// latency and rate change. Of all partitions into 1, ..., max_pieces pieces those with the least
/// absolute relative errors are found by dynamic programming, from O(sizes^2) fits; among them the
/// one is taken whose squared errors, each capped so that no outlier makes a piece, are least
/// together with a penalty for the three parameters of another piece (Schwarz 1978). A switch lies
/// between last_bytes of a piece and first_bytes of the next. Throws as fit_postal().
std::vector<PostalFit> fit_protocols(std::span<const Sample> samples,
                                     const PiecewiseOptions& options = {});

/// The time of `messages` messages that were under way together.
struct VolumeSample {
  double messages = 0;
  double seconds = 0;
};

/// base + per_message * n + queue_search * n^2.
struct QueueFit {
  Estimate base_s;
  Estimate per_message_s;
  Estimate queue_search_s;  ///< gamma of eq. 3.1
  double relative_error = 0;
};

/// Local. The cost of searching queues, T_q = gamma n^2 (Bienz 2018, eq. 3.1). Throws
/// invalid_argument as fit_relative() does, and where fewer than three numbers of messages were
/// measured.
QueueFit fit_queue(std::span<const VolumeSample> samples);

/// The time of one message from each of `senders` ranks of a node at once.
struct InjectionSample {
  double senders = 0;
  double bytes = 0;
  double seconds = 0;
};

struct InjectionFit {
  /// Whether several senders together were slower than as many by themselves.
  bool reached = false;
  /// R_N; where it is not reached, the largest rate of all senders that the model without a limit
  /// says, and an interval without an upper end.
  Estimate bytes_per_s;
  double relative_error = 0;  ///< mean of the absolute errors
};

/// Local. R_N of the max-rate model T = latency + p s / min(R_N, p R_b) (Gropp, Olson, Samfass,
/// "Modeling MPI communication performance on SMP nodes", 2016; Bienz 2018, eq. 2.2), for a known
/// postal model of one sender. The value has the least absolute relative errors; the interval
/// is that of the likelihood ratio for such errors. Throws invalid_argument for
/// samples or parameters that are not positive and finite, and where there is no sample of more
/// than one sender.
InjectionFit fit_injection(std::span<const InjectionSample> samples, double latency_s,
                           double rate_bytes_per_s);

}  // namespace nodewise::model
