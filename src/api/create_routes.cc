// Creating exactly once, for services that keep what they create elsewhere: they take the key here,
// create, and say what came of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "api/body.h"
#include "api/json_slices.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/text.h"
#include "create/canonical_json.h"
#include "create/creator.h"
#include "store/create_rules.h"

namespace recourse::api {
namespace {

using boost::json::object;

constexpr std::int64_t kTenantMax = std::int64_t{1} << 53;

// What was kept is JSON where a caller of this API kept it.
boost::json::value kept_json(const store::Creation& creation) {
  if (creation.is_cut || creation.value.empty()) return nullptr;
  const auto parsed = parse_json(creation.value);
  return parsed ? *parsed : boost::json::value(creation.value);
}

// Without the internal id, which is for the inside.
object creation_json(const store::Creation& creation) {
  object shape{{"tenant", creation.key.tenant},
               {"business_type", creation.key.business},
               {"key", creation.key.key},
               {"state", store::to_string(creation.state)},
               {"public_id", store::public_id_of(creation)},
               {"fence", creation.fence},
               {"value", kept_json(creation)},
               {"value_cut", creation.is_cut},
               {"error", creation.error},
               {"locked_until", to_json(std::optional(creation.locked_until))},
               {"created_at", to_json(std::optional(creation.created_at))},
               {"expires_at", to_json(std::optional(creation.expires_at))}};
  return shape;
}

std::optional<http::Response> refuse_tenant(const Call& call, const std::string& tenant) {
  if (call.caller.may_see(task::Tenant(tenant))) return std::nullopt;
  return refuse(403, fmt::format("your token is for tenant {}, and not for {}",
                                 call.caller.tenant->value, tenant));
}

// Empty where it is no number that a tenant can have.
std::optional<std::int64_t> tenant_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = error == std::errc() && end == text.data() + text.size();
  if (!is_all || text.starts_with('0') || number < 1 || number > kTenantMax) return std::nullopt;
  return number;
}

std::string tenant_rule() {
  return fmt::format("must be a whole number from 1 to {}, which may be written as text",
                     kTenantMax);
}

// As a number, or as text, as answers have it.
std::int64_t read_tenant_number(Fields& fields, const object& body) {
  const boost::json::value* given = body.if_contains("tenant");
  if (given != nullptr && given->is_string()) {
    const auto number = tenant_number(fields.text("tenant").value_or(""));
    if (!number) fields.refuse("tenant", tenant_rule());
    return number.value_or(1);
  }
  const auto tenant = fields.integer("tenant", 1, kTenantMax);
  if (!tenant && (given == nullptr || given->is_null())) fields.refuse("tenant", "is missing");
  return tenant.value_or(1);
}

constexpr std::string_view kKeyRule = "must be valid UTF-8 without control characters";

std::string read_key_text(Fields& fields) {
  std::string key = fields.required_text("key");
  if (!is_plain_text(key)) fields.refuse("key", std::string(kKeyRule));
  return key;
}

store::CreateKey read_create_key(Fields& fields, const object& body) {
  return {.tenant = std::to_string(read_tenant_number(fields, body)),
          .business = fields.required_text("business_type"),
          .key = read_key_text(fields)};
}

// The request itself, or its hash.
std::string read_request_hash(Fields& fields, std::string_view body) {
  const bool has_request = fields.has("request");
  const std::string given = fields.text("request_hash").value_or("");
  if (has_request == fields.has("request_hash")) {
    fields.refuse("request_hash", has_request
                                      ? "cannot be given beside `request`, which it would stand for"
                                      : "is missing: give it, or the request itself as `request`");
    return given;
  }
  if (!has_request) return given;
  // As it was written: what was parsed has rounded its numbers.
  const auto hash = create::request_hash(member_of(body, "request").value_or("null"));
  if (!hash) fields.refuse("request", hash.error().message);
  return hash.value_or("");
}

// A rule of the door by the name of the field it is about.
std::vector<FieldError> by_field(const Error& error) {
  std::vector<FieldError> errors;
  std::string_view rest = error.message;
  constexpr std::string_view kOwn = "create.";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("; create."), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 2));
    if (!one.starts_with(kOwn)) return {{"", error.message}};
    one.remove_prefix(kOwn.size());
    const std::size_t space = std::min(one.find(' '), one.size());
    errors.push_back({"/" + std::string(one.substr(0, space)),
                      std::string(one.substr(std::min(one.size(), space + 1)))});
  }
  return errors;
}

http::Response refuse_create(const Error& error) {
  if (error.code == ErrorCode::kInvalid) return refuse(by_field(error));
  // Another request under the key can never work: a new key does.
  if (error.code == ErrorCode::kConflict) return refuse(422, error.message);
  return refuse(error);
}

std::optional<http::Response> refuse_where_off(const Desk& desk) {
  if (desk.creator.is_enabled()) return std::nullopt;
  return refuse(403, "idempotent create is switched off here: create.enabled is false");
}

