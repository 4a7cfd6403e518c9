#include "tests/e2e/bisections.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/e2e/eventually.h"

namespace torchwatch::e2e {

using nlohmann::json;

json request_for_a_bisection(World const& world) {
  auto const& truth = world.truth();
  auto const& effect = truth.at("culprits").at(0).at("effects").at(0);
  return {{"start", truth.at("nightlies").at(0).at("commit")},
          {"end", truth.at("nightlies").at(1).at("commit")},
          {"benchmarks", {effect.at("benchmark")}},
          {"metric", effect.at("metric")}};
}

std::string ask(World const& world, Service const& service, json const& patch) {
  auto request = request_for_a_bisection(world);
  request.merge_patch(patch);
  auto const accepted = service.post("/api/v1/bisections", request);
  EXPECT_EQ(accepted.status, 202) << accepted.body;
  return json::parse(accepted.body).at("url");
}

Finished bisections(World& world, Service const& service, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bisections");
  arguments.insert(arguments.end(),
                   {"--server", service.url(), "--token-file", service.token_file()});
  return world.run(arguments);
}

void expect_steered(Finished const& command, std::string const& id, std::string const& state) {
  EXPECT_EQ(command.status, 0) << command.err;
  EXPECT_EQ(command.out, "bisection " + id + ": " + state + "\n");
}

json ended_bisection(Service const& service, std::string const& url) {
  json bisection;
  auto const ended = eventually([&] {
    bisection = service.get(url);
    return bisection.at("state") == "done" || bisection.at("state") == "failed";
  });
  EXPECT_TRUE(ended) << bisection.dump(1);
  return bisection;
}

std::ptrdiff_t done_in(json const& bisection) {
  auto const& steps = bisection.at("steps");
  return std::count_if(
      steps.begin(), steps.end(), [](json const& step) { return step.at("done") == true; });
}

void expect_resumed(json const& before, json const& after) {
  auto const& steps = before.at("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.at(i).at("done") == false) continue;
    auto now = after.at("steps").at(i);
    // It was interrupted before the measurements of the whole wave were used.
    if (steps.at(i).at("beliefs").empty()) now["beliefs"] = json::array();
    EXPECT_EQ(now, steps.at(i)) << "a step was repeated or changed";
  }
}

bool is_at_rest(Service const& service) {
  auto const nightlies = service.get("/api/v1/nightlies").at("items");
  return nightlies.size() == 2 && nightlies.at(0).at("state") == "done";
}

}  // namespace torchwatch::e2e
