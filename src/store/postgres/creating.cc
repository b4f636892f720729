#include "store/postgres/creating.h"

#include <utility>

#include "store/create_rules.h"
#include "store/relational/creating.h"
#include "store/relational/rows.h"

namespace recourse::store::postgres {
namespace {

// Settings of this transaction alone, made before the row is inserted. Somebody may be about to
// mark the key in a transaction that stays open: nobody waits for that here, a closer look tells
// what the key stands for. And `flush`: what synchronous_commit is to be.
constexpr std::string_view kInsertCreation = R"sql(
  INSERT INTO recourse_create (tenant, business, idem_key, resource, request_hash, state, fence,
    internal_id, result_ref, result_json, is_cut, error, locked_until, created_at, expires_at)
  SELECT ?, ?, ?, ?, ?, 'processing', at.now, ?, ?, ''::bytea, 0, '', at.now + ?, at.now, at.now + ?
  FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now,
      set_config('lock_timeout', '20', true), set_config('synchronous_commit', ?, true)) AS at
  ON CONFLICT DO NOTHING RETURNING created_at)sql";

}  // namespace

Result<std::optional<Creation>> insert_creation(sql::Connection& connection, const CreateAsk& ask,
                                                Flush flush) {
  const Creation fresh = first_creation(ask, TimePoint());
  relational::Values values;
  relational::add_key(values, fresh.key);
  values.text(fresh.resource).text(fresh.hash).id(fresh.id).kept_text(public_id_of(fresh));
  values.integer(fresh.locked_until.time_since_epoch().count());
  values.integer(fresh.expires_at.time_since_epoch().count());
  values.text(flush == Flush::kWithWork ? "off" : "on");
  std::optional<TimePoint> at;
  const Result<> asked = connection.query(kInsertCreation, values.view(), [&](const sql::Row& row) {
    at = relational::read_time(row.integer(0));
  });
  if (!asked) return fail(asked.error());
  if (!at) return std::optional<Creation>();
  return std::optional(first_creation(ask, *at));
}

}  // namespace recourse::store::postgres
