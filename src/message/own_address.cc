#include "message/own_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <memory>

namespace recourse::message {
namespace {

std::string find_address() {
  ifaddrs* listed = nullptr;
  if (::getifaddrs(&listed) != 0) return "127.0.0.1";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(listed, ::freeifaddrs);
  for (const ifaddrs* one = listed; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof(address));
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr) {
      return text.data();
    }
  }
  return "127.0.0.1";
}

}  // namespace

const std::string& own_address() {
  static const std::string address = find_address();
  return address;
}

}  // namespace recourse::message
