// For tests of the client: what all of them do.
#pragma once

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "http/client.h"
#include "http/test_server.h"

namespace recourse::http {

using Then = TestServer::Then;

inline std::unique_ptr<Client> open_client(const Client::Settings& settings = {}) {
  return Client::open(settings).value();
}

inline TestServer::Script always(std::string bytes, Then then = Then::kKeep) {
  return [reply = TestServer::Reply{.bytes = std::move(bytes), .after = {}, .then = then}](
             const TestServer::Seen&) { return reply; };
}

inline const CallFailed& failure_of(const CallResult& result) {
  static const CallFailed none{CallTrouble::kStopped, "there was an answer"};
  const auto* failed = std::get_if<CallFailed>(&result);
  EXPECT_NE(failed, nullptr) << "answered with status " << std::get<Answer>(result).status;
  return failed == nullptr ? none : *failed;
}

inline const Answer& answer_of(const CallResult& result) {
  static const Answer none{};
  const auto* answer = std::get_if<Answer>(&result);
  EXPECT_NE(answer, nullptr) << std::get<CallFailed>(result).message;
  return answer == nullptr ? none : *answer;
}

// Not `localhost`, which libcurl knows without asking.
inline std::string own_name() {
  std::array<char, 256> name{};
  EXPECT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  return name.data();
}

inline bool points_to_loopback(const std::string& name) {
  const hostent* found = ::gethostbyname(name.c_str());
  return found != nullptr && found->h_addrtype == AF_INET && found->h_addr_list[0][0] == 127;
}

}  // namespace recourse::http
