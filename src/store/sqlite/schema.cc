#include "store/sqlite/schema.h"

#include <array>

namespace recourse::store::sqlite {
namespace {

constexpr auto kFirst = std::to_array<std::string_view>({
    R"sql(CREATE TABLE IF NOT EXISTS recourse_task (
      id BLOB PRIMARY KEY,
      kind TEXT NOT NULL, tenant TEXT NOT NULL, shard_key TEXT NOT NULL, unique_key TEXT NOT NULL,
      priority INTEGER NOT NULL, payload BLOB NOT NULL, headers TEXT NOT NULL,
      trace_parent TEXT NOT NULL, search_keys TEXT NOT NULL, max_retries INTEGER NOT NULL,
      timeout_us INTEGER NOT NULL, deadline_at INTEGER, backoff TEXT NOT NULL,
      created_at INTEGER NOT NULL, shard INTEGER NOT NULL,
      due_at INTEGER NOT NULL, state TEXT NOT NULL, parked TEXT, available_at INTEGER NOT NULL,
      retries INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
      episode INTEGER NOT NULL DEFAULT 1, first_started_at INTEGER,
      start_mark INTEGER NOT NULL DEFAULT 0, deaths INTEGER NOT NULL DEFAULT 0,
      fence INTEGER NOT NULL, lease BLOB NOT NULL, owner TEXT, lease_end INTEGER, requested TEXT,
      error_code TEXT, error_message TEXT, ended_at INTEGER))sql",
    // Equality on kind and priority, then in the order in which tasks become due.
    "CREATE INDEX IF NOT EXISTS recourse_task_due ON recourse_task (kind, priority, available_at)",
    "CREATE INDEX IF NOT EXISTS recourse_task_owner ON recourse_task (owner, requested)"
    " WHERE owner IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS recourse_task_parked ON recourse_task (parked, id)"
    " WHERE parked IS NOT NULL",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_archive (
      id BLOB PRIMARY KEY,
      kind TEXT NOT NULL, tenant TEXT NOT NULL, shard_key TEXT NOT NULL, unique_key TEXT NOT NULL,
      priority INTEGER NOT NULL, payload BLOB NOT NULL, headers TEXT NOT NULL,
      trace_parent TEXT NOT NULL, search_keys TEXT NOT NULL, max_retries INTEGER NOT NULL,
      timeout_us INTEGER NOT NULL, deadline_at INTEGER, backoff TEXT NOT NULL,
      created_at INTEGER NOT NULL, due_at INTEGER NOT NULL, state TEXT NOT NULL,
      retries INTEGER NOT NULL, attempts INTEGER NOT NULL, episode INTEGER NOT NULL,
      first_started_at INTEGER, deaths INTEGER NOT NULL, fence INTEGER NOT NULL,
      lease BLOB NOT NULL, error_code TEXT, error_message TEXT, ended_at INTEGER NOT NULL,
      ended_by TEXT, expires_at INTEGER NOT NULL))sql",
    "CREATE INDEX IF NOT EXISTS recourse_archive_expiry ON recourse_archive (expires_at)",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_unique (
      account BLOB PRIMARY KEY, task_id BLOB NOT NULL) WITHOUT ROWID)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_search (
      entry BLOB NOT NULL, task_id BLOB NOT NULL, PRIMARY KEY (entry, task_id)) WITHOUT ROWID)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_attempt (
      task_id BLOB NOT NULL, fence INTEGER NOT NULL, number INTEGER NOT NULL,
      started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, owner TEXT NOT NULL,
      decision TEXT NOT NULL, error_code TEXT, error_message TEXT, next_due INTEGER,
      PRIMARY KEY (task_id, fence)))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_audit (
      seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, task_id BLOB, actor TEXT NOT NULL,
      action TEXT NOT NULL, detail TEXT NOT NULL, fence INTEGER NOT NULL))sql",
    "CREATE INDEX IF NOT EXISTS recourse_audit_task ON recourse_audit (task_id, seq)",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_node (
      incarnation BLOB PRIMARY KEY, name TEXT NOT NULL, kinds TEXT NOT NULL,
      started_at INTEGER NOT NULL, beat INTEGER NOT NULL, beat_at INTEGER NOT NULL,
      dead INTEGER NOT NULL, pauses_seen INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS recourse_counter (
      stripe BLOB NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL,
      PRIMARY KEY (stripe, kind, state)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS recourse_pause (kind TEXT PRIMARY KEY, paused_by TEXT NOT NULL))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_note (
      task_id BLOB NOT NULL, fence INTEGER NOT NULL, number INTEGER NOT NULL,
      attempt INTEGER NOT NULL, at INTEGER NOT NULL, progress INTEGER, said TEXT NOT NULL,
      PRIMARY KEY (task_id, fence, number)))sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_record (
      space TEXT NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL, version INTEGER NOT NULL,
      expires_at INTEGER, PRIMARY KEY (space, name)) WITHOUT ROWID)sql",
    "CREATE INDEX IF NOT EXISTS recourse_record_end ON recourse_record (expires_at) WHERE "
    "expires_at IS NOT NULL",
    // What waits for a person.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_case (
      task_id BLOB PRIMARY KEY, fence INTEGER NOT NULL, opened_at INTEGER NOT NULL,
      reminders INTEGER NOT NULL, remind_at INTEGER, assignee TEXT NOT NULL) WITHOUT ROWID)sql",
    "CREATE INDEX IF NOT EXISTS recourse_case_due ON recourse_case (remind_at)"
    " WHERE remind_at IS NOT NULL",
    // Keys of create calls.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_create (
      tenant TEXT NOT NULL, business TEXT NOT NULL, idem_key BLOB NOT NULL, resource TEXT NOT NULL,
      request_hash TEXT NOT NULL, state TEXT NOT NULL, fence INTEGER NOT NULL,
      internal_id BLOB NOT NULL, result_ref TEXT NOT NULL, result_json BLOB NOT NULL,
      is_cut INTEGER NOT NULL, error TEXT NOT NULL, locked_until INTEGER NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      PRIMARY KEY (tenant, business, idem_key)) WITHOUT ROWID)sql",
    "CREATE INDEX IF NOT EXISTS recourse_create_end ON recourse_create (expires_at)",
    // Marks of messages: inserted, deleted a while later, and never changed in between.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_inbox (
      id BLOB PRIMARY KEY, task_id BLOB, expires_at INTEGER NOT NULL) WITHOUT ROWID)sql",
    "CREATE INDEX IF NOT EXISTS recourse_inbox_end ON recourse_inbox (expires_at)",
    "INSERT OR IGNORE INTO recourse_meta (name, value) VALUES ('pauses', 0)",
});

constexpr std::array kMigrations{relational::Migration{kFirst}};

}  // namespace

std::span<const relational::Migration> migrations() { return kMigrations; }

}  // namespace recourse::store::sqlite
