// The hot statements. Each takes its batch as arrays and is one round trip.
//
// The clock is read inside a sub-select: clock_timestamp() by itself is volatile and could not be
// an index condition.
//
// Rows are joined by `id = ANY (ARRAY[x.id])`, not by `id = x.id`: once a table was analysed while
// it was empty, the planner takes it for one row until the next analysis, however many come, and
// would walk over all of its primary key for each batch. An array cannot be joined in another way
// than by looking up the index.
#pragma once

namespace recourse::store::postgres {

inline constexpr const char* kNow =
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

// Every batch comes as Columns: single values, then arrays; see columns.h.
//
// Ends in one of the two below.
inline constexpr const char* kInsertTasks = R"sql(
  WITH at AS MATERIALIZED (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now),
  added AS (
  INSERT INTO recourse_task (id, kind, tenant, shard_key, unique_key, priority, payload, headers,
    trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, shard,
    due_at, state, available_at, fence, lease, owner)
  SELECT n.id, n.kind, n.tenant, n.shard_key, n.unique_key, n.priority, n.payload, n.headers,
    n.trace_parent, n.search_keys, n.max_retries, n.timeout_us, n.deadline_at, n.backoff, at.now,
    n.shard, at.now + n.delay, n.state,
    CASE WHEN n.owner IS NULL THEN at.now + n.delay ELSE 9223372036854775807 END,
    n.fence, n.lease, n.owner
  FROM at, (
    SELECT id, COALESCE(kind, ?) AS kind, COALESCE(tenant, ?) AS tenant,
      COALESCE(shard_key, ?) AS shard_key, COALESCE(unique_key, ?) AS unique_key,
      COALESCE(priority, ?) AS priority, COALESCE(payload, ?) AS payload,
      COALESCE(headers, ?) AS headers, COALESCE(trace_parent, ?) AS trace_parent,
      COALESCE(search_keys, ?) AS search_keys, COALESCE(max_retries, ?) AS max_retries,
      COALESCE(timeout_us, ?) AS timeout_us, COALESCE(deadline_at, ?) AS deadline_at,
      COALESCE(backoff, ?) AS backoff, COALESCE(shard, ?) AS shard, COALESCE(delay, ?) AS delay,
      COALESCE(state, ?) AS state, COALESCE(fence, ?) AS fence, COALESCE(lease, ?) AS lease,
      COALESCE(owner, ?) AS owner
    FROM unnest(?::bytea[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bytea[],
        ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
        ?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bytea[], ?::text[])
      AS a (id, kind, tenant, shard_key, unique_key, priority, payload, headers, trace_parent,
        search_keys, max_retries, timeout_us, deadline_at, backoff, shard, delay, state, fence,
        lease, owner)) AS n)sql";
// Fails where an id is there already: nothing is looked up before it is written.
inline constexpr const char* kAllNew = ") SELECT now, NULL::bytea FROM at";
// The new ones, one after the other.
inline constexpr const char* kOnlyNew =
    " ON CONFLICT (id) DO NOTHING RETURNING id)"
    " SELECT (SELECT now FROM at), string_agg(id, ''::bytea) FROM added";

// Probe by probe (kind and priority by equality, in the order given); each stops at its kind's
// share, the whole at the limit, and nothing beyond is locked. `low` is where a probe starts. A
// kind's share is the larger one where only one of its priorities has anything due.
inline constexpr const char* kTakeDue = R"sql(
  WITH at AS MATERIALIZED (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now),
  p AS MATERIALIZED (
    SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS p (kind, priority, low)),
  quota AS MATERIALIZED (
    SELECT q.kind, CASE WHEN (
        SELECT count(*) FROM p CROSS JOIN LATERAL (
          SELECT 1 FROM recourse_task t
          WHERE t.kind = p.kind AND t.priority = p.priority AND t.available_at >= p.low
            AND t.available_at <= (SELECT now FROM at)
          LIMIT 1) found
        WHERE p.kind = q.kind) <= 1 THEN q.alone ELSE q.most END AS most
    FROM unnest(?::text[], ?::bigint[], ?::bigint[]) AS q (kind, most, alone)),
  picked AS MATERIALIZED (
    SELECT due.id, due.state, due.owner, due.available_at, quota.most
    FROM quota
    CROSS JOIN LATERAL (
      SELECT probe.id, probe.state, probe.owner, probe.available_at
      FROM p
      CROSS JOIN LATERAL (
        SELECT t.id, t.state, t.owner, t.available_at FROM recourse_task t
        WHERE t.kind = p.kind AND t.priority = p.priority AND t.available_at >= p.low
          AND t.available_at <= (SELECT now FROM at) AND t.shard BETWEEN ? AND ?
        ORDER BY t.available_at LIMIT quota.most FOR UPDATE SKIP LOCKED) probe
      WHERE p.kind = quota.kind
      LIMIT quota.most) due
    LIMIT ?)
  UPDATE recourse_task SET
    deaths = recourse_task.deaths
      + CASE WHEN picked.state = 'running' AND start_mark = 2 THEN 1 ELSE 0 END,
    start_mark = CASE WHEN picked.state = 'running' THEN 1 ELSE start_mark END,
    state = 'running', fence = fence + 1, lease = ?, owner = ?,
    lease_end = (SELECT now FROM at) + ?, available_at =
      COALESCE((SELECT now FROM at) + ?, 9223372036854775807)
  FROM picked WHERE recourse_task.id = ANY (ARRAY[picked.id])
  RETURNING )sql";

// Those of the ids that are still due and not locked.
inline constexpr const char* kTake = R"sql(
  WITH picked AS MATERIALIZED (
    SELECT t.id, t.state, t.owner
    FROM unnest(?::bytea[]) AS wanted (id)
      JOIN recourse_task t ON t.id = ANY (ARRAY[wanted.id])
    WHERE t.available_at + 0 <= ? FOR UPDATE OF t SKIP LOCKED)
  UPDATE recourse_task SET
    deaths = recourse_task.deaths
      + CASE WHEN picked.state = 'running' AND start_mark = 2 THEN 1 ELSE 0 END,
    start_mark = CASE WHEN picked.state = 'running' THEN 1 ELSE start_mark END,
    state = 'running', fence = fence + 1, lease = ?, owner = ?,
    lease_end = ?, available_at = ?
  FROM picked WHERE recourse_task.id = ANY (ARRAY[picked.id])
  RETURNING )sql";

