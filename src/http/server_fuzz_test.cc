#include <gtest/gtest.h>

#include "http/request_fuzz.h"
#include "http/server_fixture.h"

namespace recourse::http {
namespace {

TEST_F(ServerTest, AnswersOrClosesWhateverItIsSent) {
  ServerSettings settings = on_a_free_port();
  settings.header_bytes_max = 2'000;
  settings.body_bytes_max = 2'000;
  serve([](const Request&, Responder responder) { std::move(responder).send({.body = "ok"}); },
        settings);

  EXPECT_EQ(fuzz_server(server_->port(), 4'000, 1).value_or(""), "");
}

}  // namespace
}  // namespace recourse::http
