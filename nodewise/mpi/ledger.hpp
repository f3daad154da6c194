// A ledger of communication: what a rank sends and where its time goes, by operation and level.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::mpi {

class Comm;

/// The level of an operation that belongs to none.
inline constexpr int no_level = -1;

/// The distance of a message.
enum class Reach {
  domain,  ///< within a domain of a node, or within a node that is not divided
  node,    ///< from one domain of a node to another
  network
};

/// Counted messages, bytes, calls and times.
struct Counts {
  std::int64_t runs = 0;  ///< scopes entered
  std::int64_t messages_on_node = 0;
  std::int64_t messages_on_domain = 0;  ///< counted in messages_on_node too
  std::int64_t messages_off_node = 0;
  std::int64_t bytes_on_node = 0;
  std::int64_t bytes_on_domain = 0;  ///< counted in bytes_on_node too
  std::int64_t bytes_off_node = 0;
  std::int64_t collectives = 0;  ///< calls of MPI's own; the messages these send are not known
  std::int64_t waits = 0;        ///< steps with messages from or to other nodes, one after another
  double communicating = 0;      ///< seconds: packing, posting, waiting and unpacking
  double computing = 0;          ///< seconds: all the rest

  std::int64_t messages() const { return messages_on_node + messages_off_node; }
  std::int64_t bytes() const { return bytes_on_node + bytes_off_node; }
  Counts& operator+=(const Counts& more);
};

/// One operation on one level.
struct Account {
  std::string operation;  ///< empty: outside of every scope
  int level = no_level;
  Counts counts;
};

/// The books of one rank. Every Comm has one and shares it with that of its node; what sends counts
/// there, into the account of the innermost Scope. The time between two events belongs to one
/// account, so that all times add up to the time since the ledger was made or cleared. Not for
/// several threads at once. All functions are local.
class Ledger {
 public:
  Ledger();

  void count_message(Reach reach, std::int64_t bytes) noexcept {
    Counts& counts = current();
    const bool on_node = reach != Reach::network;
    (on_node ? counts.messages_on_node : counts.messages_off_node) += 1;
    (on_node ? counts.bytes_on_node : counts.bytes_off_node) += bytes;
    if (reach != Reach::domain) return;
    counts.messages_on_domain += 1;
    counts.bytes_on_domain += bytes;
  }
  void count_collective() noexcept { ++current().collectives; }
  /// Of steps that can only begin when the one before has ended: a stage of an exchange, a round of
  /// a reduction. All messages of a step are one wait, since they travel at the same time.
  void count_waits(int steps) noexcept { count_waits_since(waits_, steps); }
  /// All waits so far, whatever account they are in: the time at which a step begins that goes on
  /// beside others.
  std::int64_t waits() const noexcept { return waits_; }
  /// When such steps have ended: what else was waited for meanwhile is not counted again.
  void count_waits_since(std::int64_t began, int steps) noexcept {
    const std::int64_t more = began + steps - waits_;
    if (more <= 0) return;
    current().waits += more;
    waits_ += more;
  }

  /// The accounts used since the ledger was cleared, in the order of their first use ever.
  std::vector<Account> accounts();
  /// Begins to count from zero. Scopes that are open stay so.
  void clear() noexcept;

 private:
  friend class Scope;
  friend class Communicating;
  using Clock = std::chrono::steady_clock;

  Counts& current() noexcept { return accounts_[current_].counts; }
  /// Gives the time since the last call to the current account.
  void charge() noexcept;
  std::size_t find_or_add(std::string_view operation, int level);

  std::vector<Account> accounts_ = std::vector<Account>(1);
  std::size_t current_ = 0;
  std::int64_t waits_ = 0;
  int communicating_ = 0;  // how many Communicating there are
  Clock::time_point last_;
};

/// While it lives, what this rank sends over `comm` and the time it spends belong to an operation.
/// An inner Scope takes over until it ends. Local, and a fraction of a microsecond; throws nothing:
/// where a new account finds no memory the surrounding one goes on.
class Scope {
 public:
  /// On the level of the surrounding Scope, so that a matrix product need not know its level.
  Scope(const Comm& comm, std::string_view operation) noexcept;
  Scope(const Comm& comm, std::string_view operation, int level) noexcept;
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void enter(std::string_view operation, int level) noexcept;

  Ledger& ledger_;
  std::size_t outer_;
};

/// While it lives, the time counts as communication. May be nested.
class Communicating {
 public:
  explicit Communicating(const Comm& comm) noexcept;
  ~Communicating();
  Communicating(const Communicating&) = delete;
  Communicating& operator=(const Communicating&) = delete;

 private:
  Ledger& ledger_;
};

/// Counts a collective call of MPI, whose time is communication. Its waits are taken to be those of
/// a tree of the nodes.
class CollectiveCall : private Communicating {
 public:
  explicit CollectiveCall(const Comm& comm) noexcept;
};

/// The same operation and level on all ranks.
struct SharedAccount {
  std::string operation;
  int level = no_level;
  Counts sum;  ///< over the ranks
  Counts max;  ///< each number the largest of a rank
};

/// Local. All accounts together. Of the largest numbers of a rank only two add up: those of
/// collectives, which every rank has, and the waits, since one operation follows another.
SharedAccount total(std::span<const SharedAccount> accounts);

/// Local. How many steps of messages between nodes bring something of each of so many to all:
/// ceil(log2(n_nodes)).
int tree_depth(int n_nodes) noexcept;

/// Collective. The accounts of all ranks' ledgers, the same on every rank; ranks need not have the
/// same. A few allreduces and broadcasts, which the ledger counts in turn, but not in the result.
std::vector<SharedAccount> over_ranks(const Comm& comm);

}  // namespace nodewise::mpi
