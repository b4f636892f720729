// The tokens that people and programs show: some from the configuration, the others made over the
// API and kept in the store, where every node sees them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "store/records.h"

namespace recourse::api {

// One that the configuration names.
struct FixedToken {
  Identity identity;
  std::string sha256;  // of the secret, in hexadecimal
};

struct TokenView {
  std::string id;  // tok_01J...
  Identity identity;
  std::string created_by;
  TimePoint created_at;
  std::optional<TimePoint> expires_at;
};

struct NewToken {
  TokenView view;
  std::string secret;  // shown this once
};

// Safe to use from any thread.
class Tokens {
 public:
  // All of them must outlive this.
  Tokens(store::Records& records, UlidSource& ids, const Clock& clock,
         std::vector<FixedToken> fixed);

  // Empty: nobody's. Answers are kept for a few seconds, so that a token taken away elsewhere goes
  // on working for that long.
  Result<std::optional<Identity>> identify(std::string_view secret);
  // The same without asking the store; empty: it has to be asked.
  std::optional<std::optional<Identity>> recall(std::string_view secret);
  // Whether the configuration names somebody who may make tokens.
  [[nodiscard]] bool has_fixed_admin() const;
  // Whether there is any at all.
  Result<bool> any();

  Result<NewToken> create(Identity identity, std::optional<Duration> lives_for,
                          std::string_view by);
  Result<std::vector<TokenView>> list();
  // kNotFound where there is none.
  Result<> revoke(std::string_view id, std::string_view by);

 private:
  struct Known {
    std::optional<Identity> identity;
    BootTime until;
  };

  void remember(const std::string& sha256, const std::optional<Identity>& identity);

  store::Records& records_;
  UlidSource& ids_;
  const Clock& clock_;
  const std::vector<FixedToken> fixed_;
  Mutex mutex_;
  std::map<std::string, Known> known_ GUARDED_BY(mutex_);
};

}  // namespace recourse::api
