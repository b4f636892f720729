#include "api/tokens.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "api/token_secret.h"
#include "base/public_id.h"

namespace recourse::api {
namespace {

constexpr std::string_view kTokenSpace = "token";
constexpr std::string_view kTokenIdType = "tok";
constexpr Duration kTokenPatience = std::chrono::seconds(5);
constexpr Duration kKnownFor = std::chrono::seconds(5);
constexpr std::size_t kKnownMax = 10'000;
constexpr std::size_t kPage = 500;

std::string value_of(const TokenView& view) {
  boost::json::object value{{"id", view.id},
                            {"name", view.identity.name},
                            {"role", to_string(view.identity.role)},
                            {"by", view.created_by},
                            {"at", view.created_at.time_since_epoch().count()}};
  if (view.identity.tenant) value["tenant"] = view.identity.tenant->value;
  return boost::json::serialize(value);
}

store::Deed deed_of(const TokenView& view, std::string action, std::string_view by) {
  const Identity& whose = view.identity;
  std::string detail = view.id + " of " + whose.name + ", " + std::string(to_string(whose.role));
  if (whose.tenant) detail += " of tenant " + whose.tenant->value;
  return {.actor = std::string(by), .action = std::move(action), .detail = std::move(detail)};
}

Role role_of(std::string_view text) {
  for (const Role role : kGivenRoles) {
    if (to_string(role) == text) return role;
  }
  return Role::kNone;
}

Result<TokenView> view_of(const store::Record& record) {
  try {
    const boost::json::value parsed = boost::json::parse(record.value);
    const boost::json::object& value = parsed.as_object();
    const auto text = [&](std::string_view name) {
      return std::string(value.at(name).as_string());
    };
    TokenView view{.id = text("id"),
                   .identity = {.name = text("name"), .role = role_of(text("role"))},
                   .created_by = text("by"),
                   .created_at = TimePoint(Duration(value.at("at").as_int64())),
                   .expires_at = record.expires_at};
    if (value.contains("tenant")) view.identity.tenant = task::Tenant(text("tenant"));
    return view;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt,
                std::string("a token in the store cannot be read: ") + error.what());
  }
}

}  // namespace

Tokens::Tokens(store::Records& records, UlidSource& ids, const Clock& clock,
               std::vector<FixedToken> fixed)
    : records_(records), ids_(ids), clock_(clock), fixed_(std::move(fixed)) {}

std::optional<std::optional<Identity>> Tokens::recall(std::string_view secret) {
  if (!secret.starts_with(kTokenPrefix) && fixed_.empty()) return std::optional<Identity>();
  const std::string sha256 = sha256_of(secret);
  for (const FixedToken& token : fixed_) {
    if (is_equal_secret(token.sha256, sha256)) return token.identity;
  }
  MutexLock lock(mutex_);
  const auto found = known_.find(sha256);
  if (found == known_.end() || found->second.until <= clock_.since_boot()) return std::nullopt;
  return found->second.identity;
}

void Tokens::remember(const std::string& sha256, const std::optional<Identity>& identity) {
  MutexLock lock(mutex_);
  // Guesses must not fill it.
  if (known_.size() >= kKnownMax) known_.clear();
  known_[sha256] = {identity, clock_.since_boot() + kKnownFor};
}

Result<std::optional<Identity>> Tokens::identify(std::string_view secret) {
  if (const auto known = recall(secret)) return *known;
  const std::string sha256 = sha256_of(secret);
  std::optional<Identity> identity;
  const auto record = records_.find(kTokenSpace, sha256, kTokenPatience);
  if (!record) return fail(record.error());
  if (*record) {
    const Result<TokenView> view = view_of(**record);
    if (!view) return fail(view.error());
    identity = view->identity;
  }
  remember(sha256, identity);
  return identity;
}

bool Tokens::has_fixed_admin() const {
  return std::ranges::any_of(fixed_,
                             [](const FixedToken& token) { return token.identity.makes_tokens(); });
}

Result<bool> Tokens::any() {
  if (!fixed_.empty()) return true;
  const auto page = records_.list(kTokenSpace, std::nullopt, 1, kTokenPatience);
  if (!page) return fail(page.error());
  return !page->records.empty();
}

Result<NewToken> Tokens::create(Identity identity, std::optional<Duration> lives_for,
                                std::string_view by) {
  NewToken token;
  token.secret = new_token_secret();
  token.view = {.id = to_string(PublicId{std::string(kTokenIdType), ids_.next()}),
                .identity = std::move(identity),
                .created_by = std::string(by),
                .created_at = clock_.now(),
                .expires_at = std::nullopt};
  const auto added =
      records_.add({.space = std::string(kTokenSpace),
                    .name = sha256_of(token.secret),
                    .value = value_of(token.view)},
                   lives_for, kTokenPatience, deed_of(token.view, "token_created", by));
  if (!added) return fail(added.error());
  token.view.expires_at = added->record.expires_at;
  return token;
}

Result<std::vector<TokenView>> Tokens::list() {
  std::vector<TokenView> views;
  std::optional<std::string> after;
  do {
    const auto page = records_.list(kTokenSpace, after, kPage, kTokenPatience);
    if (!page) return fail(page.error());
    for (const store::Record& record : page->records) {
      Result<TokenView> view = view_of(record);
      if (!view) return fail(view.error());
      views.push_back(*std::move(view));
    }
    after = page->next;
  } while (after);
  std::ranges::sort(views, {}, &TokenView::id);
  return views;
}

Result<> Tokens::revoke(std::string_view id, std::string_view by) {
  std::optional<std::string> after;
  do {
    const auto page = records_.list(kTokenSpace, after, kPage, kTokenPatience);
    if (!page) return fail(page.error());
    for (const store::Record& record : page->records) {
      const Result<TokenView> view = view_of(record);
      if (!view || view->id != id) continue;
      const Result<bool> removed = records_.remove(kTokenSpace, record.name, kTokenPatience,
                                                   deed_of(*view, "token_revoked", by));
      if (!removed) return fail(removed.error());
      MutexLock lock(mutex_);
      known_.erase(record.name);
      return {};
    }
    after = page->next;
  } while (after);
  return fail(ErrorCode::kNotFound, "there is no token " + std::string(id));
}

}  // namespace recourse::api
