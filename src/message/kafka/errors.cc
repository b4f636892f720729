#include "message/kafka/errors.h"

#include <fmt/format.h>

#include "base/text.h"

namespace recourse::message::kafka {
namespace {

constexpr std::size_t kWordsMax = 300;

struct Meaning {
  ErrorCode code;
  std::string_view advice;
};

Meaning meaning_of(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
      return {ErrorCode::kInvalid,
              "; check the user and the password in the URL, and kafka.sasl_mechanism"};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return {ErrorCode::kInvalid,
              "; the user needs the rights to read the topic and to use the group"};
    case RD_KAFKA_RESP_ERR__SSL:
      return {
          ErrorCode::kInvalid,
          "; set tls_ca to the authority that signed the brokers' certificates, and use kafkas:// "
          "only where the brokers speak TLS"};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return {ErrorCode::kNotFound, "; create the topic, or correct its name"};
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
      return {ErrorCode::kInvalid,
              "; heartbeat must lie within the brokers' group.min.session.timeout.ms (6 s) and "
              "group.max.session.timeout.ms"};
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return {ErrorCode::kInvalid, "; raise the topic's max.message.bytes"};
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID: return {ErrorCode::kInvalid, ""};
    default: return {ErrorCode::kUnavailable, ""};
  }
}

}  // namespace

Error translate(rd_kafka_resp_err_t code, std::string_view words) {
  const Meaning meaning = meaning_of(code);
  return {meaning.code, fmt::format("Kafka: {} ({}){}", one_line(words, kWordsMax),
                                    rd_kafka_err2name(code), meaning.advice)};
}

}  // namespace recourse::message::kafka
