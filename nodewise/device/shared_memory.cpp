// Of the host: a file in memory, which other processes open by its number in this one.
#include "nodewise/device/shared_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "nodewise/base/error.hpp"
#include "nodewise/device/queue.hpp"

namespace nodewise::device {

namespace {

/// What a handle says.
struct File {
  std::int64_t process, number, bytes;
};

[[noreturn]] void refuse(ErrorCode code, const std::string& what) {
  throw Error(code, what + ": " + std::strerror(errno));
}

std::byte* map(int file, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

template <>
SharedMemory<Host> SharedMemory<Host>::make(std::size_t n) {
  SharedMemory made;
  made.file_ = ::memfd_create("nodewise", MFD_CLOEXEC);
  if (made.file_ < 0) refuse(ErrorCode::unsupported, "no memory can be shared here");
  errno = n > detail::most_bytes ? ENOMEM : 0;
  if (errno == 0 && ::ftruncate(made.file_, static_cast<off_t>(n)) == 0) {
    made.data_ = map(made.file_, n);
  }
  if (made.data_ == nullptr) {
    refuse(ErrorCode::out_of_memory,
           "no " + std::to_string(n) + " bytes of memory to share are left");
  }
  made.bytes_ = n;
  made.is_mine_ = true;
  ++detail::allocations;
  if (detail::poisons_new_memory) std::memset(made.data_, 0xff, n);
  return made;
}

template <>
SharedMemory<Host> SharedMemory<Host>::open(const SharedHandle& handle) {
  File named{};
  std::memcpy(&named, handle.words.data(), sizeof(named));
  const std::string path =
      "/proc/" + std::to_string(named.process) + "/fd/" + std::to_string(named.number);
  SharedMemory opened;
  opened.file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened.file_ >= 0) opened.data_ = map(opened.file_, static_cast<std::size_t>(named.bytes));
  if (opened.data_ == nullptr) {
    refuse(ErrorCode::unsupported, "the memory of another process cannot be reached");
  }
  opened.bytes_ = static_cast<std::size_t>(named.bytes);
  return opened;
}

template <>
SharedHandle SharedMemory<Host>::handle() const {
  const File named = {::getpid(), file_, static_cast<std::int64_t>(bytes_)};
  SharedHandle handle;
  std::memcpy(handle.words.data(), &named, sizeof(named));
  return handle;
}

template <>
void SharedMemory<Host>::close() noexcept {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  if (file_ >= 0) ::close(file_);
}

}  // namespace nodewise::device
