#include "message/open_source.h"

#include <fmt/format.h>

#include <cstdlib>

#ifdef RECOURSE_WITH_RABBITMQ
#include "message/rabbitmq/source.h"
#endif
#ifdef RECOURSE_WITH_KAFKA
#include "message/kafka/source.h"
#endif
#ifdef RECOURSE_WITH_REDIS
#include "message/redis/source.h"
#endif

namespace recourse::message {
namespace {

[[maybe_unused]] Unexpected left_out(BrokerKind kind, std::string_view package) {
  return fail(ErrorCode::kInvalid,
              fmt::format("this build is without {}: install {} and build again", to_string(kind),
                          package));
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const SourceSettings& settings,
                                            [[maybe_unused]] Log& log) {
  if (Result<> valid = validate(settings); !valid) return fail(std::move(valid).error());
  Result<BrokerKind> kind = broker_of(settings);
  if (!kind) return fail(std::move(kind).error());
  switch (*kind) {
    case BrokerKind::kRabbitmq:
#ifdef RECOURSE_WITH_RABBITMQ
      return rabbitmq::open(settings, log);
#else
      return left_out(*kind, "librabbitmq-dev");
#endif
    case BrokerKind::kKafka:
#ifdef RECOURSE_WITH_KAFKA
      return kafka::open(settings, log);
#else
      return left_out(*kind, "librdkafka-dev");
#endif
    case BrokerKind::kRedis:
#ifdef RECOURSE_WITH_REDIS
      return redis::open(settings, log);
#else
      return left_out(*kind, "libhiredis-dev");
#endif
  }
  std::abort();
}

}  // namespace recourse::message
