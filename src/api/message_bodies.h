// The message door's words on the wire: what comes in, and what records look like.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/bulk_job.h"
#include "api/desk.h"
#include "api/fields.h"
#include "message/records.h"
#include "policy/decision.h"

namespace recourse::api {

// Bodies are shown only of one message, never in a list.
enum class Body : std::uint8_t { kHidden, kShown };

boost::json::object to_json(const message::Record& record, Body body);
boost::json::object to_json(const message::HistoryEntry& entry);
boost::json::object to_json(const message::Summary& summary);
boost::json::object to_json(const SourceCard& source);

bool is_message_kind(const Desk& desk, std::string_view kind);
// What is wrong with one that is none.
std::string unknown_message_kind(const Desk& desk, std::string_view kind);

// `?status=PENDING&topic=orders&...`
message::Query read_message_query(const Desk& desk, const Call& call,
                                  std::vector<FieldError>& errors);

// {"status": "PENDING", "topic": "orders", ..., "limit": 1000, "dry_run": true} as a bulk job,
// whose filter knows one key at a time.
struct MessagesOrder {
  BulkJob job;
  bool dry_run = false;
};
MessagesOrder read_messages_order(const boost::json::object& body, Action action, const Desk& desk,
                                  const Call& call, std::vector<FieldError>& errors);

// Which message a consumer means: {"source", "group", "topic", "message_id", "tenant"}.
struct MessageName {
  std::string source;
  std::string group;
  std::string topic;
  std::string id;
  task::Tenant tenant;
  // Of a source of this server, and of its tenant.
  bool is_of_source = false;
};
MessageName read_message_name(Fields& fields, const Desk& desk, const Call& call);
// Under which its mark is kept. Those of a tenant are its own, but for what sources mark
// themselves.
store::MessageKey key_of(const MessageName& name);

// A failure that a consumer reports.
struct ReportedFailure {
  message::Envelope envelope;
  std::string body;
  task::Kind kind;
  MessageName name;
  std::string error_code;
  std::string error_message;
  message::AttemptDetail detail;
  // Empty: told from what went wrong.
  std::optional<bool> retryable;
};
// MSG-4: what is to become of it.
policy::Decision decide(const ReportedFailure& failure);
ReportedFailure read_reported_failure(const boost::json::object& body, const Desk& desk,
                                      const Call& call, std::vector<FieldError>& errors);

}  // namespace recourse::api
