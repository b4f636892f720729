// A notice on its way out, shared by the channels that get it. It is made fit to be sent when the
// first of them asks, on a thread of the dispatcher's: whoever fired it does not pay for masking.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "notify/masking.h"
#include "notify/notice.h"

namespace recourse::notify {

// Safe to use from any thread.
class Outgoing {
 public:
  Outgoing(Notice notice, std::shared_ptr<const Masker> masker)
      : raw_(std::move(notice)), masker_(std::move(masker)) {}

  // As it was fired; not for anyone outside.
  [[nodiscard]] const Notice& raw() const { return raw_; }
  [[nodiscard]] const Notice& fit() const {
    std::call_once(once_, [this] { fit_ = fit_to_send(raw_, *masker_); });
    return fit_;
  }

 private:
  const Notice raw_;
  const std::shared_ptr<const Masker> masker_;
  mutable std::once_flag once_;
  mutable Notice fit_;
};

}  // namespace recourse::notify
