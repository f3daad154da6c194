#include "nodewise/mpi/ledger.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <span>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

Ledger::Ledger() : last_(Clock::now()) {}

void Ledger::charge() noexcept {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  (communicating_ > 0 ? current().communicating : current().computing) += seconds;
  last_ = now;
}

std::size_t Ledger::find_or_add(std::string_view operation, int level) {
  const auto found = std::find_if(accounts_.begin(), accounts_.end(), [&](const Account& account) {
    return account.level == level && account.operation == operation;
  });
  if (found != accounts_.end()) return static_cast<std::size_t>(found - accounts_.begin());
  accounts_.push_back({.operation = std::string(operation), .level = level, .counts = {}});
  return accounts_.size() - 1;
}

std::vector<Account> Ledger::accounts() {
  charge();
  std::vector<Account> used;
  for (const Account& account : accounts_) {
    const Counts& c = account.counts;
    const bool is_used = c.runs + c.messages() + c.collectives + c.waits > 0 ||
                         c.communicating > 0 || c.computing > 0;
    if (is_used) used.push_back(account);
  }
  return used;
}

void Ledger::clear() noexcept {
  for (Account& account : accounts_) account.counts = {};
  last_ = Clock::now();
}

Scope::Scope(const Comm& comm, std::string_view operation) noexcept
    : ledger_(comm.ledger()), outer_(ledger_.current_) {
  enter(operation, ledger_.accounts_[outer_].level);
}

Scope::Scope(const Comm& comm, std::string_view operation, int level) noexcept
    : ledger_(comm.ledger()), outer_(ledger_.current_) {
  enter(operation, level);
}

void Scope::enter(std::string_view operation, int level) noexcept {
  ledger_.charge();
  try {
    ledger_.current_ = ledger_.find_or_add(operation, level);
  } catch (const std::bad_alloc&) {  // other ranks go on, so this one has to
  }
  ++ledger_.current().runs;
}

Scope::~Scope() {
  ledger_.charge();
  ledger_.current_ = outer_;
}

Communicating::Communicating(const Comm& comm) noexcept : ledger_(comm.ledger()) {
  if (ledger_.communicating_ == 0) ledger_.charge();
  ++ledger_.communicating_;
}

Communicating::~Communicating() {
  if (ledger_.communicating_ == 1) ledger_.charge();
  --ledger_.communicating_;
}

CollectiveCall::CollectiveCall(const Comm& comm) noexcept : Communicating(comm) {
  comm.ledger().count_collective();
  comm.ledger().count_waits(tree_depth(comm.topology().n_nodes()));
}

int tree_depth(int n_nodes) noexcept {
  return n_nodes > 1 ? std::bit_width(static_cast<unsigned>(n_nodes - 1)) : 0;
}

