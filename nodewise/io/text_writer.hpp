// Text written by all ranks in sequence, each formatting its own part in bounded memory.
#pragma once

#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/comm.hpp"

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

/// Puts this rank's part of a section into the sink.
using FormatText = std::function<void(TextSink& sink, int section)>;

/// Collective. Writes what format(sink, section) puts into the sink on each rank, section after
/// section, in each of them in rank order. Of plain text it is called twice: the first time only
/// the length counts, for each rank must know where to begin.
void write_in_rank_order(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                         int n_sections, const FormatText& format);

}  // namespace nodewise::io
