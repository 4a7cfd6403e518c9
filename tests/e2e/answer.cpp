#include "tests/e2e/answer.h"

#include <ostream>

namespace torchwatch::e2e {

using nlohmann::json;

FoundSearch search_of(json const& found) {
  FoundSearch search;
  auto const& outcome = found.at("outcome");
  if (outcome.is_string()) search.outcome = outcome.get<std::string>();
  auto const& culprit = found.at("culprit");
  if (culprit.is_object()) {
    search.culprit = culprit.at("sha").get<std::string>();
    auto const& pull_request = culprit.at("pull_request");
    if (pull_request.is_number()) search.pull_request = pull_request.get<int>();
  }
  for (auto const& suspect : found.at("suspects"))
    search.suspects.push_back(suspect.at("sha"));
  return search;
}

Answer answer_of(json const& found) {
  Answer answer;
  for (auto const& verdict : found.at("verdicts"))
    answer.verdicts[verdict.at("name")] = verdict.at("verdict");
  for (auto const& incident : found.at("incidents")) {
    for (auto const& change : incident.at("changes"))
      answer.moved.insert(change.at("name").get<std::string>());
    for (auto const& search : incident.at("bisections"))
      answer.searches.push_back(search_of(search));
  }
  return answer;
}

void PrintTo(FoundSearch const& search, std::ostream* stream) {
  *stream << search.outcome << " " << search.culprit.value_or("-") << " #"
          << search.pull_request.value_or(0) << ", " << search.suspects.size() << " suspects";
}

void PrintTo(Answer const& answer, std::ostream* stream) {
  for (auto const& [series, verdict] : answer.verdicts)
    *stream << series << " " << verdict << "; ";
  for (auto const& search : answer.searches) {
    PrintTo(search, stream);
    *stream << "; ";
  }
}

}  // namespace torchwatch::e2e