namespace {

/// The names of the accounts that are not in `known`, as text: level, operation, and so on, each
/// ended by a zero byte.
std::string missing_names(std::span<const Account> accounts, std::span<const SharedAccount> known) {
  std::string text;
  for (const Account& account : accounts) {
    const auto is_same = [&](const SharedAccount& other) {
      return other.level == account.level && other.operation == account.operation;
    };
    if (std::any_of(known.begin(), known.end(), is_same)) continue;
    text += std::to_string(account.level) + '\0' + account.operation + '\0';
  }
  return text;
}

void append_names(std::string_view text, std::vector<SharedAccount>& known) {
  const auto take = [&text] {
    const std::string word(text.substr(0, text.find('\0')));
    text.remove_prefix(word.size() + 1);
    return word;
  };
  while (!text.empty()) {
    const int level = std::stoi(take());
    known.push_back({.operation = take(), .level = level, .sum = {}, .max = {}});
  }
}

/// The names that any rank has, in the order of the lowest rank that has them.
std::vector<SharedAccount> union_of_names(const Comm& comm, std::span<const Account> mine) {
  std::vector<SharedAccount> known;
  while (true) {
    const std::string missing = collectively(comm, [&] { return missing_names(mine, known); });
    const int source = min(comm, missing.empty() ? comm.size() : comm.rank());
    if (source == comm.size()) return known;
    const std::string names = broadcast(comm, missing, source);
    collectively(comm, [&] { append_names(names, known); });
  }
}

constexpr std::size_t n_whole = 9;
constexpr std::size_t n_seconds = 2;

std::array<std::int64_t*, n_whole> whole_numbers(Counts& c) {
  return {&c.runs,          &c.messages_on_node, &c.messages_on_domain, &c.messages_off_node,
          &c.bytes_on_node, &c.bytes_on_domain,  &c.bytes_off_node,     &c.collectives,
          &c.waits};
}

std::array<double*, n_seconds> seconds(Counts& c) {
  return {&c.communicating, &c.computing};
}

/// This rank's counts of each shared account.
std::vector<Counts> in_order_of(std::span<const SharedAccount> shared,
                                std::span<const Account> mine) {
  std::vector<Counts> counts(shared.size());
  for (std::size_t a = 0; a < shared.size(); ++a) {
    for (const Account& account : mine) {
      const SharedAccount& wanted = shared[a];
      if (account.level == wanted.level && account.operation == wanted.operation) {
        counts[a] = account.counts;
      }
    }
  }
  return counts;
}

/// Both begin as this rank's numbers.
template <class T>
void reduce(const Comm& comm, std::span<T> sum, std::span<T> largest) {
  sum_in_place(comm, sum);
  max_in_place(comm, largest);
}

}  // namespace

Counts& Counts::operator+=(const Counts& more) {
  runs += more.runs;
  messages_on_node += more.messages_on_node;
  messages_on_domain += more.messages_on_domain;
  messages_off_node += more.messages_off_node;
  bytes_on_node += more.bytes_on_node;
  bytes_on_domain += more.bytes_on_domain;
  bytes_off_node += more.bytes_off_node;
  collectives += more.collectives;
  waits += more.waits;
  communicating += more.communicating;
  computing += more.computing;
  return *this;
}

SharedAccount total(std::span<const SharedAccount> accounts) {
  SharedAccount sum{.operation = "together", .level = no_level, .sum = {}, .max = {}};
  for (const SharedAccount& account : accounts) {
    sum.sum += account.sum;
    sum.max.collectives += account.max.collectives;
    sum.max.waits += account.max.waits;
  }
  return sum;
}

std::vector<SharedAccount> over_ranks(const Comm& comm) {
  const auto mine = collectively(comm, [&] { return comm.ledger().accounts(); });
  std::vector<SharedAccount> shared = union_of_names(comm, mine);
  std::vector<std::int64_t> whole_sum, whole_max;
  std::vector<double> seconds_sum, seconds_max;
  collectively(comm, [&] {
    for (Counts& counts : in_order_of(shared, mine)) {
      for (const std::int64_t* number : whole_numbers(counts)) whole_sum.push_back(*number);
      for (const double* time : seconds(counts)) seconds_sum.push_back(*time);
    }
    whole_max = whole_sum;
    seconds_max = seconds_sum;
  });
  reduce<std::int64_t>(comm, whole_sum, whole_max);
  reduce<double>(comm, seconds_sum, seconds_max);
  for (std::size_t a = 0; a < shared.size(); ++a) {
    for (std::size_t k = 0; k < n_whole; ++k) {
      *whole_numbers(shared[a].sum)[k] = whole_sum[n_whole * a + k];
      *whole_numbers(shared[a].max)[k] = whole_max[n_whole * a + k];
    }
    for (std::size_t k = 0; k < n_seconds; ++k) {
      *seconds(shared[a].sum)[k] = seconds_sum[n_seconds * a + k];
      *seconds(shared[a].max)[k] = seconds_max[n_seconds * a + k];
    }
  }
  return shared;
}

}  // namespace nodewise::mpi
