#include <utility>

#include "base/invariant.h"
#include "http/server.h"
#include "http/server/exchange.h"

namespace recourse::http {
namespace {

class ExchangeStream final : public Stream {
 public:
  explicit ExchangeStream(std::shared_ptr<Responder::Exchange> exchange)
      : exchange_(std::move(exchange)) {}
  ~ExchangeStream() override { exchange_->end_stream(); }
  ExchangeStream(const ExchangeStream&) = delete;
  ExchangeStream& operator=(const ExchangeStream&) = delete;

  bool write(std::string piece) override { return exchange_->write(piece); }
  void close() override { exchange_->end_stream(); }

 private:
  std::shared_ptr<Responder::Exchange> exchange_;
};

}  // namespace

Responder::Responder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

Responder::~Responder() {
  if (exchange_) exchange_->drop();
}

Responder::Responder(Responder&&) noexcept = default;

Responder& Responder::operator=(Responder&& other) noexcept {
  if (this != &other) {
    if (exchange_) exchange_->drop();
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

void Responder::send(Response response) && {
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  invariant(exchange != nullptr, "a request is answered once");
  exchange->answer(std::move(response));
}

std::shared_ptr<Stream> Responder::stream(Response head) && {
  std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  invariant(exchange != nullptr, "a request is answered once");
  exchange->begin_stream(std::move(head));
  return std::make_shared<ExchangeStream>(std::move(exchange));
}

bool Responder::is_abandoned() const { return !exchange_ || exchange_->is_abandoned(); }

}  // namespace recourse::http
