#include <map>
#include <ostream>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/builds/build_request.h"
#include "storage/domain/alarm.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"
#include "storage/domain/build.h"
#include "storage/domain/comparison.h"
#include "storage/domain/incident.h"
#include "storage/domain/outbox.h"
#include "storage/domain/ruling.h"
#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

namespace torchwatch::tests {
namespace {

using nlohmann::json;

/// The methods and parameters of a path.
struct Taken {
  std::set<std::string> methods;
  std::set<std::string> parameters;  ///< in the query of a GET
  bool takes_any_parameter = false;
  bool has_id = false;
  friend bool operator==(Taken const&, Taken const&) = default;

  friend std::ostream& operator<<(std::ostream& out, Taken const& taken) {
    return out << ::testing::PrintToString(taken.methods) << " with "
               << ::testing::PrintToString(taken.parameters)
               << ", any: " << taken.takes_any_parameter << ", id: " << taken.has_id;
  }
};

std::map<std::string, Taken> routed() {
  std::map<std::string, Taken> all;
  for (auto const& route : api::outline()) {
    Taken taken;
    taken.methods = {"get"};
    if (route.may_be_posted_to) taken.methods.insert("post");
    taken.parameters = {route.parameters.begin(), route.parameters.end()};
    taken.takes_any_parameter = route.takes_any_parameter;
    taken.has_id = route.path.ends_with("{id}");
    all[std::string{route.path}] = taken;
  }
  return all;
}

/// Returns `part`, or the part of the document that its $ref names.
json resolved(json const& document, json const& part) {
  auto const reference = part.find("$ref");
  if (reference == part.end()) return part;
  return document.at(json::json_pointer{reference->get<std::string>().substr(1)});
}

Taken taken_by(json const& document, json const& path) {
  Taken taken;
  for (auto const& [method, operation] : path.items())
    taken.methods.insert(method);
  for (auto const& given : path.at("get").value("parameters", json::array())) {
    auto const parameter = resolved(document, given);
    if (parameter.at("in") == "path")
      taken.has_id = parameter.at("name") == "id";
    else if (parameter.value("explode", false))
      taken.takes_any_parameter = true;
    else
      taken.parameters.insert(parameter.at("name").get<std::string>());
  }
  return taken;
}

std::map<std::string, Taken> described(json const& document) {
  std::map<std::string, Taken> all;
  for (auto const& [path, item] : document.at("paths").items())
    all[path] = taken_by(document, item);
  return all;
}

TEST(Description, HasAllRoutesWithTheirParameters) {
  LiveApi const api;
  auto const answer = ask(api.port(), get("/api/v1/openapi.json"));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(described(json::parse(answer.body)), routed());
}

/// Returns all words of an enumeration.
template <class Word>
json words() {
  auto all = json::array();
  for (int number = 0;; ++number) {
    auto const text = to_string(static_cast<Word>(number));
    if (text == "unknown") return all;
    all.push_back(text);
  }
}

TEST(Description, HasAllWordsOfEnumerations) {
  LiveApi const api;
  auto const answer = ask(api.port(), get("/api/v1/openapi.json"));
  auto const schemas = json::parse(answer.body).at("components").at("schemas");
  std::map<std::string, json> const all{
      {"AlarmKind", words<AlarmKind>()},
      {"BisectionOutcome", words<BisectionOutcome>()},
      {"BisectionStage", words<BisectionStage>()},
      {"BisectionState", words<BisectionState>()},
      {"BuildAction", words<builds::BuildAction>()},
      {"Device", words<Device>()},
      {"Direction", words<Direction>()},
      {"FindingKind", words<FindingKind>()},
      {"IncidentEventKind", words<IncidentEventKind>()},
      {"IncidentState", words<IncidentState>()},
      {"NightlyState", words<NightlyState>()},
      {"OutboxAction", words<OutboxAction>()},
      {"Prior", words<Prior>()},
      {"RulingKind", words<RulingKind>()},
      {"SlotUse", words<SlotUse>()},
      {"Verdict", words<Verdict>()},
  };
  for (auto const& [name, expected] : all)
    EXPECT_EQ(schemas.at(name).at("enum"), expected) << name;
}

TEST(Description, LeavesMetricsUnitsAndTestsToTheConfiguration) {
  LiveApi const api;
  auto const answer = ask(api.port(), get("/api/v1/openapi.json"));
  auto const schemas = json::parse(answer.body).at("components").at("schemas");
  for (auto const* const name : {"Metric", "Unit", "Test"})
    EXPECT_FALSE(schemas.at(name).contains("enum")) << name;
  EXPECT_EQ(schemas.at("Better").at("enum"), json::array({"lower", "higher"}));
}

TEST(Description, NeedsNoToken) {
  auto options = LiveApi::options_with_token();
  options.access.read_token = "battery-staple";
  LiveApi const api{std::move(options)};
  EXPECT_EQ(ask(api.port(), get("/api/v1/openapi.json")).status, 200);
  EXPECT_EQ(ask(api.port(), get("/api/v1/nightlies")).status, 401);
}

}  // namespace
}  // namespace torchwatch::tests
