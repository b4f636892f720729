#include "store/relational/creating.h"

#include <fmt/format.h>

#include <source_location>
#include <utility>

#include "base/invariant.h"
#include "store/create_rules.h"
#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

constexpr std::string_view kCreationColumns =
    "tenant, business, idem_key, resource, request_hash, state, fence, internal_id, result_json,"
    " is_cut, error, locked_until, created_at, expires_at";

constexpr std::string_view kKeyIs = " WHERE tenant = ? AND business = ? AND idem_key = ?";

CreateState state_named(std::string_view name) {
  for (const CreateState state : kAllCreateStates) {
    if (to_string(state) == name) return state;
  }
  invariant_broken("a stored state is one of those there are", std::source_location::current());
}

Creation read_creation(const sql::Row& row) {
  return {.key = {.tenant = std::string(row.bytes(0)),
                  .business = std::string(row.bytes(1)),
                  .key = std::string(row.bytes(2))},
          .resource = std::string(row.bytes(3)),
          .hash = std::string(row.bytes(4)),
          .state = state_named(row.bytes(5)),
          .fence = row.integer(6),
          .id = read_ulid(row.bytes(7)),
          .value = std::string(row.bytes(8)),
          .is_cut = row.integer(9) != 0,
          .error = std::string(row.bytes(10)),
          .locked_until = read_time(row.integer(11)),
          .created_at = read_time(row.integer(12)),
          .expires_at = read_time(row.integer(13))};
}

}  // namespace

void add_key(Values& values, const CreateKey& key) {
  values.text(key.tenant).text(key.business).bytes(key.key);
}

void add_mark(Values& values, const CreateHold& hold, const CreateEnd& end) {
  values.text(to_string(end.state)).bytes(end.value).integer(end.is_cut ? 1 : 0).text(end.error);
  add_key(values, hold.key);
  values.integer(hold.fence);
}

Result<std::optional<Creation>> RelationalTransaction::creation_where(std::string_view after,
                                                                      const CreateKey& key) {
  Values values;
  add_key(values, key);
  std::optional<Creation> found;
  const Result<> asked = connection().query(
      fmt::format("SELECT {} FROM recourse_create{}{}", kCreationColumns, kKeyIs, after),
      values.view(), [&](const sql::Row& row) { found = read_creation(row); });
  if (!asked) return fail(asked.error());
  return found;
}

Result<std::optional<Creation>> RelationalTransaction::find_creation(const CreateKey& key) {
  return creation_where("", key);
}

Result<std::optional<Creation>> RelationalTransaction::lock_creation(const CreateKey& key) {
  return creation_where(seat().dialect.skip_locked, key);
}

Result<std::optional<Creation>> RelationalTransaction::insert_creation(const CreateAsk& ask) {
  const auto there = find_creation(ask.key);
  if (!there) return fail(there.error());
  if (*there) return std::optional<Creation>();
  const Result<TimePoint> at = now();
  if (!at) return fail(at.error());
  Creation fresh = first_creation(ask, *at);
  Values values;
  add_key(values, fresh.key);
  values.text(fresh.resource).text(fresh.hash).text(to_string(fresh.state));
  values.integer(fresh.fence).id(fresh.id).kept_text(public_id_of(fresh)).bytes(fresh.value);
  values.integer(0).text(fresh.error);
  values.time(fresh.locked_until).time(fresh.created_at).time(fresh.expires_at);
  const auto inserted = connection().execute(
      "INSERT INTO recourse_create (tenant, business, idem_key, resource, request_hash, state,"
      " fence, internal_id, result_ref, result_json, is_cut, error, locked_until, created_at,"
      " expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      values.view());
  if (!inserted) return fail(inserted.error());
  return std::optional(std::move(fresh));
}

Result<> RelationalTransaction::write_creation(const Creation& creation) {
  Values values;
  values.text(creation.resource).text(creation.hash).text(to_string(creation.state));
  values.integer(creation.fence).id(creation.id).kept_text(public_id_of(creation));
  values.bytes(creation.value).integer(creation.is_cut ? 1 : 0).text(creation.error);
  values.time(creation.locked_until).time(creation.created_at).time(creation.expires_at);
  add_key(values, creation.key);
  const auto written = connection().execute(
      "UPDATE recourse_create SET resource = ?, request_hash = ?, state = ?, fence = ?,"
      " internal_id = ?, result_ref = ?, result_json = ?, is_cut = ?, error = ?,"
      " locked_until = ?, created_at = ?, expires_at = ?" +
          std::string(kKeyIs),
      values.view());
  return written ? Result<>{} : fail(written.error());
}

Result<bool> RelationalTransaction::end_creation(const CreateHold& hold, const CreateEnd& end) {
  Values values;
  add_mark(values, hold, end);
  const auto written = connection().execute(kMarkCreation, values.view());
  if (!written) return fail(written.error());
  return *written == 1;
}

Result<std::size_t> RelationalTransaction::delete_creations_before(TimePoint time,
                                                                   std::size_t limit) {
  Values values;
  values.time(time).integer(static_cast<std::int64_t>(limit));
  std::vector<CreateKey> old;
  const Result<> asked = connection().query(
      "SELECT tenant, business, idem_key FROM recourse_create WHERE expires_at <= ?"
      " ORDER BY expires_at LIMIT ?" +
          std::string(seat().dialect.skip_locked),
      values.view(), [&](const sql::Row& row) {
        old.push_back({.tenant = std::string(row.bytes(0)),
                       .business = std::string(row.bytes(1)),
                       .key = std::string(row.bytes(2))});
      });
  if (!asked) return fail(asked.error());
  if (old.empty()) return std::size_t{0};
  Values keys;
  for (const CreateKey& key : old) add_key(keys, key);
  const auto deleted = connection().execute_many(
      "DELETE FROM recourse_create" + std::string(kKeyIs), 3, keys.view());
  if (!deleted) return fail(deleted.error());
  return old.size();
}

}  // namespace recourse::store::relational
