// Text written by all ranks in sequence, each formatting its own part in bounded memory.
#pragma once

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::io {

/// Collects text and passes it on in pieces. Local.
class TextSink {
 public:
  explicit TextSink(std::function<void(std::string_view)> pass_on) : pass_on_(std::move(pass_on)) {
    buffer_.resize(piece_bytes);
  }
  void put(char c) {
    make_room(1);
    buffer_[used_++] = c;
  }
  void put(std::string_view text) {
    for (const char c : text) put(c);
  }
  /// Whole numbers in decimal, others in the shortest form that reads back as the same number.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void put_number(Number value) {
    make_room(longest_number);
    char* begin = buffer_.data() + used_;
    used_ +=
        static_cast<std::size_t>(std::to_chars(begin, begin + longest_number, value).ptr - begin);
  }
  void flush() {
    pass_on_({buffer_.data(), used_});
    used_ = 0;
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  static constexpr std::size_t longest_number = 64;
  void make_room(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) flush();
  }

  std::function<void(std::string_view)> pass_on_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

}  // namespace nodewise::io
