#include "nodewise/base/parallel.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "nodewise/base/error.hpp"
#include "nodewise/base/thread_start.hpp"

namespace nodewise::parallel {

namespace {

int n_threads = 1;

constexpr std::size_t least_work = 8192;

/// Calls some of the parts, and keeps what they throw.
struct Loop {
  void* context;
  void (*call)(void*, int);
  int parts;
  std::array<std::exception_ptr, max_threads> thrown;

  void take(int part) noexcept {
    try {
      call(context, part);
    } catch (...) {
      thrown[static_cast<std::size_t>(part)] = std::current_exception();
    }
  }
  void rethrow() const {
    for (int part = 0; part < parts; ++part) {
      const auto& error = thrown[static_cast<std::size_t>(part)];
      if (error) std::rethrow_exception(error);
    }
  }
};

/// The threads that work while another one talks. One of them leads: the loops that it comes to are
/// for all. Those that wait sleep.
class Team {
 public:
  /// The leader's. So many members, the leader among them.
  void open(int members) { members_ = members; }
  void run(Loop& loop) {
    loop_ = &loop;
    left_.store(members_ - 1, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    take(0);
    for (int left = left_.load(std::memory_order_acquire); left > 0;
         left = left_.load(std::memory_order_acquire)) {
      left_.wait(left, std::memory_order_acquire);
    }
  }
  void close() {
    loop_ = nullptr;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  int members() const { return members_; }

  /// Another's, from 1 on: takes its parts of every loop until the team is closed.
  void help(int member) {
    for (std::uint32_t seen = 0;; ++seen) {
      round_.wait(seen, std::memory_order_acquire);
      if (loop_ == nullptr) return;
      take(member);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
    }
  }

 private:
  void take(int member) {
    for (int part = member; part < loop_->parts; part += members_) loop_->take(part);
  }

  int members_ = 1;
  Loop* loop_ = nullptr;
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<int> left_ = 0;  // members that are not done with the loop
};

/// Of the thread that leads one.
thread_local Team* led = nullptr;
/// Of the thread that talks meanwhile: its loops are its own.
thread_local bool talks = false;

/// What threads call before their first loop, and how many such calls were set.
void (*thread_start)(int number) noexcept = nullptr;
int start_round = 0;
/// The last that this thread has called.
struct Started {
  int round = 0, number = 0;
};
thread_local Started started;

#ifdef _OPENMP
/// What each thread of a region begins with. One that is inside another has one thread, whose
/// number is not its own.
void start_thread() {
  if (thread_start == nullptr || omp_get_level() != 1) return;
  const int number = omp_get_thread_num();
  if (started.round == start_round && started.number == number) return;
  started = {start_round, number};
  thread_start(number);
}
#endif

#ifdef _OPENMP
constexpr bool with_openmp = true;
#else
constexpr bool with_openmp = false;
#endif

}  // namespace

int threads() noexcept {
  return n_threads;
}

bool available() noexcept {
  return with_openmp;
}

void set_threads(int n) {
  if (n < 1 || n > max_threads) {
    throw Error(
        ErrorCode::invalid_argument,
        "threads: " + std::to_string(n) + " is not from 1 to " + std::to_string(max_threads));
  }
  if (n > 1 && !with_openmp) {
    throw Error(ErrorCode::invalid_argument,
                "threads: this library was built without OpenMP; start more ranks instead");
  }
  n_threads = n;
}

void set_thread_start(void (*start)(int number) noexcept) noexcept {
  thread_start = start;
  ++start_round;
}

namespace {

int parts_of(std::size_t work, int at_hand) noexcept {
  if (at_hand == 1) return 1;
  const auto worth =
      static_cast<int>(std::min(work / least_work, static_cast<std::size_t>(max_threads)));
  return std::clamp(worth, 1, at_hand);
}

}  // namespace

int parts_of(std::size_t work) noexcept {
  if (talks) return 1;
  return parts_of(work, led != nullptr ? led->members() : n_threads);
}

int parts_on_all_threads(std::size_t work) noexcept {
  return parts_of(work, n_threads);
}

void detail::run(int parts, void* context, void (*call)(void*, int)) {
  Loop loop = {context, call, parts, {}};
  if (led != nullptr) {
    led->run(loop);
    return loop.rethrow();
  }
#ifdef _OPENMP
  // All threads of the rank, whether there is a part for each or not: GNU's library ends those that
  // a region has no use for, and begins them anew for the next, which takes longer than most loops.
  // Never more than the rank was given: they would wait busily ever after.
#pragma omp parallel num_threads(n_threads)
  {
    start_thread();
#pragma omp for schedule(static, 1) nowait
    for (int part = 0; part < parts; ++part) loop.take(part);
  }
#else
  for (int part = 0; part < parts; ++part) loop.take(part);
#endif
  loop.rethrow();
}

void detail::beside(void* talk_context, void (*talk)(void*), void* work_context,
                    void (*work)(void*)) {
  std::exception_ptr of_talk, of_work;
  const auto caught = [](std::exception_ptr& error, void* context, void (*call)(void*)) {
    try {
      call(context);
    } catch (...) {
      error = std::current_exception();
    }
  };
#ifdef _OPENMP
  Team team;
  std::atomic<bool> talked = false;
#pragma omp parallel num_threads(n_threads)
  {
    start_thread();
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    if (thread == 0) {
      talks = true;
      caught(of_talk, talk_context, talk);
      talks = false;
      talked.store(true, std::memory_order_release);
      talked.notify_all();
    }
    if (thread == 1) {
      team.open(threads - 1);
      led = &team;
    }
    if (thread == 1 || threads == 1) caught(of_work, work_context, work);
    if (thread == 1) {
      led = nullptr;
      team.close();
    }
    if (thread > 1) team.help(thread - 1);
    // Asleep: at the end of the region they would wait busily.
    if (thread > 0) talked.wait(false, std::memory_order_acquire);
  }
#else
  caught(of_talk, talk_context, talk);
  caught(of_work, work_context, work);
#endif
  if (of_work) std::rethrow_exception(of_work);
  if (of_talk) std::rethrow_exception(of_talk);
}

}  // namespace nodewise::parallel
