// The measurements of a calibration: raw times, before anything is fitted to them.
#pragma once

#include <string>
#include <vector>

#include "nodewise/calibrate/host.hpp"
#include "nodewise/run/environment.hpp"

namespace nodewise::calibrate {

/// Every time that was taken of one thing, in seconds.
struct Repeats {
  std::vector<double> seconds;

  bool empty() const { return seconds.empty(); }
  /// NaN where there are none.
  double median() const;
  /// The time that this part of all is below, between two of them in proportion; NaN likewise.
  double quantile(double part) const;
};

/// Messages of one size.
struct SizeTimes {
  double bytes = 0;
  Repeats times;
};

/// One way from a rank to another, one message at a time.
struct PathTimes {
  std::string locality;  ///< same_socket, same_node, other_node
  std::vector<std::pair<int, int>> pairs;
  std::vector<SizeTimes> sizes;
  std::vector<Repeats> shortest;  ///< of the first size, by pair

  /// The largest median of a pair; NaN where there are none.
  double largest_latency_s() const;
};

/// One message from each of several ranks of a node at once.
struct SenderTimes {
  int senders = 0;
  double bytes = 0;
  Repeats times;
};

/// Several messages that are under way together.
struct VolumeTimes {
  int messages = 0;
  double bytes = 0;  ///< of each
  Repeats in_order;
  Repeats reversed;
};

/// How far a queue of receives would be searched where each rank sends a message to each other one.
struct QueuePositions {
  int messages = 0;  ///< that come to a rank
  /// Steps of the rank that has most, over messages^2, by repeat: 1 where the whole queue is gone
  /// through for every message, if receives are posted in the order of the senders, or reversed.
  std::vector<double> in_order, reversed;
};

/// Messages between all ranks of two nodes, without and with those of two others across the link.
struct ContentionTimes {
  int messages = 0;
  double bytes = 0;
  double link_bytes = 0;  ///< of all messages that cross the link
  Repeats alone;
  Repeats together;
};

struct AllreduceTimes {
  std::string algorithm;
  double bytes = 0;
  Repeats times;
};

struct TriadTimes {
  int threads = 0;
  double array_bytes = 0;
  Repeats times;
  /// Bytes a second of all threads: two loads and a store of an array's length, as STREAM counts.
  double bytes_per_s() const { return 3 * array_bytes / times.median(); }
};

/// Products on every rank at once.
struct SpmvTimes {
  double rows = 0;
  double nonzeros = 0;
  Repeats times;
  double s_per_flop() const { return times.median() / (2 * nonzeros); }
};

/// A message beside computing.
struct OverlapTimes {
  /// Other amounts of work beside the message.
  struct Swept {
    double work_s = 0;  ///< that the work takes alone, as reckoned
    Repeats both;
  };

  std::string direction;  ///< receive, send
  double bytes = 0;
  Repeats message, work, both;
  std::vector<Swept> sweep = {};  ///< of the largest messages alone

  /// The part of the shorter of both that the other has hidden, 0 to 1.
  double fraction() const;
};

/// The cost of a message for the processors at its ends.
struct OverheadTimes {
  std::string locality;
  Repeats send, receive;
};

/// Copies between a card and the host's memory, by some ranks of a node at once, each of so many
/// bytes.
struct CopyTimes {
  std::string direction;  ///< to_host, to_device
  int processes = 1;
  std::vector<SizeTimes> sizes;
};

struct NotMeasured {
  std::string what;
  std::string why;
};

struct Record {
  run::Environment environment;
  double seconds = 0;  ///< that all took
  Host host;           ///< that of rank 0
  std::vector<PathTimes> paths;
  std::vector<SenderTimes> injection;
  std::vector<VolumeTimes> queue;
  std::string queue_locality;
  QueuePositions positions;
  std::vector<VolumeTimes> far_volume;  ///< in order only, between nodes
  std::vector<ContentionTimes> contention;
  std::vector<AllreduceTimes> allreduce;
  std::vector<TriadTimes> triad;
  std::vector<SpmvTimes> spmv;
  std::vector<SpmvTimes> level_products;  ///< with the matrices of a hierarchy, from the finest
  std::vector<OverlapTimes> overlap;
  std::vector<OverheadTimes> overheads;
  std::string card;  ///< its name; empty where there is none
  int cards_of_a_node = 0;
  std::vector<CopyTimes> copies;
  std::vector<PathTimes> card_paths;  ///< messages from card to card
  std::vector<NotMeasured> not_measured;
};

}  // namespace nodewise::calibrate
