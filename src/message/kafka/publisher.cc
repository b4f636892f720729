#include "message/kafka/publisher.h"

#include <algorithm>
#include <array>
#include <optional>

#include "message/kafka/configuration.h"
#include "message/kafka/errors.h"

namespace recourse::message::kafka {

using std::chrono::steady_clock;

struct Publisher::Reports {
  std::size_t open = 0;
  std::optional<Error> error;
};

void Publisher::on_report(rd_kafka_t*, const rd_kafka_message_t* record, void*) {
  auto& reports = *static_cast<Reports*>(record->_private);
  --reports.open;
  if (record->err != RD_KAFKA_RESP_ERR_NO_ERROR && !reports.error) {
    reports.error = translate(record->err, rd_kafka_err2str(record->err));
  }
}

Result<> Publisher::open() {
  Result<Configuration> configuration = producer_configuration(settings_, address_);
  if (!configuration) return fail(std::move(configuration).error());
  rd_kafka_conf_set_dr_msg_cb(configuration->get(), &Publisher::on_report);
  Result<Client> producer = make_client(RD_KAFKA_PRODUCER, *std::move(configuration));
  if (!producer) return fail(std::move(producer).error());
  producer_ = *std::move(producer);
  return {};
}

Result<> Publisher::publish(std::span<const Outgoing> messages, Deadline deadline) {
  if (!producer_) {
    if (Result<> opened = open(); !opened) return opened;
  }
  Reports reports;
  Result<> sent;
  for (const Outgoing& message : messages) {
    sent = send(message, reports, deadline);
    if (!sent) break;
  }
  while (reports.open > 0 && steady_clock::now() < deadline) {
    rd_kafka_poll(producer_.get(), std::min(100, milliseconds_until(deadline)));
  }
  // Reports that come later would find these gone: so does their producer.
  const bool is_late = reports.open > 0;
  if (is_late) producer_.reset();
  if (!sent) return sent;
  if (reports.error && reports.error->code != ErrorCode::kUnavailable) return fail(*reports.error);
  if (!is_late && !reports.error) return {};
  const std::string why = reports.error ? reports.error->message : "Kafka did not answer in time";
  return fail(ErrorCode::kInDoubt, why + "; some messages may have been published");
}

Result<> Publisher::send(const Outgoing& message, Reports& reports, Deadline deadline) {
  const auto make_headers = [&message] {
    rd_kafka_headers_t* headers = rd_kafka_headers_new(message.headers.size() + 1);
    const auto add = [&](std::string_view name, const std::string& value) {
      rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
    };
    for (const Header& header : message.headers) add(header.name, header.value);
    if (!message.id.empty()) add(kIdHeader, message.id);
    return headers;
  };
  for (;;) {
    rd_kafka_headers_t* headers = make_headers();
    // No key is not an empty key: the one goes to any partition, the other always to the same.
    char* key = message.key.empty() ? nullptr : const_cast<char*>(message.key.data());
    // As an array: the macros of the other call are no C++.
    std::array<rd_kafka_vu_t, 6> fields{};
    fields[0] = {.vtype = RD_KAFKA_VTYPE_TOPIC, .u = {.cstr = message.topic.c_str()}};
    fields[1] = {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u = {.i = RD_KAFKA_MSG_F_COPY}};
    fields[2] = {.vtype = RD_KAFKA_VTYPE_KEY, .u = {.mem = {key, message.key.size()}}};
    fields[3] = {.vtype = RD_KAFKA_VTYPE_VALUE,
                 .u = {.mem = {const_cast<char*>(message.body.data()), message.body.size()}}};
    fields[4] = {.vtype = RD_KAFKA_VTYPE_HEADERS, .u = {.headers = headers}};
    fields[5] = {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u = {.ptr = &reports}};
    rd_kafka_error_t* error = rd_kafka_produceva(producer_.get(), fields.data(), fields.size());
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++reports.open;
      return {};
    }
    // They are the record's only where there is one.
    rd_kafka_headers_destroy(headers);
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return fail(translate(code, rd_kafka_err2str(code)));
    if (steady_clock::now() >= deadline) {
      return fail(ErrorCode::kInDoubt,
                  "Kafka takes messages too slowly; some may have been published");
    }
    rd_kafka_poll(producer_.get(), 100);
  }
}

}  // namespace recourse::message::kafka