// Answers the ids that were written, one after the other; so does the next.
inline constexpr const char* kWriteMoves = R"sql(
  WITH moved AS (
  UPDATE recourse_task t SET due_at = m.due_at, state = m.state, parked = m.parked,
    available_at = CASE m.state WHEN 'pending' THEN m.due_at
      WHEN 'running' THEN COALESCE(t.lease_end, 9223372036854775807)
      ELSE 9223372036854775807 END,
    retries = m.retries, attempts = m.attempts, episode = m.episode,
    first_started_at = m.first_started_at, start_mark = LEAST(t.start_mark, 1), deaths = m.deaths,
    fence = t.fence + 1, lease = m.next_lease,
    owner = CASE WHEN m.state = 'running' THEN t.owner END,
    lease_end = CASE WHEN m.state = 'running' THEN t.lease_end END,
    error_code = m.error_code, error_message = m.error_message, ended_at = m.ended_at,
    deadline_at = m.deadline_at
  FROM (
    SELECT id, COALESCE(fence, ?) AS fence, COALESCE(lease, ?) AS lease,
      COALESCE(before, ?) AS before, COALESCE(next_lease, ?) AS next_lease,
      COALESCE(state, ?) AS state, COALESCE(parked, ?) AS parked, COALESCE(due_at, ?) AS due_at,
      COALESCE(retries, ?) AS retries, COALESCE(attempts, ?) AS attempts,
      COALESCE(episode, ?) AS episode, COALESCE(first_started_at, ?) AS first_started_at,
      COALESCE(deaths, ?) AS deaths, COALESCE(error_code, ?) AS error_code,
      COALESCE(error_message, ?) AS error_message, COALESCE(ended_at, ?) AS ended_at,
      COALESCE(deadline_at, ?) AS deadline_at
    FROM unnest(?::bytea[], ?::bigint[], ?::bytea[], ?::text[], ?::bytea[], ?::text[], ?::text[],
        ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
        ?::text[], ?::bigint[], ?::bigint[])
      AS a (id, fence, lease, before, next_lease, state, parked, due_at, retries, attempts, episode,
        first_started_at, deaths, error_code, error_message, ended_at, deadline_at)) AS m
  WHERE t.id = ANY (ARRAY[m.id]) AND t.fence = m.fence AND t.lease = m.lease AND t.state = m.before
    AND t.requested IS NULL
  RETURNING t.id)
  SELECT string_agg(id, ''::bytea) FROM moved)sql";

