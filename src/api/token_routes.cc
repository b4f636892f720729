// Tokens: made, listed and taken away by admins.
#include <fmt/format.h>

#include <utility>

#include "api/body.h"
#include "api/route.h"
#include "api/shapes.h"
#include "api/task_filter.h"
#include "base/text.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::size_t kNameBytesMax = 100;

std::optional<Role> parse_role(std::string_view name) {
  for (const Role role : kGivenRoles) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

http::Response create(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  Identity identity;
  identity.name = fields.required_text("name");
  if (!identity.name.empty() &&
      (identity.name.size() > kNameBytesMax || !is_plain_text(identity.name))) {
    fields.refuse("name", fmt::format("must have 1 to {} bytes of plain text", kNameBytesMax));
  }
  const std::string role_name = fields.required_text("role");
  const std::optional<Role> role = parse_role(role_name);
  if (!role && !role_name.empty()) fields.refuse("role", "must be viewer, operator or admin");
  identity.role = role.value_or(Role::kNone);
  if (const auto tenant = fields.text("tenant")) {
    identity.tenant = task::Tenant(*tenant);
    // An empty one would be that of tasks that have none, not that of all.
    if (tenant->empty() || tenant->size() > task::kKeyBytesMax || !is_plain_text(*tenant)) {
      fields.refuse("tenant",
                    fmt::format("must have 1 to {} bytes of plain text; leave it out for all",
                                task::kKeyBytesMax));
    }
  }
  const auto lives_for = fields.duration("expires_in", std::chrono::hours(24 * 365 * 10));
  fields.refuse_others();
  const bool stays_admin = identity.role == Role::kAdmin && !identity.tenant && !lives_for;
  if (errors.empty() && !stays_admin) {
    const auto any = desk.tokens.any();
    if (!any) return refuse(any.error());
    // With the first token the door is closed: somebody must be able to open it.
    if (!*any) {
      fields.refuse("role",
                    "must be admin, of all tenants and without an end, for the first token: "
                    "without one nobody could make another");
    }
  }
  if (!errors.empty()) return refuse(std::move(errors));
  const auto token = desk.tokens.create(std::move(identity), lives_for, call.caller.name);
  if (!token) return refuse(token.error());
  desk.log.info("token_made", {{"token", token->view.id},
                               {"name", token->view.identity.name},
                               {"role", std::string(to_string(token->view.identity.role))},
                               {"by", call.caller.name}});
  object shape = to_json(token->view);
  shape["token"] = token->secret;
  return json_response(shape, 201);
}

http::Response list_tokens(Desk& desk, const Call&) {
  const auto tokens = desk.tokens.list();
  if (!tokens) return refuse(tokens.error());
  array items;
  for (const TokenView& token : *tokens) items.push_back(to_json(token));
  return json_response(object{{"items", std::move(items)}});
}

// Whether nobody could make a token any more, while everybody needs one.
Result<bool> locks_the_door(Desk& desk, std::string_view id) {
  if (desk.token_need == TokenNeed::kNever || desk.tokens.has_fixed_admin()) return false;
  const auto tokens = desk.tokens.list();
  if (!tokens) return fail(tokens.error());
  bool is_admin = false;
  bool is_last = true;
  for (const TokenView& token : *tokens) {
    if (!token.identity.makes_tokens()) continue;
    if (token.id == id) {
      is_admin = true;
    } else {
      is_last = false;
    }
  }
  // Without any token the door opens with the next start.
  const bool stays_closed = desk.token_need == TokenNeed::kNow || tokens->size() > 1;
  return is_admin && is_last && stays_closed;
}

http::Response revoke(Desk& desk, const Call& call) {
  std::vector<FieldError> errors;
  refuse_other_parameters(call.request, {"force"}, errors);
  const std::string_view force = call.request.parameter("force").value_or("false");
  if (force != "true" && force != "false") errors.push_back({"?force", "must be true or false"});
  if (!errors.empty()) return refuse(std::move(errors));
  const Result<bool> locks = locks_the_door(desk, call.parameters.front());
  if (!locks) return refuse(locks.error());
  if (*locks && force == "false") {
    return refuse(409,
                  "this is the last admin's token: without it nobody could make another. Make one "
                  "first, or name one under auth.tokens in the configuration; --force (force=true) "
                  "takes it away all the same");
  }
  const Result<> revoked = desk.tokens.revoke(call.parameters.front(), call.caller.name);
  if (!revoked) return refuse(revoked.error());
  desk.log.info("token_taken_away", {{"token", call.parameters.front()}, {"by", call.caller.name}});
  return {.status = 204};
}

// Who makes tokens for everybody is not bound to one tenant.
Answer for_all(Answer answer) {
  return [answer = std::move(answer)](Desk& desk, const Call& call) {
    if (call.caller.tenant) return refuse(403, "tokens are made by an admin of all tenants");
    return answer(desk, call);
  };
}

}  // namespace

std::vector<Route> token_routes() {
  using enum http::Method;
  return {
      {kGet, "/api/v1/tokens", Role::kAdmin, for_all(list_tokens)},
      {kPost, "/api/v1/tokens", Role::kAdmin, for_all(create)},
      {kDelete, "/api/v1/tokens/{id}", Role::kAdmin, for_all(revoke)},
  };
}

}  // namespace recourse::api
