#include "nodewise/mpi/collectives/transfer.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "nodewise/mpi/collectives/shape.hpp"

namespace nodewise::mpi::collectives {

void Transfer::send(const std::byte* data, Offset bytes, int to) {
  for (Offset at = 0; at < bytes; at += longest_) {
    check(MPI_Isend(data + at, static_cast<int>(std::min(longest_, bytes - at)), MPI_BYTE, to, tag_,
                    comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
    comm_.count_message(to, std::min(longest_, bytes - at));
  }
}

void Transfer::receive(std::byte* data, Offset bytes, int from) {
  for (Offset at = 0; at < bytes; at += longest_) {
    check(MPI_Irecv(data + at, static_cast<int>(std::min(longest_, bytes - at)), MPI_BYTE, from,
                    tag_, comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
}

void Transfer::wait() {
  const int status =
      MPI_Waitall(narrow<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  check(status, "MPI_Waitall");
}

Offset Blocks::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), Offset{0});
}

TypedBlocks::TypedBlocks(const Comm& comm, void* buffer, std::span<const Offset> counts,
                         std::span<const Offset> starts, MPI_Datatype type, const char* what)
    : comm_(comm.get()),
      buffer_(static_cast<std::byte*>(buffer)),
      counts_(counts.begin(), counts.end()),
      starts_(starts.begin(), starts.end()),
      type_(type) {
  const auto require = [what](bool good, const std::string& wrong) {
    if (!good) throw Error(ErrorCode::invalid_argument, std::string(what) + ": " + wrong);
  };
  require(type != MPI_DATATYPE_NULL, "the datatype is MPI_DATATYPE_NULL");
  require(std::cmp_equal(counts.size(), comm.size()) && counts.size() == starts.size(),
          "there must be one count and one start for each rank");
  const Shape shape(type, 1);
  size_ = shape.size;
  extent_ = shape.extent;
  dense_ = shape.dense;
  Offset total = 0;
  for (std::size_t r = 0; r < counts_.size(); ++r) {
    require(counts_[r] >= 0, "a count of " + std::to_string(counts_[r]));
    require(counts_[r] == 0 || buffer != nullptr, "a buffer is null");
    const Offset bytes = counts_[r] * size_;
    blocks_.bytes.push_back(bytes);
    blocks_.starts.push_back(dense_ ? starts_[r] * extent_ : total);
    total += bytes;
  }
  if (!dense_) packed_.resize(static_cast<std::size_t>(total));
}

std::byte* TypedBlocks::element(std::size_t block, Offset number) const {
  return buffer_ + (starts_[block] + number) * extent_;
}

template <class Work>
void TypedBlocks::for_pieces(std::size_t block, Work&& work) {
  if (size_ == 0) return;
  const Offset most = std::max<Offset>(1, (Offset{1} << 30) / size_);
  for (Offset done = 0; done < counts_[block]; done += most) {
    const auto n = static_cast<int>(std::min(most, counts_[block] - done));
    work(element(block, done), n, packed_.data() + blocks_.starts[block] + done * size_);
  }
}

void TypedBlocks::pack(std::size_t block) {
  if (dense_) return;
  for_pieces(block, [&](const std::byte* from, int n, std::byte* to) {
    int at = 0;
    check(MPI_Pack(from, n, type_, to, static_cast<int>(n * size_), &at, comm_), "MPI_Pack");
    if (at != n * size_) {
      throw Error(ErrorCode::mpi, "MPI_Pack does not keep to the size of the datatype");
    }
  });
}

void TypedBlocks::pack() {
  for (std::size_t block = 0; block < counts_.size(); ++block) pack(block);
}

void TypedBlocks::unpack() {
  if (dense_) return;
  for (std::size_t block = 0; block < counts_.size(); ++block) {
    for_pieces(block, [&](std::byte* to, int n, const std::byte* from) {
      int at = 0;
      check(MPI_Unpack(from, static_cast<int>(n * size_), &at, to, n, type_, comm_), "MPI_Unpack");
    });
  }
}

}  // namespace nodewise::mpi::collectives
