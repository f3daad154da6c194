// Runs GoogleTest on every rank of an MPI program.
//
// All ranks run the same tests in the same order and meet after each one. A test that fails on any
// rank fails on rank 0 too, whose output and exit code are therefore those of the whole run. Rank 0
// prints the usual output; the others print only their failures, with their rank in front.
//
// An ASSERT that fails on one rank leaves the test there and may leave the others waiting for a
// message that will never come. Use EXPECT between the first and the last communication of a
// test, or make the condition the same on every rank (mpi::agree, a reduction) before asserting. If
// it happens all the same, the rank that left says so after a while and ends the run.
//
// --expect-ranks=N fails the run unless there are exactly N ranks: a wrong launcher would start N
// programs of one rank each, and all would pass.
// --only=comm,mpi and --without=base,kernels choose tests by the beginnings of their files' names.
// --patience=N is for how many seconds a rank that has failed waits for the others, else 60.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define NODEWISE_TESTS_CHECK_LEAKS
#endif
#endif

#include "support.hpp"

namespace {

struct Outcome {
  int failed;
  int name_hash;
};

int hash_name(std::string_view name) {
  std::uint32_t h = 2166136261U;  // FNV-1a
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<int>(h >> 1);
}

std::string full_name(const testing::TestInfo& info) {
  return std::string(info.test_suite_name()) + "." + info.name();
}

// Prints this rank's failures in one write, so that the lines of two ranks do not mix.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& info) override { test_ = full_name(info); }
  void OnTestEnd(const testing::TestInfo&) override { test_ = "outside a test"; }

  // GoogleTest holds its lock here, so the current test cannot be asked for.
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    std::ostringstream out;
    out << "[rank " << rank_ << "] " << test_ << ": "
        << (part.file_name() != nullptr ? part.file_name() : "unknown file") << ":"
        << part.line_number() << ": Failure\n"
        << part.message() << "\n";
    std::cout << out.str() << std::flush;
  }

 private:
  int rank_;
  std::string test_ = "outside a test";
};

// Makes all ranks meet after every test and learn whether it failed anywhere.
class Rendezvous : public testing::EmptyTestEventListener {
 public:
  Rendezvous(MPI_Comm comm, std::chrono::seconds patience) : comm_(comm), patience_(patience) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    const Outcome mine{info.result()->Failed() ? 1 : 0, hash_name(full_name(info))};
    std::vector<Outcome> all(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&mine, 2, MPI_INT, all.data(), 2, MPI_INT, comm_, &request);
    wait(request, info, mine.failed != 0);
    std::string failed;
    for (int r = 0; r < size_; ++r) {
      const Outcome& other = all[static_cast<std::size_t>(r)];
      if (other.name_hash != mine.name_hash)
        give_up("rank " + std::to_string(r) + " runs another test than " + full_name(info));
      if (other.failed != 0) failed += " " + std::to_string(r);
    }
    if (rank_ == 0 && mine.failed == 0 && !failed.empty()) {
      ADD_FAILURE() << "failed on rank" << failed;
    }
  }

 private:
  // Polls with sleeps: there are more ranks than cores. A rank that passed waits for ever (CTest
  // has a timeout), one that failed only `patience_`, since it is likely that it left the others
  // alone.
  void wait(MPI_Request& request, const testing::TestInfo& info, bool failed_here) const {
    const auto start = std::chrono::steady_clock::now();
    auto pause = std::chrono::microseconds(10);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(2000));
      if (failed_here && std::chrono::steady_clock::now() - start > patience_) {
        give_up(full_name(info) + " failed here, and other ranks are still in it after " +
                std::to_string(patience_.count()) +
                " seconds, probably waiting for a message of this rank");
      }
    }
  }

  [[noreturn]] void give_up(const std::string& why) const {
    std::cout << "[rank " + std::to_string(rank_) + "] " + why + "; the run ends\n" << std::flush;
    MPI_Abort(comm_, 3);
    std::abort();
  }

  MPI_Comm comm_;
  std::chrono::seconds patience_;
  int rank_ = 0;
  int size_ = 1;
};

