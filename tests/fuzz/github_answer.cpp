#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "github/answer.h"
#include "github/client.h"
#include "http/url.h"
#include "tests/fakes/github/run.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

using github::Request;
using github::Response;

class StoppedClock final : public Clock {
 public:
  Timestamp now() const override { return Timestamp{std::chrono::seconds{1'800'000'000}}; }
};

/// Reads a response: a status, header fields, an empty line, and the body.
Response response_in(std::string const& text) {
  std::istringstream stream{text};
  Response response;
  std::string line;
  std::getline(stream, line);
  std::from_chars(line.data(), line.data() + line.size(), response.status);
  while (std::getline(stream, line) && !line.empty()) {
    auto const colon = std::min(line.find(':'), line.size());
    auto const name = boost::to_lower_copy(line.substr(0, colon));
    auto const value = colon == line.size() ? "" : boost::trim_copy(line.substr(colon + 1));
    if (is_one_line(value)) response.headers[name] = value;
  }
  response.body.assign(std::istreambuf_iterator<char>{stream}, {});
  return response;
}

/// Sends prepared responses in order, then breaks the connection.
class PreparedResponses final : public github::Transport {
 public:
  explicit PreparedResponses(std::vector<Response> answers) : answers_{std::move(answers)} {}

  boost::asio::awaitable<Result<Response>> send(Request request) override {
    auto const url = torchwatch::http::Url::parse(request.url);
    require(url && url->origin() == "https://api.github.com:443" && !url->has_credentials(),
            "the token is sent only to its host");
    if (at_ == answers_.size()) co_return Error{ErrorCode::unavailable, "connection lost"};
    co_return answers_[at_++];
  }

 private:
  std::vector<Response> answers_;
  std::size_t at_ = 0;
};

boost::asio::awaitable<void> check_pause(std::chrono::seconds pause) {
  require(pause.count() >= 0 && pause <= github::ClientOptions{}.patience, "no pause is too long");
  co_return;
}

github::IssueDraft draft_of_test() {
  github::IssueDraft draft;
  draft.key = "0123";
  draft.title = "slower";
  draft.body = github::marker_of(draft.key) + "\ntext";
  draft.labels = {"perf"};
  return draft;
}

void check_answer_alone(Response const& answer) {
  auto const explanation = github::explanation_of(answer);
  require(is_one_line(explanation) && explanation.size() <= 500, "an explanation is a short line");
  auto const now = StoppedClock{}.now();
  for (auto const earlier : {0, 1, 100})
    require(github::pause_asked_by(answer, now, earlier).count() >= 0, "no wait is negative");
  static_cast<void>(github::kind_of(answer));
  static_cast<void>(github::next_page(answer));
}

void check_created(github::CreatedIssue const& issue) {
  require(issue.number > 0, "issues count from one");
}

}  // namespace

/// Up to four responses of GitHub, one after the other.
void github_answer(std::string_view input) {
  std::vector<Response> answers;
  for (auto const& part : parts_of(input, 4))
    if (!part.empty()) answers.push_back(response_in(part));
  for (auto const& answer : answers)
    check_answer_alone(answer);
  StoppedClock const clock;
  github::ClientOptions options;
  options.repository = "o/r";
  options.tokens = std::make_shared<github::FixedToken>("t");
  options.retries = 2;
  auto const with_client = [&](auto ask) {
    PreparedResponses transport{answers};
    github::Client client{transport, clock, check_pause, options};
    return fakes::run(ask(client));
  };
  auto const filed =
      with_client([](auto& client) { return client.file_once(draft_of_test(), {}); });
  if (filed) check_created(*filed);
  if (auto const access = with_client([](auto& client) { return client.access(); }))
    static_cast<void>(github::obstacle_to_issues(*access));
  if (auto const keys = with_client([](auto& client) { return client.keys_labelled("false"); }))
    for (auto const& key : *keys)
      require(github::key_in(github::marker_of(key)) == key,
              "a written key is read as an equal one");
}

}  // namespace torchwatch::fuzz
