#include "nodewise/c/packing.hpp"

#include <algorithm>
#include <cstring>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::c {

namespace {

/// Items at a time, so that the byte counts of MPI_Pack fit an int.
std::int64_t batch(std::size_t item_bytes, std::int64_t rest) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28;
  const std::size_t items =
      std::max<std::size_t>(1, most_bytes / std::max<std::size_t>(1, item_bytes));
  return std::min(rest, static_cast<std::int64_t>(items));
}

}  // namespace

ItemType::ItemType(MPI_Datatype type) : type_(type) {
  if (type == MPI_DATATYPE_NULL) {
    throw Error(ErrorCode::invalid_argument, "the datatype is MPI_DATATYPE_NULL");
  }
  int size = 0;
  mpi::check(MPI_Type_size(type, &size), "MPI_Type_size");
  bytes_ = narrow<std::size_t>(size, "size of the datatype");
  if (bytes_ == 0) throw Error(ErrorCode::invalid_argument, "the datatype has no data");
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  mpi::check(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  extent_ = extent;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  mpi::check(MPI_Type_get_true_extent(type, &true_lower, &true_extent), "MPI_Type_get_true_extent");
  end_ = true_lower + true_extent;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  mpi::check(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner),
             "MPI_Type_get_envelope");
  plain_ = combiner == MPI_COMBINER_NAMED && lower == 0 && std::cmp_equal(extent, bytes_);
}

void ItemType::pack(const void* items, std::int64_t first, std::int64_t count,
                    Array<std::byte>& packed) const {
  const auto* from = static_cast<const std::byte*>(items) + first * extent_;
  if (plain_) {
    packed.insert(packed.end(), from, from + count * extent_);
    return;
  }
  while (count > 0) {
    const std::int64_t n = batch(bytes_, count);
    const std::size_t begin = packed.size();
    packed.resize(begin + static_cast<std::size_t>(n) * bytes_);
    int position = 0;
    // Between like machines MPI packs data as they are, without anything around them.
    mpi::check(MPI_Pack(from, static_cast<int>(n), type_, packed.data() + begin,
                        static_cast<int>(packed.size() - begin), &position, MPI_COMM_SELF),
               "MPI_Pack");
    from += n * extent_;
    count -= n;
  }
}

std::int64_t ItemType::memory_of(std::int64_t count) const {
  return count == 0 ? 0 : (count - 1) * extent_ + std::max(extent_, end_);
}

void ItemType::unpack(const std::byte* packed, std::int64_t count, void* items,
                      std::int64_t first) const {
  auto* to = static_cast<std::byte*>(items) + first * extent_;
  if (plain_) {
    std::copy_n(packed, count * extent_, to);
    return;
  }
  while (count > 0) {
    const std::int64_t n = batch(bytes_, count);
    int position = 0;
    mpi::check(MPI_Unpack(packed, static_cast<int>(n * static_cast<std::int64_t>(bytes_)),
                          &position, to, static_cast<int>(n), type_, MPI_COMM_SELF),
               "MPI_Unpack");
    packed += n * static_cast<std::int64_t>(bytes_);
    to += n * extent_;
    count -= n;
  }
}

}  // namespace nodewise::c
