// An order service that grants points for every order. An order is never refused because of them.
#pragma once

#include <memory>
#include <string>

#include "examples/points_service.h"
#include "recourse/degrade.h"
#include "recourse/json.h"

struct Grant {
  std::string member;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Grant, member, amount)

class OrderService {
 public:
  OrderService(recourse::Degrade& degrade, std::shared_ptr<PointsService> points)
      : degrade_(degrade), points_(std::move(points)) {}

  // What the member reads on the page.
  std::string pay(const std::string& order, const std::string& member, int total) {
    // ... the order is paid and in its database by now; whatever comes, it stays so ...
    const int earned = total / 10;
    const auto granted =
        degrade_.attempt("grant-points", Grant{member, earned},
                         {.member = member,
                          .related_id = order,
                          .type = "EARN_ORDER",
                          .amount = earned,
                          .remark = "for an order"},
                         // By value: it may still run when this function has returned.
                         [points = points_, member, earned](const recourse::InlineCall& call) {
                           return points->grant(call.id(), member, earned);
                         });
    if (!granted) {
      // Neither the store nor the spool took it: somebody has to look at once.
      return order + " is paid; please tell us that points are missing: " + granted.error().message;
    }
    if (granted->degraded) return order + " is paid; your points will follow";
    return order + " is paid; you have " + std::to_string(*granted->value) + " points";
  }

 private:
  recourse::Degrade& degrade_;
  std::shared_ptr<PointsService> points_;
};
