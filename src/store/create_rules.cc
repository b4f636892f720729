#include "store/create_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/public_id.h"
#include "base/text.h"

namespace recourse::store {
namespace {

constexpr std::size_t kHashDigits = 64;

// What is wrong with it; empty where nothing is.
std::string wrong_with_hash(std::string_view hash) {
  if (hash.size() != kHashDigits) {
    return fmt::format("must have 64 hex digits in lower case (SHA-256), not {} characters like {}",
                       hash.size(), shown(hash));
  }
  const std::size_t at = hash.find_first_not_of("0123456789abcdef");
  if (at == std::string_view::npos) return {};
  return fmt::format("must have hex digits in lower case only (SHA-256): character {} is {}",
                     at + 1, shown(hash.substr(at, 1)));
}

// A character is never cut in half.
std::string_view cut_to(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::string public_id_of(const Creation& creation) {
  return to_string(PublicId{.type = creation.resource, .id = creation.id});
}

Result<> check(const CreateKey& key) {
  return FieldChecks("create")
      .require(!key.tenant.empty() && key.tenant.size() <= kCreateTenantBytesMax &&
                   is_plain_text(key.tenant),
               "tenant", fmt::format("must have 1 to {} bytes of text", kCreateTenantBytesMax))
      .require(!key.business.empty() && key.business.size() <= kCreateBusinessBytesMax &&
                   is_plain_text(key.business),
               "business_type",
               fmt::format("must have 1 to {} bytes of text, such as ORDER_CREATE",
                           kCreateBusinessBytesMax))
      .require(!key.key.empty() && key.key.size() <= kCreateKeyBytesMax, "key",
               fmt::format("must have 1 to {} bytes, not {}", kCreateKeyBytesMax, key.key.size()))
      .result();
}

Result<> check(const CreateAsk& ask) {
  const Result<> key = check(ask.key);
  const Result<> type = check_id_type("create.resource_type", ask.resource);
  const std::string wrong_hash = wrong_with_hash(ask.hash);
  const Result<> rest =
      FieldChecks("create")
          .require(wrong_hash.empty(), "request_hash", wrong_hash)
          .between<Duration>("ttl", ask.ttl, kCreateTtlMin, kCreateTtlMax)
          .between<Duration>("lock_ttl", ask.lock_ttl, kCreateLockMin, kCreateLockMax)
          .result();
  std::string complaints;
  for (const Result<>& one : {key, type, rest}) {
    if (one) continue;
    if (!complaints.empty()) complaints += "; ";
    complaints += one.error().message;
  }
  if (complaints.empty()) return {};
  return fail(ErrorCode::kInvalid, std::move(complaints));
}

KeyVerdict judge(const Creation& there, const CreateAsk& ask, TimePoint now) {
  if (there.expires_at <= now) return KeyVerdict::kTake;
  if (there.hash != ask.hash || there.resource != ask.resource) return KeyVerdict::kOther;
  switch (there.state) {
    case CreateState::kSucceeded: return KeyVerdict::kReplay;
    case CreateState::kFailed: return KeyVerdict::kTake;
    case CreateState::kProcessing:
      return there.locked_until <= now ? KeyVerdict::kTake : KeyVerdict::kInProgress;
  }
  std::abort();
}

Error other_request(const Creation& there, const CreateAsk& ask) {
  if (there.resource != ask.resource) {
    return {
        ErrorCode::kConflict,
        fmt::format("this idempotency key was used to create a `{}`, not a `{}`: take a new key",
                    there.resource, ask.resource)};
  }
  return {ErrorCode::kConflict,
          "this idempotency key was used with another request: take a new key for a new request"};
}

Error hold_is_over() {
  return {ErrorCode::kConflict,
          "the lock of the idempotency key was over before the work was done: somebody else may "
          "have the key, and nothing of this work is kept"};
}

Error why_not_ended(const std::optional<Creation>& there, const CreateHold& hold) {
  if (!there) {
    return {ErrorCode::kNotFound,
            "there is no such key: it was never acquired, or its time is over"};
  }
  if (there->fence > hold.fence) {
    return {ErrorCode::kConflict,
            "somebody else has had the key since: its lock was over, or it had failed. Ask for "
            "the key to see what became of it; nothing changes by this call"};
  }
  if (there->fence < hold.fence) {
    return {ErrorCode::kConflict,
            fmt::format("nobody was given the fence {} of this key: use the one that acquire "
                        "answered",
                        hold.fence)};
  }
  return {ErrorCode::kConflict,
          there->state == CreateState::kSucceeded
              ? "it was completed before under this fence, and cannot fail any more"
              : "it failed before under this fence: acquire the key again"};
}

bool is_first_holder(const Creation& creation) {
  return creation.fence == creation.created_at.time_since_epoch().count();
}

Creation first_creation(const CreateAsk& ask, TimePoint now) {
  return {.key = ask.key,
          .resource = ask.resource,
          .hash = ask.hash,
          // Not 1: a key that was forgotten and begun anew must not have the fence of old again.
          .fence = now.time_since_epoch().count(),
          .id = ask.id,
          .locked_until = saturating_add(now, ask.lock_ttl),
          .created_at = now,
          .expires_at = saturating_add(now, std::max(ask.ttl, ask.lock_ttl))};
}

Creation next_creation(const Creation& there, const CreateAsk& ask, TimePoint now) {
  Creation next = first_creation(ask, now);
  if (there.expires_at <= now) {
    next.fence = std::max(next.fence, there.fence + 1);
    return next;
  }
  next.fence = there.fence + 1;
  next.id = there.id;
  next.created_at = there.created_at;
  next.error = there.error;
  return next;
}

KeptValue kept_value(std::string_view value) {
  const std::string_view kept = cut_to(value, kCreateValueBytesMax);
  return {.text = kept, .is_cut = kept.size() < value.size()};
}

Creation succeeded(Creation creation, std::string_view value) {
  const KeptValue kept = kept_value(value);
  creation.state = CreateState::kSucceeded;
  creation.value = kept.text;
  creation.is_cut = kept.is_cut;
  creation.error.clear();
  return creation;
}

std::string kept_error(std::string_view error) {
  return clean_text(error, kCreateErrorCharactersMax);
}

Creation failed(Creation creation, std::string_view error) {
  creation.state = CreateState::kFailed;
  creation.error = kept_error(error);
  return creation;
}

}  // namespace recourse::store