// Deleted first, and what was deleted is inserted: no other order moves a row exactly once.
inline constexpr const char* kWriteFinishes = R"sql(
  WITH gone AS (
    DELETE FROM recourse_task t
    USING (
      SELECT id, COALESCE(fence, ?) AS fence, COALESCE(lease, ?) AS lease,
        COALESCE(before, ?) AS before, COALESCE(next_lease, ?) AS next_lease,
        COALESCE(state, ?) AS state, COALESCE(due_at, ?) AS due_at, COALESCE(retries, ?) AS retries,
        COALESCE(attempts, ?) AS attempts, COALESCE(episode, ?) AS episode,
        COALESCE(first_started_at, ?) AS first_started_at, COALESCE(deaths, ?) AS deaths,
        COALESCE(error_code, ?) AS error_code, COALESCE(error_message, ?) AS error_message,
        COALESCE(ended_at, ?) AS ended_at, COALESCE(deadline_at, ?) AS deadline_at,
        COALESCE(expires_at, ?) AS expires_at
      FROM unnest(?::bytea[], ?::bigint[], ?::bytea[], ?::text[], ?::bytea[], ?::text[],
          ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
          ?::text[], ?::bigint[], ?::bigint[], ?::bigint[])
        AS a (id, fence, lease, before, next_lease, state, due_at, retries, attempts, episode,
          first_started_at, deaths, error_code, error_message, ended_at, deadline_at,
          expires_at)) AS m
    WHERE t.id = ANY (ARRAY[m.id]) AND t.fence = m.fence AND t.lease = m.lease AND t.state = m.before
      AND t.requested IS NULL
    RETURNING t.id, t.kind, t.tenant, t.shard_key, t.unique_key, t.priority, t.payload, t.headers,
      t.trace_parent, t.search_keys, t.max_retries, t.timeout_us, m.deadline_at, t.backoff,
      t.created_at, m.due_at, m.state, m.retries, m.attempts, m.episode, m.first_started_at,
      m.deaths, t.fence + 1, m.next_lease, m.error_code, m.error_message, m.ended_at, t.owner,
      m.expires_at),
  moved AS (
  INSERT INTO recourse_archive (id, kind, tenant, shard_key, unique_key, priority, payload, headers,
    trace_parent, search_keys, max_retries, timeout_us, deadline_at, backoff, created_at, due_at,
    state, retries, attempts, episode, first_started_at, deaths, fence, lease, error_code,
    error_message, ended_at, ended_by, expires_at)
  SELECT * FROM gone
  RETURNING id)
  SELECT string_agg(id, ''::bytea) FROM moved)sql";

inline constexpr const char* kAddCounts = R"sql(
  INSERT INTO recourse_counter (stripe, kind, state, n)
  SELECT * FROM unnest(?::bytea[], ?::text[], ?::text[], ?::bigint[])
  ON CONFLICT (stripe, kind, state) DO UPDATE SET n = recourse_counter.n + excluded.n)sql";

}  // namespace recourse::store::postgres