create::Request read_acquire(const object& body, const Call& call,
                             std::vector<FieldError>& errors) {
  Fields fields(body, "", errors);
  create::Request request;
  request.tenant = read_tenant_number(fields, body);
  request.business_type = fields.required_text("business_type");
  request.resource_type = fields.required_text("resource_type");
  request.key = read_key_text(fields);
  request.request_hash = read_request_hash(fields, call.request.body);
  request.ttl =
      fields.duration("ttl", store::kCreateTtlMax, store::kCreateTtlMin).value_or(request.ttl);
  request.lock_ttl = fields.duration("lock_ttl", store::kCreateLockMax, store::kCreateLockMin)
                         .value_or(request.lock_ttl);
  fields.refuse_others();
  // What the door says of the other fields is told at once with the rest.
  if (const Result<> valid = create::check(request); !valid) {
    for (FieldError& one : by_field(valid.error())) {
      const bool is_told = std::ranges::any_of(errors, [&](const FieldError& told) {
        return told.pointer == one.pointer ||
               (told.pointer == "/request" && one.pointer == "/request_hash");
      });
      if (!is_told) errors.push_back(std::move(one));
    }
  }
  return request;
}

http::Response acquire_key(Desk& desk, const Call& call) {
  if (auto off = refuse_where_off(desk)) return *off;
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  const create::Request request = read_acquire(*body, call, errors);
  if (!errors.empty()) return refuse(std::move(errors));
  if (auto refused = refuse_tenant(call, std::to_string(request.tenant))) return *refused;
  const auto acquired = desk.creator.acquire(request);
  if (!acquired) return refuse_create(acquired.error());
  if (acquired->how == store::Acquisition::kInProgress) {
    return to_response({.status = 409,
                        .detail = "another call has this key and is about to create: ask again "
                                  "later, with the same request",
                        .retry_after = std::chrono::seconds(1)});
  }
  object shape = creation_json(acquired->creation);
  const bool is_new = acquired->how == store::Acquisition::kAcquired;
  shape["replayed"] = !is_new;
  // That of the holder before says nothing of this one.
  if (is_new) shape["error"] = "";
  return json_response(shape, is_new ? 201 : 200);
}

// complete and fail: the end of a hold.
http::Response end_hold(Desk& desk, const Call& call, bool succeeded) {
  if (auto off = refuse_where_off(desk)) return *off;
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  store::CreateHold hold{.key = read_create_key(fields, *body)};
  const auto fence = fields.integer("fence", 1, std::numeric_limits<std::int64_t>::max());
  if (!fence && !fields.has("fence")) fields.refuse("fence", "is missing: acquire answers it");
  hold.fence = fence.value_or(0);
  std::string said;
  if (succeeded && fields.has("value")) said = boost::json::serialize(body->at("value"));
  if (!succeeded) said = fields.text("error").value_or("");
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  if (auto refused = refuse_tenant(call, hold.key.tenant)) return *refused;
  const auto ended = succeeded ? desk.opened.creates().succeed(hold, said, kPatience)
                               : desk.opened.creates().give_up(hold, said, kPatience);
  if (!ended) return refuse_create(ended.error());
  const auto there = desk.opened.creates().find(hold.key, kPatience);
  if (!there) return refuse(there.error());
  if (!*ended || !*there) return refuse(store::why_not_ended(*there, hold));
  return json_response(creation_json(**there));
}

http::Response complete_creation(Desk& desk, const Call& call) {
  return end_hold(desk, call, true);
}
http::Response fail_creation(Desk& desk, const Call& call) { return end_hold(desk, call, false); }

http::Response show_creation(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  const auto read = [&](std::string_view name) {
    const auto value = call.request.parameter(name);
    if (!value || value->empty()) errors.push_back({fmt::format("?{}", name), "is missing"});
    return std::string(value.value_or(""));
  };
  refuse_other_parameters(call.request, {"tenant", "business_type", "key"}, errors);
  const store::CreateKey key{
      .tenant = read("tenant"), .business = read("business_type"), .key = read("key")};
  if (!key.tenant.empty() && !tenant_number(key.tenant)) {
    errors.push_back({"?tenant", tenant_rule()});
  }
  if (!is_plain_text(key.key)) errors.push_back({"?key", std::string(kKeyRule)});
  if (!errors.empty()) return refuse(std::move(errors));
  if (auto refused = refuse_tenant(call, key.tenant)) return *refused;
  const auto there = desk.opened.creates().find(key, kPatience);
  if (!there) return refuse_create(there.error());
  if (!*there) {
    return refuse(404, "there is no such key: nothing was created under it, or its time is over");
  }
  object shape = creation_json(**there);
  // Only its holder knows of what does not exist yet.
  if ((*there)->state != store::CreateState::kSucceeded) shape["public_id"] = nullptr;
  return json_response(shape);
}

}  // namespace

std::vector<Route> create_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/creates", Role::kViewer, Answer(show_creation)},
      {kPost, "/api/v1/creates/acquire", Role::kOperator, Answer(acquire_key)},
      {kPost, "/api/v1/creates/complete", Role::kOperator, Answer(complete_creation)},
      {kPost, "/api/v1/creates/fail", Role::kOperator, Answer(fail_creation)},
  };
}

}  // namespace recourse::api
