// Alerts over the wire. DEGR-5, MSG-11
#include "tests/server_fixture.h"

namespace recourse::app {
namespace {

using testing::SizeIs;

class ApiAlerts : public ApiTest {
 protected:
  void start_watching() {
    start("  work: {type: worker}\n",
          "notify:\n  alerts-every: 1s\n  alerts:\n"
          "    - {name: quiet, figure: count, state: dead, at-least: 1000}\n"
          "    - {name: waiting, figure: count, state: pending, kinds: [work], at-least: 2}\n"
          "    - {name: stalled, figure: stalled, at-least: 60}\n");
  }
  object alert(const std::string& name) {
    for (const value& item : get("/api/v1/alerts", "VIEWER").items()) {
      if (item.at("name").as_string() == std::string_view(name)) return item.as_object();
    }
    ADD_FAILURE() << "no alert " << name;
    return {};
  }
  bool fires(const std::string& name) { return alert(name).at("firing").as_bool(); }
};

TEST_P(ApiAlerts, AreListedAsTheyAreDeclared) {
  start_watching();
  EXPECT_THAT(get("/api/v1/alerts", "VIEWER").items(), SizeIs(3));
  EXPECT_EQ(alert("quiet").at("subject"), "dead tasks");
  EXPECT_EQ(alert("quiet").at("at_least"), 1000);
  EXPECT_EQ(alert("quiet").at("clear"), 800);
  EXPECT_TRUE(alert("stalled").at("since").is_null());
  EXPECT_FALSE(fires("quiet"));
}

TEST_P(ApiAlerts, OneFiresAndIsOverAgain) {
  start_watching();
  const std::string first = submit(R"({"kind":"work","payload":1})");
  submit(R"({"kind":"work","payload":2})");

  ASSERT_TRUE(eventually([&] { return fires("waiting"); }));
  EXPECT_EQ(alert("waiting").at("value"), 2);
  EXPECT_FALSE(alert("waiting").at("node").is_null());
  EXPECT_EQ(get("/api/v1/alerts", "VIEWER").items().at(0).at("name"), "waiting")
      << "what fires comes first";

  EXPECT_EQ(post("/api/v1/tasks/" + first + "/cancel", "{}").status, 200);
  EXPECT_TRUE(eventually([&] { return !fires("waiting"); }));
}

INSTANTIATE_TEST_SUITE_P(Stores, ApiAlerts, testing::ValuesIn(kStores), store_name);

}  // namespace
}  // namespace recourse::app
