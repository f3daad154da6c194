// The measurements of `nodewise calibrate`. All are collective, take their share of the stopwatch's
// time, add to the record, and say there what cannot be measured on this layout.
#pragma once

#include "nodewise/calibrate/record.hpp"
#include "nodewise/calibrate/stopwatch.hpp"

namespace nodewise::calibrate {

/// The shares of the parts in the time.
struct MeasureWeights {
  static constexpr double ping_pong = 30;
  static constexpr double injection = 12;
  static constexpr double queue = 10;
  static constexpr double positions = 1;
  static constexpr double contention = 6;
  static constexpr double overheads = 6;
  static constexpr double overlap = 10;
  static constexpr double overlap_sweep = 5;
  static constexpr double allreduce = 8;
  static constexpr double triad = 9;
  static constexpr double spmv = 9;
  static constexpr double level_products = 3;
  static constexpr double total = ping_pong + injection + queue + positions + contention +
                                  overheads + overlap + overlap_sweep + allreduce + triad + spmv +
                                  level_products;
  // Where ranks have cards (calibrate/cards).
  static constexpr double copies = 10;
  static constexpr double card_messages = 10;
};

/// Ping-pong between two ranks at a time, for each locality and size up to `largest` bytes.
void measure_ping_pong(Stopwatch& stopwatch, double largest, Record& record);
/// Ping-pong between several pairs of ranks of two nodes at once.
void measure_injection(Stopwatch& stopwatch, double largest, Record& record);
/// HighVolumePingPong (Bienz, "Reducing communication in sparse solvers", 2018, algorithm 3.1): up
/// to 10,000 messages, the same bytes in all, with receives posted in the order of the sends, and
/// reversed; then, in order and of 8 bytes each, between two nodes.
void measure_queue(Stopwatch& stopwatch, Record& record);
/// Looks which message is there first, where each rank sends one to each other (section 3.5 there).
void measure_positions(Stopwatch& stopwatch, Record& record);
/// The line of four nodes of figure 3.5 there.
void measure_contention(Stopwatch& stopwatch, Record& record);
/// Posting, and taking what has arrived.
void measure_overheads(Stopwatch& stopwatch, Record& record);
/// Whether messages move while their ranks compute (Schubert, Hager, Fehske, Wellein,
/// "Hybrid-parallel sparse matrix-vector multiplication with explicit communication overlap", 2011,
/// listing 2), receiving and sending.
void measure_overlap(Stopwatch& stopwatch, Record& record);
/// Sums over all ranks by MPI's own algorithm and by the node-aware one.
void measure_allreduce(Stopwatch& stopwatch, Record& record);
/// a = b + s c (McCalpin's STREAM) on rank 0, by threads.
void measure_triad(Stopwatch& stopwatch, Record& record);
/// Products with a 27-point matrix on every rank at once, by size.
void measure_spmv(Stopwatch& stopwatch, Record& record);
/// Products with the matrices of a 7-point problem's levels on every rank at once.
void measure_level_products(Stopwatch& stopwatch, Record& record);

}  // namespace nodewise::calibrate
