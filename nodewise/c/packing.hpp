// Items of an MPI datatype as bytes, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "nodewise/base/array.hpp"

namespace nodewise::c {

/// The needed facts of a datatype. Throws invalid_argument for MPI_DATATYPE_NULL.
class ItemType {
 public:
  explicit ItemType(MPI_Datatype type);

  std::size_t bytes() const { return bytes_; }  ///< of one item, packed
  /// Whether items lie in memory as they are packed.
  bool is_plain() const { return plain_; }

  /// Appends items first .. first + count of an array.
  void pack(const void* items, std::int64_t first, std::int64_t count,
            Array<std::byte>& packed) const;
  /// Writes packed items to `items`, an array of the type, from item `first` on.
  void unpack(const std::byte* packed, std::int64_t count, void* items,
              std::int64_t first = 0) const;
  /// The bytes of memory that an array of `count` items takes.
  std::int64_t memory_of(std::int64_t count) const;

 private:
  MPI_Datatype type_;
  std::size_t bytes_ = 0;
  std::int64_t extent_ = 0;
  std::int64_t end_ = 0;  // where the data of an item end in memory
  bool plain_ = false;
};

}  // namespace nodewise::c
