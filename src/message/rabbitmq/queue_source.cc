#include "message/rabbitmq/queue_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "message/rabbitmq/errors.h"
#include "message/rabbitmq/properties.h"
#include "message/rabbitmq/source.h"

namespace recourse::message::rabbitmq {
namespace {

using std::chrono::steady_clock;

// Heartbeats are sent whenever the library is called, so a wait is cut into pieces.
constexpr auto kWaitMax = std::chrono::milliseconds(500);

}  // namespace

Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log) {
  if (Result<> valid = validate(settings); !valid) return fail(std::move(valid).error());
  Result<Address> address = parse_address(settings.url);
  if (!address) return fail(std::move(address).error());
  if (address->broker != BrokerKind::kRabbitmq) {
    return fail(ErrorCode::kInvalid, "source.url must begin with amqp:// or amqps:// for RabbitMQ");
  }
  return std::unique_ptr<Source>(std::make_unique<QueueSource>(settings, *std::move(address), log));
}

QueueSource::QueueSource(SourceSettings settings, Address address, Log& log)
    : settings_(std::move(settings)),
      address_(std::move(address)),
      link_(settings_, where(address_), log),
      publisher_(settings_, address_) {}

Result<> QueueSource::connect(Deadline deadline) {
  return link_.ensure([this](Deadline until) { return open_session(until); }, deadline);
}

Result<> QueueSource::open_session(Deadline deadline) {
  Result<Connection> opened = Connection::open(settings_, address_, deadline);
  if (!opened) return fail(std::move(opened).error());
  if (Result<> declared = declare(*opened); !declared) return declared;
  const auto prefetch = static_cast<std::uint16_t>(settings_.prefetch);
  amqp_basic_qos(opened->get(), kChannel, 0, prefetch, 0);
  if (Result<> agreed = opened->checked("to bound what is delivered"); !agreed) return agreed;
  amqp_basic_consume(opened->get(), kChannel, bytes(settings_.topic), bytes(settings_.consumer), 0,
                     0, 0, amqp_empty_table);
  Result<> consuming =
      opened->checked(fmt::format("to consume from the queue '{}'", settings_.topic));
  if (consuming) connection_ = *std::move(opened);
  return consuming;
}

Result<> QueueSource::declare(const Connection& connection) const {
  if (!settings_.rabbitmq.declare) return {};
  const bool is_quorum = settings_.rabbitmq.queue_type == QueueType::kQuorum;
  amqp_table_entry_t type{};
  type.key = bytes("x-queue-type");
  type.value.kind = AMQP_FIELD_KIND_UTF8;
  type.value.value.bytes = bytes(is_quorum ? "quorum" : "classic");
  constexpr amqp_boolean_t kDurable = 1;
  amqp_queue_declare(connection.get(), kChannel, bytes(settings_.topic), 0, kDurable, 0, 0,
                     {1, &type});
  return connection.checked(fmt::format("to declare the queue '{}'", settings_.topic));
}

Error QueueSource::lose_session(const Error& why) {
  connection_ = Connection();
  return link_.lost(why, out_.clear());
}

Result<std::vector<Message>> QueueSource::receive(std::size_t max, Deadline deadline) {
  if (link_.wakeup().woken()) return std::vector<Message>();
  if (Result<> connected = connect(deadline); !connected) {
    if (link_.wakeup().woken()) return std::vector<Message>();
    return fail(std::move(connected).error());
  }
  std::vector<Message> batch;
  if (max == 0) {
    if (Result<> alive = stay_alive(deadline); !alive) return fail(lose_session(alive.error()));
    return batch;
  }
  while (batch.size() < max) {
    Result<bool> taken = take_one(batch);
    if (!taken) return fail(lose_session(taken.error()));
    if (*taken) continue;
    if (!batch.empty() || steady_clock::now() >= deadline) break;
    const Deadline pause = std::min(deadline, steady_clock::now() + kWaitMax);
    const int socket = amqp_get_sockfd(connection_.get());
    if (link_.wakeup().wait(socket, pause) == Wakeup::Cause::kWoken && link_.wakeup().woken())
      break;
  }
  return batch;
}

