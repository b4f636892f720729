// Keeps what became of notices in the store, where every node finds it: the thread around a
// DeliveryBook.
//
// About once a second, and only where there is something to tell, one record is written. A storm
// costs no more than so many bytes a second: after a long page it rests for longer. What a store
// that is down does not take is kept, within the book's bounds, and written later. What a killed
// process had gathered since its last page is not told here; what waits for people is told again.
//
// Safe to use from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "notify/delivery_book.h"
#include "store/records.h"

namespace recourse::notify {

struct DeliveryLogSettings {
  DeliveryBookSettings book = {};
  // How long a page can be read.
  Duration keep = std::chrono::hours(72);
  Duration write_every = std::chrono::seconds(1);
  // On the average, at most.
  std::size_t bytes_per_second = 4'096;
};

// After a page of so many bytes.
Duration rest_after(std::size_t bytes, const DeliveryLogSettings& settings);
// After so many failures in a row.
Duration rest_after_failures(int failures, const DeliveryLogSettings& settings);

class DeliveryLog {
 public:
  // All that is given must outlive it. `node` is what a reader is told of who wrote it.
  DeliveryLog(store::Records& records, UlidSource& ids, const Clock& clock, Log& log,
              DeliveryLogSettings settings, std::string node);
  // Writes what has come since the stop.
  ~DeliveryLog();
  DeliveryLog(const DeliveryLog&) = delete;
  DeliveryLog& operator=(const DeliveryLog&) = delete;

  // Never waits for the store.
  void add(const Delivery& delivery);
  // Writes all there is, for so long at most; what comes later waits for the end. Repeating is
  // harmless, from any thread.
  void stop(Duration within);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  void run();
  // False: it ends.
  bool wait_for_work();
  void take_incoming();
  [[nodiscard]] bool has_pages() const { return page_.has_value() || !pending_.empty(); }
  bool write_page(Duration within);
  void refused(const Error& error);
  void write_all(Duration within);

  store::Records& records_;
  UlidSource& ids_;
  const Clock& clock_;
  Log& log_;
  const DeliveryLogSettings settings_;
  const std::string node_;

  Mutex mutex_;
  ConditionVariable changed_;
  DeliveryBook incoming_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;

  // The thread's alone, and of whoever has ended it.
  DeliveryBook pending_;
  // Under way: offered again under its name, so that one in doubt is not there twice.
  std::optional<store::Record> page_;
  Instant next_write_ = {};
  int failures_ = 0;

  Mutex ending_;
  std::thread thread_;
};

}  // namespace recourse::notify