void set_up_listeners(MPI_Comm comm, int rank, std::chrono::seconds patience) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new FailurePrinter(rank));
  }
  listeners.Append(new Rendezvous(comm, patience));  // appended last, so its OnTestEnd comes first
}

// The text behind `flag`, which ends in '=', or nothing.
std::string_view value_of(std::string_view flag, int argc, char** argv) {
  std::string_view value;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument.starts_with(flag)) value = argument.substr(flag.size());
  }
  return value;
}

// The value of --expect-ranks, 0 where it is not given, -1 where it is no number.
int expected_ranks(int argc, char** argv) {
  const std::string_view text = value_of("--expect-ranks=", argc, argv);
  if (text.empty()) return 0;
  const int value = std::atoi(text.data());
  return value > 0 ? value : -1;
}

std::chrono::seconds patience(int argc, char** argv) {
  const std::string_view text = value_of("--patience=", argc, argv);
  return std::chrono::seconds(text.empty() ? 60 : std::atoi(text.data()));
}

// Whether the name of a test's file begins with one of the words, which have commas between them.
bool file_begins_with(std::string_view words, const testing::TestInfo& info) {
  std::string_view file = info.file();
  file.remove_prefix(file.rfind('/') + 1);
  while (!words.empty()) {
    const std::size_t length = std::min(words.find(','), words.size());
    if (file.starts_with(words.substr(0, length))) return true;
    words.remove_prefix(std::min(length + 1, words.size()));
  }
  return false;
}

// Leaves out the tests that --only and --without exclude, besides those that --gtest_filter does.
void choose_by_file(std::string_view only, std::string_view without) {
  std::string& filter = testing::GTEST_FLAG(filter);
  char mark = filter.find('-') == std::string::npos ? '-' : ':';
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  for (int s = 0; s < tests.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *tests.GetTestSuite(s);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& info = *suite.GetTestInfo(k);
      if ((only.empty() || file_begins_with(only, info)) && !file_begins_with(without, info))
        continue;
      filter += mark + full_name(info);
      mark = ':';
    }
  }
}

// CTest's SKIP_RETURN_CODE, so that a run that tested nothing is not listed as passed.
constexpr int exit_code_skipped = 77;

bool all_skipped() {
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  return tests.skipped_test_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
}

int run(int rank, int size, int expected, std::chrono::seconds patience) {
  if (expected != 0 && expected != size) {
    if (rank == 0) {
      std::cout << "error: there are " << size << " ranks, --expect-ranks says " << expected
                << "\n";
    }
    return 2;
  }
  if (testing::GTEST_FLAG(list_tests) && rank != 0) return 0;
  if (rank == 0) std::cout << "running on " << size << (size == 1 ? " rank\n" : " ranks\n");
  MPI_Bcast(&testing::GTEST_FLAG(random_seed), 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;  // apart from all that tests send
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set_up_listeners(comm, rank, patience);
  nodewise::test::test_comm();
  int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0 &&
      !testing::GTEST_FLAG(list_tests)) {
    if (rank == 0) std::cout << "error: no test matches\n";
    failed = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_LOR, comm);
  nodewise::test::release_test_comm();
  MPI_Comm_free(&comm);
  return failed == 0 && all_skipped() ? exit_code_skipped : failed;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
#ifdef NODEWISE_TESTS_CHECK_LEAKS
  __lsan_disable();  // modules that MPI tries and unloads again leak without a name
#endif
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#ifdef NODEWISE_TESTS_CHECK_LEAKS
  __lsan_enable();
#endif
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  choose_by_file(value_of("--only=", argc, argv), value_of("--without=", argc, argv));
  const int status = run(rank, size, expected_ranks(argc, argv), patience(argc, argv));
#ifdef NODEWISE_TESTS_CHECK_LEAKS
  // Not at exit: by then the MPI library has unloaded its modules, and what they leak has no name
  // that tests/lsan.supp could list.
  __lsan_do_leak_check();
#endif
  MPI_Finalize();
  return status;
}
