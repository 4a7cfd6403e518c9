#include "tests/e2e/answer.h"

#include <algorithm>
#include <ostream>

namespace torchwatch::e2e {

using nlohmann::json;

namespace {

bool rose(json const& effect) {
  return effect.at("after") > effect.at("before");
}

Found finding_of(json const& found) {
  Found finding;
  for (auto const& suspect : found.at("suspects"))
    finding.suspects.push_back(suspect.at("sha"));
  auto const& culprit = found.at("culprit");
  if (culprit.is_object()) {
    finding.culprit = culprit.at("sha").get<std::string>();
    auto const& pull_request = culprit.at("pull_request");
    if (pull_request.is_number()) finding.pull_request = pull_request.get<int>();
  }
  auto const& effects = found.at("effects");
  finding.is_worse = std::ranges::any_of(effects, rose);
  return finding;
}

}  // namespace

FoundBisection bisection_of(json const& found) {
  FoundBisection bisection;
  auto const& outcome = found.at("outcome");
  if (outcome.is_string()) bisection.outcome = outcome.get<std::string>();
  for (auto const& finding : found.at("findings"))
    bisection.findings.push_back(finding_of(finding));
  std::ranges::sort(bisection.findings);
  return bisection;
}

Answer answer_of(json const& found) {
  Answer answer;
  for (auto const& verdict : found.at("verdicts"))
    answer.verdicts[verdict.at("name")] = verdict.at("verdict");
  for (auto const& incident : found.at("incidents")) {
    for (auto const& change : incident.at("changes"))
      answer.moved.insert(change.at("name").get<std::string>());
    for (auto const& bisection : incident.at("bisections"))
      answer.bisections.push_back(bisection_of(bisection));
  }
  return answer;
}

void PrintTo(Found const& found, std::ostream* stream) {
  *stream << (found.is_worse ? "worse by " : "better by ") << found.culprit.value_or("-") << " #"
          << found.pull_request.value_or(0) << ", suspects:";
  for (auto const& suspect : found.suspects)
    *stream << " " << suspect;
}

void PrintTo(FoundBisection const& bisection, std::ostream* stream) {
  *stream << bisection.outcome;
  for (auto const& finding : bisection.findings) {
    *stream << ", ";
    PrintTo(finding, stream);
  }
}

void PrintTo(Answer const& answer, std::ostream* stream) {
  for (auto const& [series, verdict] : answer.verdicts)
    *stream << series << " " << verdict << "; ";
  for (auto const& bisection : answer.bisections) {
    PrintTo(bisection, stream);
    *stream << "; ";
  }
}

}  // namespace torchwatch::e2e
