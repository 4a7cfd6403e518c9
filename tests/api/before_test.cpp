#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/api/routes.h"
#include "tests/api/stored_story.h"

// A database that the version before wrote is read as that version answered. tests/data/before has
// the database (store.sql), requests by name (routes.json) and the answers of the program of that
// day (NAME.json). They are history: nothing rewrites them.
namespace torchwatch::tests {
namespace {

using nlohmann::json;

/// What differs on purpose: keys, by what they were called.
std::map<std::string, std::string> const renamed{
    {"cure", "revert_check"}, {"no_cure", "no_revert_check"}, {"turn", "wave"}};
/// New keys, by a key of the objects that have them.
std::multimap<std::string, std::string> const added{{"no_revert_check", "kind"},
                                                    {"no_revert_check", "headline"},
                                                    {"no_revert_check", "reason"},
                                                    {"revert_check", "reason"},
                                                    {"error_bound", "headline"},
                                                    {"error_bound", "interval"},
                                                    {"outcome", "headline"},
                                                    {"steps", "reason"},
                                                    {"differences", "headline"},
                                                    {"differences", "reason"},
                                                    {"opened_at", "headline"}};
/// In names of campaigns.
constexpr std::string_view old_campaign = "/cure/";
constexpr std::string_view new_campaign = "/revert-check/";

std::string before(std::string const& file) {
  std::ifstream stream{TORCHWATCH_TEST_DATA "/before/" + file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// A list of bisections had all of their steps, and has their number.
void count_steps(json& body) {
  if (!body.is_object() || !body.contains("items")) return;
  for (auto& item : body["items"]) {
    if (!item.contains("steps")) continue;
    auto const& steps = item.at("steps");
    item["steps_planned"] = steps.size();
    item["steps_done"] =
        std::ranges::count_if(steps, [](json const& step) { return step.at("done") == true; });
    item.erase("steps");
  }
}

/// An old answer in today's words.
json in_new_words(json const& old) {
  if (old.is_array()) {
    auto list = json::array();
    for (auto const& value : old)
      list.push_back(in_new_words(value));
    return list;
  }
  if (!old.is_object()) return old;
  auto object = json::object();
  for (auto const& [key, value] : old.items()) {
    auto const name = renamed.find(key);
    object[name == renamed.end() ? key : name->second] = in_new_words(value);
  }
  if (auto const campaign = object.find("campaign"); campaign != object.end()) {
    auto text = campaign->get<std::string>();
    if (auto const at = text.find(old_campaign); at != std::string::npos)
      *campaign = text.replace(at, old_campaign.size(), new_campaign);
  }
  count_steps(object);
  return object;
}

/// A new answer without what the old program did not say.
json without_news(json const& answer) {
  auto stripped = answer;
  if (stripped.is_object()) {
    for (auto const& [sign, key] : added)
      if (stripped.contains(sign)) EXPECT_EQ(stripped.erase(key), 1U) << key;
  }
  if (stripped.is_object() && stripped.contains("revert_check")) {
    EXPECT_TRUE(stripped.at("rebuilt").is_null());
    EXPECT_EQ(stripped.erase("rebuilt"), 1U);
    EXPECT_EQ(stripped.erase("is_doubted"), 1U);
  }
  if (stripped.is_object() && stripped.contains("started_at")) {
    EXPECT_EQ(stripped.erase("watching"), 1U);
    EXPECT_EQ(stripped.erase("isolation"), 1U);
    EXPECT_EQ(stripped.erase("slots"), 1U);
  }
  if (stripped.is_object() && stripped.contains("commits") && stripped.contains("findings")) {
    EXPECT_TRUE(stripped.at("commits").empty());
    stripped.erase("commits");
  }
  // Its rounds went there and back; the places of today's are drawn.
  if (stripped.is_object() && stripped.contains("measured_at")) {
    for (auto const* const drawn : {"seed", "place"}) {
      EXPECT_TRUE(stripped.at(drawn).is_null());
      stripped.erase(drawn);
    }
  }
  if (stripped.is_structured())
    for (auto& value : stripped)
      value = without_news(value);
  return stripped;
}

class BeforeTest : public ::testing::Test {
 protected:
  storage::Store migrated() {
    SQLite::Database{folder_.database().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}
        .exec(before("store.sql"));
    return storage::Store::open(folder_.database()).value();
  }

  net::HttpResponse ask(std::string const& target) {
    boost::asio::io_context loop;
    net::HttpRequest request;
    request.method = "GET";
    request.target = target;
    auto answer =
        boost::asio::co_spawn(loop, api_.handle(std::move(request)), boost::asio::use_future);
    loop.run();
    return answer.get();
  }

  TemporaryFolder folder_;
  storage::Store store_ = migrated();
  FixedClock clock_;
  api::VitalSigns signs_;
  metrics::Counters counters_;
  api::Api api_{store_, clock_, signs_, counters_, {}, {}};
};

TEST_F(BeforeTest, EveryRouteAnswersAsItDid) {
  auto const routes = json::parse(before("routes.json"));
  for (auto const& [name, target] : routes.items()) {
    SCOPED_TRACE(target);
    auto const old = json::parse(before(name + ".json"));

    auto const answer = ask(target);

    EXPECT_EQ(answer.status, old.at("status"));
    // Where it leads is for whoever follows it, and not part of the answer.
    EXPECT_EQ(answer.headers.contains("link"), !old.at("link").get<std::string>().empty());
    EXPECT_EQ(without_news(json::parse(answer.text())), in_new_words(old.at("body")));
  }
}

}  // namespace
}  // namespace torchwatch::tests
