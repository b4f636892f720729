#include "store/postgres/schema.h"

#include <array>

namespace recourse::store::postgres {
namespace {

constexpr auto kFirst = std::to_array<std::string_view>({
    R"sql(CREATE TABLE IF NOT EXISTS recourse_task (
      id bytea PRIMARY KEY,
      kind text COLLATE "C" NOT NULL, tenant text NOT NULL, shard_key text NOT NULL, unique_key text
      NOT NULL,
      priority smallint NOT NULL, payload bytea NOT NULL, headers text NOT NULL,
      trace_parent text NOT NULL, search_keys text NOT NULL, max_retries integer NOT NULL,
      timeout_us bigint NOT NULL, deadline_at bigint, backoff text NOT NULL,
      created_at bigint NOT NULL, shard smallint NOT NULL,
      due_at bigint NOT NULL, state text COLLATE "C" NOT NULL, parked text COLLATE "C", available_at
      bigint NOT NULL,
      retries integer NOT NULL DEFAULT 0, attempts integer NOT NULL DEFAULT 0,
      episode integer NOT NULL DEFAULT 1, first_started_at bigint,
      start_mark smallint NOT NULL DEFAULT 0, deaths integer NOT NULL DEFAULT 0,
      fence bigint NOT NULL, lease bytea NOT NULL, owner text COLLATE "C", lease_end bigint,
      requested text,
      error_code text, error_message text, ended_at bigint)
    WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01,
      autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0))sql",
    // Equality on kind and priority, then in the order in which tasks become due.
    "CREATE INDEX IF NOT EXISTS recourse_task_due ON recourse_task (kind, priority, available_at)",
    "CREATE INDEX IF NOT EXISTS recourse_task_owner ON recourse_task (owner, requested)"
    " WHERE owner IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS recourse_task_parked ON recourse_task (parked, id)"
    " WHERE parked IS NOT NULL",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_archive (
      id bytea PRIMARY KEY,
      kind text COLLATE "C" NOT NULL, tenant text NOT NULL, shard_key text NOT NULL, unique_key text
      NOT NULL,
      priority smallint NOT NULL, payload bytea NOT NULL, headers text NOT NULL,
      trace_parent text NOT NULL, search_keys text NOT NULL, max_retries integer NOT NULL,
      timeout_us bigint NOT NULL, deadline_at bigint, backoff text NOT NULL,
      created_at bigint NOT NULL, due_at bigint NOT NULL, state text COLLATE "C" NOT NULL,
      retries integer NOT NULL, attempts integer NOT NULL, episode integer NOT NULL,
      first_started_at bigint, deaths integer NOT NULL, fence bigint NOT NULL,
      lease bytea NOT NULL, error_code text, error_message text, ended_at bigint NOT NULL,
      ended_by text, expires_at bigint NOT NULL))sql",
    "CREATE INDEX IF NOT EXISTS recourse_archive_expiry ON recourse_archive (expires_at)",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_unique (
      account bytea PRIMARY KEY, task_id bytea NOT NULL))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_search (
      entry bytea NOT NULL, task_id bytea NOT NULL, PRIMARY KEY (entry, task_id)))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_attempt (
      task_id bytea NOT NULL, fence bigint NOT NULL, number integer NOT NULL,
      started_at bigint NOT NULL, ended_at bigint NOT NULL, owner text NOT NULL,
      decision text NOT NULL, error_code text, error_message text, next_due bigint,
      PRIMARY KEY (task_id, fence)))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_audit (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, task_id bytea, actor
      text NOT NULL,
      action text NOT NULL, detail text NOT NULL, fence bigint NOT NULL))sql",
    "CREATE INDEX IF NOT EXISTS recourse_audit_task ON recourse_audit (task_id, seq)",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_node (
      incarnation bytea PRIMARY KEY, name text NOT NULL, kinds text NOT NULL,
      started_at bigint NOT NULL, beat bigint NOT NULL, beat_at bigint NOT NULL,
      dead smallint NOT NULL, pauses_seen bigint NOT NULL);
    CREATE TABLE IF NOT EXISTS recourse_counter (
      stripe bytea NOT NULL, kind text COLLATE "C" NOT NULL, state text COLLATE "C" NOT NULL, n
      bigint NOT NULL,
      PRIMARY KEY (stripe, kind, state));
    CREATE TABLE IF NOT EXISTS recourse_pause (kind text COLLATE "C" PRIMARY KEY, paused_by text NOT
    NULL))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_note (
      task_id bytea NOT NULL, fence bigint NOT NULL, number integer NOT NULL,
      attempt integer NOT NULL, at bigint NOT NULL, progress integer, said text NOT NULL,
      PRIMARY KEY (task_id, fence, number)))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_record (
      space text COLLATE "C" NOT NULL, name bytea NOT NULL, value bytea NOT NULL,
      version bigint NOT NULL, expires_at bigint, PRIMARY KEY (space, name)))sql",
    "CREATE INDEX IF NOT EXISTS recourse_record_end ON recourse_record (expires_at) WHERE "
    "expires_at IS NOT NULL",
    // What waits for a person.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_case (
      task_id bytea PRIMARY KEY, fence bigint NOT NULL, opened_at bigint NOT NULL,
      reminders integer NOT NULL, remind_at bigint, assignee text COLLATE "C" NOT NULL))sql",
    "CREATE INDEX IF NOT EXISTS recourse_case_due ON recourse_case (remind_at)"
    " WHERE remind_at IS NOT NULL",
    // Keys of create calls.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_create (
      tenant text COLLATE "C" NOT NULL, business text COLLATE "C" NOT NULL, idem_key bytea NOT NULL,
      resource text COLLATE "C" NOT NULL, request_hash text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL, fence bigint NOT NULL, internal_id bytea NOT NULL,
      result_ref text COLLATE "C" NOT NULL, result_json bytea NOT NULL, is_cut smallint NOT NULL,
      error text NOT NULL, locked_until bigint NOT NULL, created_at bigint NOT NULL,
      expires_at bigint NOT NULL, PRIMARY KEY (tenant, business, idem_key))
      -- Every row is written again once: on its own page, so that no index has to know.
      WITH (fillfactor = 60))sql",
    "CREATE INDEX IF NOT EXISTS recourse_create_end ON recourse_create (expires_at)",
    // Marks of messages: inserted, deleted a while later, and never changed in between.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_inbox (
      id bytea PRIMARY KEY, task_id bytea, expires_at bigint NOT NULL)
    WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_cost_delay = 0))sql",
    "CREATE INDEX IF NOT EXISTS recourse_inbox_end ON recourse_inbox (expires_at)",
    "INSERT INTO recourse_meta (name, value) VALUES ('pauses', 0) ON CONFLICT DO NOTHING",
});

constexpr std::array kMigrations{relational::Migration{kFirst}};

}  // namespace

std::span<const relational::Migration> migrations() { return kMigrations; }

}  // namespace recourse::store::postgres
