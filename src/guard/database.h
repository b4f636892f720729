// Where the statements of guarded tables run: connections of our own to somebody's database.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/time.h"
#include "guard/dialect.h"
#include "sql/connection.h"
#include "store/creates.h"

namespace recourse::guard {

// How long a statement waits for a row that the application has locked.
inline constexpr std::chrono::seconds kLockWait{1};

// When what is written is committed, and so for how long it stays locked.
enum class Commits : std::uint8_t {
  kEachWrite,  // a row for a moment
  kEachSweep,  // all of a file, so that many rows at once lock it for less
  kEachUse,
};

class Database {
 public:
  using Work = FunctionRef<Result<>(sql::Connection&)>;

  virtual ~Database() = default;

  [[nodiscard]] virtual const Dialect& dialect() const = 0;
  // Once, on a connection with nothing open: each statement is a transaction of its own, so that no
  // row stays locked while this process is looked at by nobody.
  virtual Result<> use(Duration within, Work work) = 0;
  [[nodiscard]] virtual Commits commits() const { return Commits::kEachWrite; }
  // The same on a connection that is closed afterwards, with all its settings.
  virtual Result<> use_once(Duration within, Work work) = 0;

  // Whoever builds indexes has connections for as long as that takes: one at a time.
  class Turn {
   public:
    explicit Turn(Database& database)
        : database_(database), is_ours_(!database.is_taken_.exchange(true)) {}
    ~Turn() {
      if (is_ours_) database_.is_taken_ = false;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] bool is_ours() const { return is_ours_; }

   private:
    Database& database_;
    const bool is_ours_;
  };

 private:
  std::atomic<bool> is_taken_ = false;
};

// sqlite:FILE, postgres://..., mysql://...
Result<std::unique_ptr<Database>> open_database(const std::string& url);

// One text for all spellings of one SQLite file; of a server, its URL.
std::string place_of(const std::string& url);

// The file of the store itself, through its one writer. Each call is one transaction. `creates`
// must outlive it.
std::unique_ptr<Database> database_of(store::Creates& creates);

}  // namespace recourse::guard
