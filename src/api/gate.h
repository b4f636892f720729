// Who may come in: a token where tokens are asked for, and no web page of somebody else's.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "api/access.h"
#include "api/problem.h"
#include "api/tokens.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "http/message.h"
#include "policy/token_bucket.h"

namespace recourse::api {

struct GateSettings {
  // False: whoever reaches the server is its admin; for loopback only.
  bool token_required = true;
  // Host headers that are answered; empty: all. Against pages that point a name at us.
  std::vector<std::string> hosts;
};

// Safe to use from any thread.
class Gate {
 public:
  // Both must outlive it.
  Gate(GateSettings settings, Tokens& tokens, const Clock& clock)
      : settings_(std::move(settings)), tokens_(tokens), clock_(clock) {}

  // What can be told without asking the store; empty: ask identify().
  [[nodiscard]] std::optional<Problem> refuse_early(const http::Request& request) const;
  // Without asking the store; empty: it has to be asked.
  std::optional<std::variant<Identity, Problem>> identify_at_once(const http::Request& request,
                                                                  Role needed);
  // May wait for the store.
  std::variant<Identity, Problem> identify(const http::Request& request, Role needed);

 private:
  std::variant<Identity, Problem> judge(const http::Request& request,
                                        const std::optional<Identity>& token, Role needed);
  // Of failed logins from one address.
  bool may_fail_again(const std::string& peer);

  const GateSettings settings_;
  Tokens& tokens_;
  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, policy::TokenBucket> failures_ GUARDED_BY(mutex_);
};

}  // namespace recourse::api
