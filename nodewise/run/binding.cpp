#include "nodewise/run/binding.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/parallel.hpp"
#include "nodewise/base/thread_start.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::run {

namespace {

struct BoundThreads {
  Hardware hardware;
  std::vector<int> before;                   ///< processors that the first thread could run on
  std::vector<std::vector<int>> processors;  ///< of each thread
  std::string text;
};

/// Of this process, as its threads are; null where they are not bound.
std::unique_ptr<BoundThreads> bound_threads;

/// Threads beyond those that were bound may run where the rank could.
void bind_thread(int number) noexcept {
  const auto& all = bound_threads->processors;
  const bool is_bound = std::cmp_less(number, all.size());
  try {
    bound_threads->hardware.bind_this_thread(is_bound ? all[static_cast<std::size_t>(number)]
                                                      : bound_threads->before);
  } catch (const Error&) {
    // No memory for the set: the thread stays where it is, and apply() sees it.
  }
}

/// Local. Has all threads of the rank take the places that bound_threads says.
void start_threads(int threads) {
  parallel::set_thread_start(bind_thread);
  bind_thread(0);  // which takes part in no loop where it is alone
  parallel::run(threads, [](int) {});
}

/// Local.
void lift() {
  if (!bound_threads) return;
  const int threads = parallel::threads();
  const int most = std::max(threads, static_cast<int>(bound_threads->processors.size()));
  bound_threads->processors.clear();
  parallel::set_threads(most);  // those that were bound, also where loops have fewer by now
  start_threads(most);
  parallel::set_threads(threads);
  parallel::set_thread_start(nullptr);
  bound_threads.reset();
}

/// Local. Throws where some thread is elsewhere.
void apply() {
  const auto threads = static_cast<int>(bound_threads->processors.size());
  start_threads(threads);
  parallel::run(threads, [](int part) {
    const auto& wanted = bound_threads->processors[static_cast<std::size_t>(part)];
    if (bound_threads->hardware.processors_of_this_thread() == wanted) return;
    throw Error(ErrorCode::unsupported,
                "`bind`: the system does not bind threads to the cores that they were to get");
  });
}

/// A set of processors in pieces of 64.
std::uint64_t piece_of(const std::vector<int>& processors, int piece) {
  std::uint64_t bits = 0;
  for (const int k : processors) {
    if (k / 64 == piece) bits |= std::uint64_t{1} << static_cast<unsigned>(k % 64);
  }
  return bits;
}

/// Which of this rank's processors another one may use.
enum class Shared { none, all, some };

/// Collective on `machine`. Says it of each rank; of this one that it may use all.
std::vector<Shared> compare_processors(const mpi::Comm& machine,
                                       const std::vector<int>& processors) {
  const int last = processors.empty() ? 0 : processors.back();
  const int pieces = mpi::max(machine, last) / 64 + 1;
  std::vector<char> same(static_cast<std::size_t>(machine.size()), 1), common(same.size(), 0);
  for (int piece = 0; piece < pieces; ++piece) {
    const auto mine = static_cast<std::int64_t>(piece_of(processors, piece));
    const std::vector<std::int64_t> all = mpi::gather_all(machine, mine);
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r] != mine) same[r] = 0;
      if ((all[r] & mine) != 0) common[r] = 1;
    }
  }
  std::vector<Shared> shared;
  for (std::size_t r = 0; r < same.size(); ++r) {
    shared.push_back(same[r] != 0 ? Shared::all : common[r] != 0 ? Shared::some : Shared::none);
  }
  return shared;
}

/// The cores with what this rank may use of each.
std::vector<Core> usable_cores(const BoundThreads& found) {
  std::vector<Core> cores;
  for (const Core& core : found.hardware.cores()) {
    Core usable = {core.number, core.domain, {}};
    std::set_intersection(core.processors.begin(), core.processors.end(), found.before.begin(),
                          found.before.end(), std::back_inserter(usable.processors));
    if (!usable.processors.empty()) cores.push_back(std::move(usable));
  }
  return cores;
}

/// "core 3", or "cores 0-3,6".
std::string cores_text(const std::vector<Core>& cores) {
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < cores.size();) {
    std::size_t last = first;
    while (last + 1 < cores.size() && cores[last + 1].number == cores[last].number + 1) ++last;
    runs.push_back(first == last ? std::to_string(cores[first].number)
                                 : fmt::format("{}-{}", cores[first].number, cores[last].number));
    first = last + 1;
  }
  return fmt::format("core{} {}", cores.size() == 1 ? "" : "s", fmt::join(runs, ","));
}

/// Local. Says where the threads go, given what the ranks of the machine have.
void plan(BoundThreads& found, BindChoice choice, std::span<const Shared> shared, int rank,
          std::span<const int> threads) {
  std::vector<int> wanted;
  std::size_t place = 0;  // of this rank among those that share its cores
  for (std::size_t r = 0; r < shared.size(); ++r) {
    if (shared[r] == Shared::some) {
      throw Error(ErrorCode::invalid_argument,
                  "`bind`: two ranks of a machine may use partly the same cores, which can not be "
                  "shared out; let ranks run on all cores, on the same or on different ones");
    }
    if (shared[r] == Shared::none) continue;
    if (std::cmp_equal(r, rank)) place = wanted.size();
    wanted.push_back(cores_needed(choice, threads[r]));
  }
  const std::vector<Core> usable = usable_cores(found);
  std::vector<int> domains;
  for (const Core& core : usable) domains.push_back(core.domain);
  const std::vector<std::vector<int>> dealt = deal_cores(domains, wanted);
  std::vector<Core> own;
  for (const int k : dealt[place]) {
    own.push_back(usable[static_cast<std::size_t>(k)]);
  }
  found.processors = processors_of_threads(own, choice);
  found.text = cores_text(own);
  if (choice == BindChoice::siblings) {
    found.text += fmt::format(", the first beside the second on core {}", own.front().number);
  }
}

}  // namespace

void bind_threads(const mpi::Comm& comm, BindChoice choice) {
  lift();
  if (choice == BindChoice::none) return;
  if (!Hardware::is_visible()) {
    throw Error(ErrorCode::unsupported,
                "`bind`: this build was made without hwloc and cannot bind threads to cores");
  }
  auto found = mpi::collectively(comm, [] {
    auto read = std::make_unique<BoundThreads>();
    read->before = read->hardware.processors_of_this_thread();
    return read;
  });
  const auto by_machine = mpi::Comm::create(comm.get());
  const mpi::Comm& machine = by_machine->node();
  const std::vector<Shared> shared = compare_processors(machine, found->before);
  const std::vector<int> threads = mpi::gather_all(machine, parallel::threads());
  mpi::collectively(comm, [&] { plan(*found, choice, shared, machine.rank(), threads); });
  try {
    mpi::collectively(comm, [&] {
      bound_threads = std::move(found);
      apply();
    });
  } catch (const Error&) {
    lift();
    throw;
  }
}

std::string bound_to() {
  return bound_threads ? bound_threads->text : "";
}

}  // namespace nodewise::run
