// A broker behind TLS is believed only where its certificate is.
#include <sstream>

#include "tests/message_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class MessageTls : public ::testing::Test {
 protected:
  void SetUp() override {
    std::istringstream words(url_of("RECOURSE_TEST_RABBITMQ_TLS"));
    words >> settings_.url >> settings_.tls_ca;
    ASSERT_NE(settings_.tls_ca, "") << "start the test servers with ./dev test";
    settings_.rabbitmq.declare = true;
  }
  Error refusal() {
    const auto source = message::open_source(settings_, log_).value();
    const Result<> refused = source->connect(in(10s));
    EXPECT_FALSE(refused);
    return refused ? Error{} : refused.error();
  }

  NullLog log_;
  SourceSettings settings_{
      .name = "shop", .topic = "tls." + std::to_string(::getpid()), .group = "billing"};
};

TEST_F(MessageTls, MessagesGoBothWaysUnderACertificateOfTheGivenAuthority) {
  const auto source = message::open_source(settings_, log_).value();

  const Result<> connected = source->connect(in(10s));
  ASSERT_TRUE(connected) << connected.error().message;
  const std::vector<Outgoing> messages{{.topic = settings_.topic, .id = "m1", .body = "hello"}};
  ASSERT_TRUE(source->publish(messages, in(10s)));
  const auto received = source->receive(1, in(10s));

  ASSERT_TRUE(received) << received.error().message;
  ASSERT_THAT(*received, SizeIs(1));
  EXPECT_EQ(received->front().body, "hello");
  const std::vector<Verdict> verdicts{{received->front().ticket, Fate::kDone}};
  EXPECT_TRUE(source->settle(verdicts, in(10s)));
}

TEST_F(MessageTls, ACertificateOfAnAuthorityThatNobodyNamedIsRefused) {
  settings_.tls_ca = "";

  const Error refused = refusal();

  EXPECT_EQ(refused.code, ErrorCode::kInvalid) << refused.message;
  EXPECT_THAT(refused.message, HasSubstr("tls_ca"));
}

TEST_F(MessageTls, ACertificateForAnotherNameIsRefused) {
  const std::size_t name = settings_.url.find("localhost");
  settings_.url.replace(name, std::string_view("localhost").size(), "127.0.0.1");

  const Error refused = refusal();

  EXPECT_EQ(refused.code, ErrorCode::kInvalid) << refused.message;
  EXPECT_THAT(refused.message, HasSubstr("by the name in it"));
}

TEST_F(MessageTls, AFileOfAuthoritiesThatIsNotThereIsTold) {
  settings_.tls_ca = "/nowhere/ca.pem";

  const Error refused = refusal();

  EXPECT_EQ(refused.code, ErrorCode::kInvalid) << refused.message;
  EXPECT_THAT(refused.message, HasSubstr("tls_ca"));
}

}  // namespace
}  // namespace recourse::tests