// Reading would bring messages, so the library is not called; the broker hears of us all the same.
Result<> QueueSource::stay_alive(Deadline deadline) {
  const Deadline now = steady_clock::now();
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + settings_.heartbeat / 3;
    amqp_frame_t heartbeat{};
    heartbeat.frame_type = AMQP_FRAME_HEARTBEAT;
    const int status = amqp_send_frame(connection_.get(), &heartbeat);
    if (status != AMQP_STATUS_OK) return fail(translate_status(status, "to be told of us"));
  }
  const Deadline pause = std::min(deadline, now + kWaitMax);
  if (link_.wakeup().wait(-1, pause) == Wakeup::Cause::kWoken) (void)link_.wakeup().woken();
  return {};
}

Result<bool> QueueSource::take_one(std::vector<Message>& batch) {
  amqp_maybe_release_buffers(connection_.get());
  amqp_envelope_t envelope{};
  const timeval at_once{0, 0};
  const amqp_rpc_reply_t reply = amqp_consume_message(connection_.get(), &envelope, &at_once, 0);
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
    const FilledEnvelope filled(&envelope);
    batch.push_back(named(envelope));
    return true;
  }
  const bool is_library = reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION;
  if (is_library && reply.library_error == AMQP_STATUS_TIMEOUT) return false;
  if (is_library && reply.library_error == AMQP_STATUS_UNEXPECTED_STATE) {
    if (Result<> harmless = read_other_frame(); !harmless) return fail(std::move(harmless).error());
    return false;
  }
  return fail(check(reply, "any more").error());
}

Message QueueSource::named(const amqp_envelope_t& envelope) {
  Message message = message_of(envelope, settings_.topic);
  message.source = settings_.name;
  message.ticket = out_.add(envelope.delivery_tag);
  if (message.id_origin == IdOrigin::kBodyHash && !std::exchange(has_warned_of_id_, true)) {
    link_.log().warning(
        "message_without_id",
        {{"source", settings_.name},
         {"topic", settings_.topic},
         {"hint", "equal bodies are taken for one message: publish with message_id"}});
  }
  return message;
}

Result<> QueueSource::read_other_frame() {
  Result<amqp_frame_t> frame = connection_.next_frame(steady_clock::now());
  if (!frame) return fail(std::move(frame).error());
  return fail(translate_frame(*frame));
}

Result<Settlement> QueueSource::settle(std::span<const Verdict> verdicts, Deadline) {
  Settlement settlement;
  std::set<DeliveryTag> done;
  std::vector<DeliveryTag> given_back;
  for (const Verdict& verdict : verdicts) {
    const auto tag = out_.take(verdict.ticket);
    if (!tag) {
      settlement.dropped.push_back(verdict.ticket);
    } else if (verdict.fate == Fate::kDone) {
      done.insert(*tag);
    } else {
      given_back.push_back(*tag);
    }
  }
  settlement.accepted = done.size() + given_back.size();
  if (settlement.accepted == 0) return settlement;
  Result<> sent;
  // Before anything that speaks for several: what was given back is no longer among them.
  for (const DeliveryTag tag : given_back) {
    const int status = amqp_basic_reject(connection_.get(), kChannel, tag, 1);
    if (sent && status != AMQP_STATUS_OK)
      sent = fail(translate_status(status, "to give messages back"));
  }
  if (sent) sent = acknowledge(done);
  if (!sent) return fail(lose_session(sent.error()));
  return settlement;
}

// All up to the first that is undecided in one frame, the rest one by one. RabbitMQ counts what it
// delivers, so tags grow with tickets.
Result<> QueueSource::acknowledge(const std::set<DeliveryTag>& done) {
  const bool is_all = out_.all().empty();
  auto rest = is_all ? done.end() : done.lower_bound(out_.all().begin()->second);
  int status = AMQP_STATUS_OK;
  if (rest != done.begin())
    status = amqp_basic_ack(connection_.get(), kChannel, *std::prev(rest), 1);
  for (; rest != done.end() && status == AMQP_STATUS_OK; ++rest) {
    status = amqp_basic_ack(connection_.get(), kChannel, *rest, 0);
  }
  if (status != AMQP_STATUS_OK) return fail(translate_status(status, "to acknowledge messages"));
  return {};
}

Result<> QueueSource::publish(std::span<const Outgoing> messages, Deadline deadline) {
  return publisher_.publish(messages, deadline);
}

Result<std::size_t> QueueSource::close(Deadline deadline) {
  publisher_.close(deadline);
  connection_.close(deadline);
  link_.closed();
  return out_.clear();
}

}  // namespace recourse::message::rabbitmq
