// What has been read and not yet used: one piece of memory of a fixed size.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace recourse::http {

class ReadBuffer {
 public:
  explicit ReadBuffer(std::size_t capacity) : memory_(new char[capacity]), capacity_(capacity) {}

  [[nodiscard]] std::string_view view() const { return {memory_.get() + begin_, end_ - begin_}; }

  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Where more can be read to; what is there moves to the front first.
  std::span<char> room() {
    if (begin_ > 0) {
      std::memmove(memory_.get(), memory_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    return {memory_.get() + end_, capacity_ - end_};
  }
  void commit(std::size_t bytes) { end_ += bytes; }

 private:
  // Not a vector: nobody reads it before it is written, so nothing need be zero.
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace recourse::http
