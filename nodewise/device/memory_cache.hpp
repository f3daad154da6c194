// Pieces of a card's memory that serve again: a card gives and takes them slowly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace nodewise::device {

/// The bookkeeping of pieces that are in use, and of those that are kept for the next who asks for
/// about as much. Both together are never more than has been in use at once. Not to be shared by
/// threads.
class MemoryCache {
 public:
  struct Piece {
    int device;
    void* memory;
    std::size_t bytes;
  };

  /// What is asked of a card for so many bytes: up to an eighth more, so that pieces are of few
  /// sizes.
  static std::size_t rounded(std::size_t bytes) {
    std::size_t step = 512;
    while (step * 16 <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
  }

  /// A kept piece of rounded() bytes, which is in use from now on; null: there is none.
  void* take(int device, std::size_t bytes) {
    const auto found = kept_.find({device, bytes});
    if (found == kept_.end()) return nullptr;
    void* const memory = found->second;
    kept_.erase(found);
    kept_bytes_ -= bytes;
    note_use(bytes);
    return memory;
  }
  /// A new piece is in use.
  void note_use(std::size_t bytes) {
    used_bytes_ += bytes;
    most_bytes_ = std::max(most_bytes_, used_bytes_);
  }
  /// Keeps a piece that was in use.
  void keep(const Piece& piece) {
    used_bytes_ -= piece.bytes;
    kept_.emplace(Key{piece.device, piece.bytes}, piece.memory);
    kept_bytes_ += piece.bytes;
  }
  /// The next piece to be given back, the largest, where more are there than have been in use at
  /// once, or `bytes` more are wanted; or where `all` are to go.
  std::optional<Piece> surplus(std::size_t bytes = 0, bool all = false) {
    if (kept_.empty()) return {};
    if (!all && used_bytes_ + kept_bytes_ + bytes <= std::max(most_bytes_, used_bytes_ + bytes)) {
      return {};
    }
    const auto largest = std::max_element(
        kept_.begin(), kept_.end(),
        [](const auto& a, const auto& b) { return a.first.bytes < b.first.bytes; });
    const Piece piece = {largest->first.device, largest->second, largest->first.bytes};
    kept_.erase(largest);
    kept_bytes_ -= piece.bytes;
    return piece;
  }
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Key {
    int device;
    std::size_t bytes;
    friend bool operator<(const Key& a, const Key& b) {
      return a.device != b.device ? a.device < b.device : a.bytes < b.bytes;
    }
  };

  std::multimap<Key, void*> kept_;
  std::size_t kept_bytes_ = 0, used_bytes_ = 0, most_bytes_ = 0;
};

}  // namespace nodewise::device
