#include "http/server/exchange.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace recourse::http {

void Responder::Exchange::ring() {
  if (!std::exchange(is_awaited_, false) || waker_ == nullptr) return;
  waker_->wake();
}

void Responder::Exchange::answer(Response response) {
  MutexLock lock(mutex_);
  if (news_ != News::kNone) return;
  news_ = News::kAnswer;
  response_ = std::move(response);
  ring();
}

void Responder::Exchange::begin_stream(Response head) {
  MutexLock lock(mutex_);
  if (news_ != News::kNone) return;
  news_ = News::kStream;
  response_ = std::move(head);
  has_ended_ = form_ == Pieces::kNone;
  ring();
}

bool Responder::Exchange::write(std::string_view piece) {
  MutexLock lock(mutex_);
  if (has_ended_ || is_overrun_ || is_abandoned_ || waker_ == nullptr) return false;
  // An empty chunk would end the stream.
  if (piece.empty()) return true;
  if (waiting_.size() + being_written_ + piece.size() > stream_bytes_max_) {
    is_overrun_ = true;
    // Whether it waits or writes: it may be stuck in the write that was too slow.
    is_awaited_ = true;
    ring();
    return false;
  }
  if (form_ == Pieces::kChunks) {
    fmt::format_to(std::back_inserter(waiting_), "{:x}\r\n", piece.size());
    waiting_ += piece;
    waiting_ += "\r\n";
  } else {
    waiting_ += piece;
  }
  ring();
  return true;
}

void Responder::Exchange::end_stream() {
  MutexLock lock(mutex_);
  has_ended_ = true;
  ring();
}

void Responder::Exchange::drop() {
  MutexLock lock(mutex_);
  if (news_ != News::kNone) return;
  news_ = News::kDropped;
  ring();
}

bool Responder::Exchange::is_abandoned() const {
  MutexLock lock(mutex_);
  return is_abandoned_ || waker_ == nullptr;
}

void Responder::Exchange::open(Waker& waker, Pieces form, std::size_t stream_bytes_max) {
  MutexLock lock(mutex_);
  waker_ = &waker;
  news_ = News::kNone;
  is_awaited_ = false;
  is_abandoned_ = false;
  form_ = form;
  waiting_.clear();
  being_written_ = 0;
  stream_bytes_max_ = stream_bytes_max;
  has_ended_ = false;
  is_overrun_ = false;
}

Responder::Exchange::News Responder::Exchange::news() const {
  MutexLock lock(mutex_);
  return news_;
}

Responder::Exchange::News Responder::Exchange::wait_for_news() {
  MutexLock lock(mutex_);
  is_awaited_ = news_ == News::kNone;
  return news_;
}

Response Responder::Exchange::take() {
  MutexLock lock(mutex_);
  return std::move(response_);
}

Responder::Exchange::Taken Responder::Exchange::take_pieces(std::string& out) {
  MutexLock lock(mutex_);
  out.swap(waiting_);
  being_written_ = out.size();
  is_awaited_ = out.empty() && !has_ended_ && !is_overrun_;
  return {.has_ended = has_ended_, .is_overrun = is_overrun_};
}

bool Responder::Exchange::is_overrun() const {
  MutexLock lock(mutex_);
  return is_overrun_;
}

void Responder::Exchange::abandon() {
  MutexLock lock(mutex_);
  is_abandoned_ = true;
}

void Responder::Exchange::leave() {
  MutexLock lock(mutex_);
  waker_ = nullptr;
  is_awaited_ = false;
}

}  // namespace recourse::http
