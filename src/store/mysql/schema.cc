#include "store/mysql/schema.h"

#include <array>

namespace recourse::store::mysql {
namespace {

constexpr auto kFirst = std::to_array<std::string_view>({
    // Keys are binary: a collation would merge those that differ in case or trailing space. The
    // first index has equality on kind and priority, then the order in which tasks become due.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_task (
      id BINARY(16) PRIMARY KEY,
      kind VARBINARY(100) NOT NULL, tenant VARBINARY(255) NOT NULL, shard_key VARBINARY(255) NOT
      NULL, unique_key VARBINARY(255) NOT NULL,
      priority SMALLINT NOT NULL, payload MEDIUMBLOB NOT NULL, headers MEDIUMTEXT NOT NULL,
      trace_parent VARBINARY(64) NOT NULL, search_keys MEDIUMTEXT NOT NULL, max_retries INT NOT
      NULL,
      timeout_us BIGINT NOT NULL, deadline_at BIGINT, backoff VARBINARY(255) NOT NULL,
      created_at BIGINT NOT NULL, shard SMALLINT NOT NULL,
      due_at BIGINT NOT NULL, state VARBINARY(16) NOT NULL, parked VARBINARY(16), available_at
      BIGINT NOT NULL,
      retries INT NOT NULL DEFAULT 0, attempts INT NOT NULL DEFAULT 0,
      episode INT NOT NULL DEFAULT 1, first_started_at BIGINT,
      start_mark SMALLINT NOT NULL DEFAULT 0, deaths INT NOT NULL DEFAULT 0,
      fence BIGINT NOT NULL, lease BINARY(16) NOT NULL, owner VARBINARY(255), lease_end BIGINT,
      requested VARBINARY(16),
      error_code VARCHAR(100), error_message MEDIUMTEXT, ended_at BIGINT,
      KEY recourse_task_due (kind, priority, available_at),
      KEY recourse_task_owner (owner, requested),
      KEY recourse_task_parked (parked, id)) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE =
      utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_archive (
      id BINARY(16) PRIMARY KEY,
      kind VARBINARY(100) NOT NULL, tenant VARBINARY(255) NOT NULL, shard_key VARBINARY(255) NOT
      NULL, unique_key VARBINARY(255) NOT NULL,
      priority SMALLINT NOT NULL, payload MEDIUMBLOB NOT NULL, headers MEDIUMTEXT NOT NULL,
      trace_parent VARBINARY(64) NOT NULL, search_keys MEDIUMTEXT NOT NULL, max_retries INT NOT
      NULL,
      timeout_us BIGINT NOT NULL, deadline_at BIGINT, backoff VARBINARY(255) NOT NULL,
      created_at BIGINT NOT NULL, due_at BIGINT NOT NULL, state VARBINARY(16) NOT NULL,
      retries INT NOT NULL, attempts INT NOT NULL, episode INT NOT NULL,
      first_started_at BIGINT, deaths INT NOT NULL, fence BIGINT NOT NULL,
      lease BINARY(16) NOT NULL, error_code VARCHAR(100), error_message MEDIUMTEXT, ended_at BIGINT
      NOT NULL,
      ended_by VARBINARY(255), expires_at BIGINT NOT NULL,
      KEY recourse_archive_expiry (expires_at)) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE =
      utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_unique (
      account VARBINARY(640) PRIMARY KEY, task_id BINARY(16) NOT NULL) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_search (
      entry VARBINARY(520) NOT NULL, task_id BINARY(16) NOT NULL, PRIMARY KEY (entry, task_id))
      ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_attempt (
      task_id BINARY(16) NOT NULL, fence BIGINT NOT NULL, number INT NOT NULL,
      started_at BIGINT NOT NULL, ended_at BIGINT NOT NULL, owner VARCHAR(255) NOT NULL,
      decision VARBINARY(16) NOT NULL, error_code VARCHAR(100), error_message MEDIUMTEXT, next_due
      BIGINT,
      PRIMARY KEY (task_id, fence)) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE =
      utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_audit (
      seq BIGINT AUTO_INCREMENT PRIMARY KEY, at BIGINT NOT NULL, task_id BINARY(16), actor
      VARCHAR(255) NOT NULL,
      action VARBINARY(64) NOT NULL, detail MEDIUMTEXT NOT NULL, fence BIGINT NOT NULL,
      KEY recourse_audit_task (task_id, seq)) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE =
      utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_node (
      incarnation BINARY(16) PRIMARY KEY, name VARCHAR(255) NOT NULL, kinds MEDIUMTEXT NOT NULL,
      started_at BIGINT NOT NULL, beat BIGINT NOT NULL, beat_at BIGINT NOT NULL,
      dead SMALLINT NOT NULL, pauses_seen BIGINT NOT NULL) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4
      COLLATE = utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_counter (
      stripe BINARY(16) NOT NULL, kind VARBINARY(100) NOT NULL, state VARBINARY(16) NOT NULL, n
      BIGINT NOT NULL,
      PRIMARY KEY (stripe, kind, state)) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE =
      utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_pause (kind VARBINARY(100) PRIMARY KEY, paused_by
    VARCHAR(255) NOT NULL) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_note (
      task_id BINARY(16) NOT NULL, fence BIGINT NOT NULL, number INT NOT NULL, attempt INT NOT NULL,
      at BIGINT NOT NULL, progress INT, said TEXT NOT NULL,
      PRIMARY KEY (task_id, fence, number)) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    R"sql(CREATE TABLE IF NOT EXISTS recourse_record (
      space VARBINARY(32) NOT NULL, name VARBINARY(255) NOT NULL, value MEDIUMBLOB NOT NULL,
      version BIGINT NOT NULL, expires_at BIGINT, PRIMARY KEY (space, name),
      INDEX recourse_record_end (expires_at)) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    // What waits for a person.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_case (
      task_id BINARY(16) PRIMARY KEY, fence BIGINT NOT NULL, opened_at BIGINT NOT NULL,
      reminders INT NOT NULL, remind_at BIGINT, assignee VARBINARY(200) NOT NULL,
      INDEX recourse_case_due (remind_at)) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    // Keys of create calls.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_create (
      tenant VARBINARY(100) NOT NULL, business VARBINARY(64) NOT NULL,
      idem_key VARBINARY(255) NOT NULL, resource VARBINARY(10) NOT NULL,
      request_hash VARBINARY(64) NOT NULL, state VARBINARY(16) NOT NULL, fence BIGINT NOT NULL,
      internal_id BINARY(16) NOT NULL, result_ref VARBINARY(40) NOT NULL,
      result_json VARBINARY(4096) NOT NULL, is_cut TINYINT NOT NULL, error TEXT NOT NULL,
      locked_until BIGINT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
      PRIMARY KEY (tenant, business, idem_key),
      INDEX recourse_create_end (expires_at)) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    // Marks of messages: inserted, deleted a while later, and never changed in between.
    R"sql(CREATE TABLE IF NOT EXISTS recourse_inbox (
      id VARBINARY(40) PRIMARY KEY, task_id BINARY(16), expires_at BIGINT NOT NULL,
      INDEX recourse_inbox_end (expires_at)) ENGINE = InnoDB DEFAULT
      CHARSET = utf8mb4 COLLATE = utf8mb4_bin)sql",
    "INSERT IGNORE INTO recourse_meta (name, value) VALUES ('pauses', 0)",
});

constexpr std::array kMigrations{relational::Migration{kFirst}};

}  // namespace

std::span<const relational::Migration> migrations() { return kMigrations; }

}  // namespace recourse::store::mysql
