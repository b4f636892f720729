// The description of the API and the routes tell the same.
#include "api/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "api/route.h"

namespace recourse::api {
namespace {

using boost::json::object;
using boost::json::value;

const value& description() {
  static const value parsed = boost::json::parse(openapi_text());
  return parsed;
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

void for_each_operation(const std::function<void(const std::string&, const object&)>& look) {
  for (const auto& [path, methods] : description().at("paths").as_object()) {
    for (const auto& [method, operation] : methods.as_object()) {
      look(std::string(method) + " " + std::string(path), operation.as_object());
    }
  }
}

// Every $ref, wherever it stands.
void collect_references(const value& at, std::set<std::string>& found) {
  if (const auto* list = at.if_array()) {
    for (const value& item : *list) collect_references(item, found);
  }
  const auto* members = at.if_object();
  if (members == nullptr) return;
  for (const auto& [name, member] : *members) {
    if (name == "$ref") found.emplace(member.as_string());
    collect_references(member, found);
  }
}

// Follows a reference into the document; the thing itself where it is none.
const object& resolved(const value& at) {
  const auto* reference = at.as_object().if_contains("$ref");
  if (reference == nullptr) return at.as_object();
  return description().at_pointer(reference->as_string().subview(1)).as_object();
}

bool is_problem(const value& response) {
  const object& whole = resolved(response);
  const value* content = whole.if_contains("content");
  return content != nullptr && content->as_object().contains("application/problem+json");
}

TEST(Openapi, HasTheRoutesAndNoOthersEachWithItsRole) {
  std::map<std::string, std::string> routes;
  for (const Route& route : all_routes()) {
    routes[lower(http::to_string(route.method)) + " " + std::string(route.path)] =
        to_string(route.role);
  }
  std::map<std::string, std::string> described;
  for_each_operation([&](const std::string& name, const object& operation) {
    described[name] = operation.at("x-role").as_string();
    const bool is_open = operation.contains("security");
    EXPECT_EQ(is_open, operation.at("x-role") == "none") << name;
  });
  EXPECT_EQ(described, routes);
}

TEST(Openapi, SaysWhichRoutesHaveTheShapeOfTheirSource) {
  std::map<std::string, bool> routes;
  for (const Route& route : all_routes()) {
    routes[lower(http::to_string(route.method)) + " " + std::string(route.path)] =
        route.shape == Shape::kSource;
  }
  for_each_operation([&](const std::string& name, const object& operation) {
    EXPECT_EQ(operation.contains("x-shape"), routes[name]) << name;
  });
}

TEST(Openapi, EveryReferenceLeadsSomewhereAndEveryPartIsUsed) {
  std::set<std::string> references;
  collect_references(description(), references);
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with("#/")) << reference;
    boost::json::error_code error;
    EXPECT_NE(description().find_pointer(reference.substr(1), error), nullptr) << reference;
  }
  for (const std::string_view part : {"schemas", "parameters", "responses"}) {
    for (const auto& [name, shape] : description().at("components").at(part).as_object()) {
      const std::string reference = "#/components/" + std::string(part) + "/" + std::string(name);
      EXPECT_TRUE(references.contains(reference)) << reference;
    }
  }
}

TEST(Openapi, EveryOperationSaysWhatItDoesAndHowItAnswers) {
  std::set<std::string> ids;
  for_each_operation([&](const std::string& name, const object& operation) {
    EXPECT_TRUE(ids.emplace(operation.at("operationId").as_string()).second) << name;
    EXPECT_FALSE(operation.at("summary").as_string().empty()) << name;
    bool has_success = false;
    bool has_problem = false;
    for (const auto& [status, response] : operation.at("responses").as_object()) {
      EXPECT_FALSE(resolved(response).at("description").as_string().empty()) << name;
      if (status.starts_with('2')) {
        has_success = true;
      } else {
        has_problem = true;
        // The sources' own routes refuse in the sources' shape.
        EXPECT_EQ(is_problem(response), !operation.contains("x-shape"))
            << name << " " << std::string_view(status);
      }
    }
    EXPECT_TRUE(has_success) << name;
    EXPECT_TRUE(has_problem) << name;
  });
}

TEST(Openapi, EveryNameInAPathIsAParameter) {
  for_each_operation([&](const std::string& name, const object& operation) {
    std::set<std::string> asked;
    for (std::size_t at = name.find('{'); at != std::string::npos; at = name.find('{', at + 1)) {
      asked.insert(name.substr(at + 1, name.find('}', at) - at - 1));
    }
    std::set<std::string> given;
    if (const value* parameters = operation.if_contains("parameters")) {
      for (const value& parameter : parameters->as_array()) {
        const object& whole = resolved(parameter);
        EXPECT_FALSE(whole.at("description").as_string().empty()) << name;
        if (whole.at("in") == "path") given.emplace(whole.at("name").as_string());
      }
    }
    EXPECT_EQ(given, asked) << name;
  });
}

}  // namespace
}  // namespace recourse::api
