#include "tests/e2e/expect.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"

namespace torchwatch::e2e {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsSubsetOf;

namespace {

std::vector<std::string> planted_suspects(json const& truth) {
  return truth.at("culprits").at(0).at("suspects").get<std::vector<std::string>>();
}

/// The verdict of the last step that tried `commit`, and why; empty when none did.
std::pair<std::string, std::string> last_word_on(json const& search, std::string const& commit) {
  std::pair<std::string, std::string> word;
  for (auto const& step : search.at("steps"))
    if (step.at("commit") == commit) word = {step.at("verdict"), step.at("note")};
  return word;
}

/// Where commits do not build, all of them stay suspects, with the reason, up to the one that does.
void expect_explained_range(json const& search, json const& truth) {
  auto const suspects = planted_suspects(truth);
  for (auto const& suspect : suspects) {
    auto const [verdict, note] = last_word_on(search, suspect);
    EXPECT_EQ(verdict, suspect == suspects.back() ? "bad" : "skip") << suspect;
    EXPECT_NE(note, "") << suspect;
  }
  auto const culprit = truth.at("culprits").at(0).at("commit").get<std::string>();
  EXPECT_THAT(suspects, testing::Contains(culprit));
}

void expect_report(World const& world, json const& incident) {
  auto const& truth = world.truth();
  auto const culprit = truth.at("culprits").at(0);
  auto const report = text_of(incident.at("report").get<std::string>());
  EXPECT_THAT(report, HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
  EXPECT_THAT(report,
              HasSubstr("/pull/" + std::to_string(culprit.at("pull_request").get<int>()) + "\n"))
      << "a link to the pull request";
  EXPECT_THAT(report, HasSubstr(culprit.at("effects").at(0).at("benchmark").get<std::string>()));
}

}  // namespace

Answer expect_answer(Finished const& check) {
  EXPECT_EQ(check.signal, 0) << check.err;
  auto const found = json::parse(check.out, nullptr, false);
  EXPECT_TRUE(found.is_object()) << check.out << check.err;
  return found.is_object() ? answer_of(found) : Answer{};
}

std::set<std::string> planted_series(json const& truth) {
  std::set<std::string> series;
  for (auto const& culprit : truth.at("culprits"))
    for (auto const& effect : culprit.at("effects"))
      series.insert(effect.at("benchmark").get<std::string>() + "_" +
                    effect.at("metric").get<std::string>());
  return series;
}

void expect_culprit(World const& world, FoundSearch const& search) {
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_EQ(search.outcome, "culprit");
  EXPECT_EQ(search.culprit, culprit.at("commit").get<std::string>());
  EXPECT_EQ(search.pull_request, culprit.at("pull_request").get<int>());
}

void expect_truth(World const& world, Finished const& check) {
  auto const& truth = world.truth();
  auto const answer = expect_answer(check);
  if (truth.at("culprits").empty()) {
    EXPECT_EQ(check.status, 0) << check.err;
    EXPECT_TRUE(answer.moved.empty()) << testing::PrintToString(answer);
    return;
  }
  EXPECT_EQ(check.status, 1) << check.err;
  ASSERT_FALSE(answer.moved.empty());
  EXPECT_THAT(answer.moved, IsSubsetOf(planted_series(truth)));
  ASSERT_EQ(answer.searches.size(), 1U) << testing::PrintToString(answer);
  auto const& search = answer.searches.front();
  EXPECT_EQ(search.suspects, planted_suspects(truth));
  auto const incident = json::parse(check.out).at("incidents").at(0);
  if (search.suspects.size() == 1) {
    expect_culprit(world, search);
    expect_report(world, incident);
  } else {
    EXPECT_EQ(search.outcome, "range");
    expect_explained_range(incident.at("bisections").at(0), truth);
  }
}

void expect_no_process_left(World const& world) {
  // What a killed service was compiling goes on without it, and a slow host takes its time.
  constexpr std::chrono::seconds patience{120};
  std::vector<SeenProcess> left;
  eventually(
      [&] {
        left = world.processes();
        return left.empty();
      },
      patience);
  for (auto const& process : left)
    ADD_FAILURE() << "process " << process.pid
                  << " lives on: " << testing::PrintToString(process.argv);
}

}  // namespace torchwatch::e2e
