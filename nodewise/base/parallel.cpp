#include "nodewise/base/parallel.hpp"

#include <exception>
#include <string>

#include "nodewise/base/error.hpp"

namespace nodewise::parallel {

namespace {

int n_threads = 1;

constexpr std::size_t least_work = 8192;

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

int parts_of(std::size_t work) noexcept {
  if (n_threads == 1) return 1;
  const auto worth =
      static_cast<int>(std::min(work / least_work, static_cast<std::size_t>(max_threads)));
  return std::clamp(worth, 1, n_threads);
}

void detail::run(int parts, void* context, void (*call)(void*, int)) {
  std::array<std::exception_ptr, max_threads> thrown;
#ifdef _OPENMP
  // Never more threads than the rank was given, whoever asks: they would wait busily ever after.
  const int team = std::min(parts, n_threads);
#pragma omp parallel for num_threads(team) schedule(static, 1)
#endif
  for (int part = 0; part < parts; ++part) {
    try {
      call(context, part);
    } catch (...) {
      thrown[static_cast<std::size_t>(part)] = std::current_exception();
    }
  }
  for (int part = 0; part < parts; ++part) {
    const auto& error = thrown[static_cast<std::size_t>(part)];
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace nodewise::parallel
