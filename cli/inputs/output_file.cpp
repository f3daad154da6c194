#include "cli/inputs/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/exit_code.hpp"

namespace nodewise::cli {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Failure(ExitCode::output_file, fmt::format("cannot write '{}': {}", path, why));
}

std::string name_beside(const std::string& path) {
  return fmt::format("{}.part-{}", path, static_cast<long>(getpid()));
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail(path, "it is a folder");
  // Renaming onto a device would put a file in its place.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail(path, "it is not a regular file");
  }
  const std::string probe = name_beside(path);
  const int file = open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) fail(path, std::strerror(errno));
  close(file);
  unlink(probe.c_str());
}

void write_text_file(const std::string& path, const std::string& text) {
  const std::string part = name_beside(path);
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (file == nullptr) fail(path, std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  // fclose reports what a full disk refused of the buffered rest.
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(part.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    unlink(part.c_str());
    fail(path, why);
  }
}

}  // namespace nodewise::cli
