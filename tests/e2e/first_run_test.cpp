#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>
#include <sys/utsname.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/service.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/fakes/github/certificates.h"

// From nothing to a running service: a configuration is written, checked and used.
namespace torchwatch::e2e {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Returns the date `days` days ago: "2026-01-02".
std::string day_before(int days) {
  auto const today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  std::chrono::year_month_day const day{today - std::chrono::days{days}};
  auto const two_digits = [](unsigned number) {
    return (number < 10 ? "-0" : "-") + std::to_string(number);
  };
  return std::to_string(static_cast<int>(day.year())) +
         two_digits(static_cast<unsigned>(day.month())) +
         two_digits(static_cast<unsigned>(day.day()));
}

/// Returns a page with the wheels of two nightlies for this host: of `days_ago` days ago, and of
/// the day before.
std::string index_page(int days_ago = 0) {
  utsname host{};
  ::uname(&host);
  std::string page;
  for (int const days : {days_ago + 1, days_ago}) {
    auto date = day_before(days);
    std::erase(date, '-');
    auto const name = "torch-2.9.0.dev" + date + "%2Bcpu-cp312-cp312-manylinux_2_28_" +
                      static_cast<char const*>(host.machine) + ".whl";
    page += "<a href=\"/whl/nightly/cpu/" + name + "\">" + name + "</a><br/>\n";
  }
  return page;
}

/// A program that listens and is not torchwatch.
class Listener {
 public:
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  asio::io_context loop_{1};
  asio::ip::tcp::acceptor acceptor_{loop_, {asio::ip::make_address("127.0.0.1"), 0}};
};

int free_port() {
  Listener const listener;
  return listener.port();
}

/// Returns the checks of `config check --json`, by their name.
std::map<std::string, json> checks_of(Finished const& checked) {
  std::map<std::string, json> checks;
  auto const answer = json::parse(checked.out);
  for (auto const& check : answer.at("checks"))
    checks[check.at("what")] = check;
  return checks;
}

/// An empty folder, and a host that publishes nightlies as PyTorch does.
class FirstRun : public testing::Test {
 protected:
  FirstRun() {
    fs::create_directory(folder_);
    host_.host("/whl/nightly/cpu/torch/", {.content = index_page()});
  }

  Finished init() { return world_.run({"init", file_.string(), "--url", host_.url()}); }

  /// Replaces a text in the configuration file, as a user does in an editor.
  void edit(std::string const& from, std::string const& to) const {
    auto text = text_of(file_);
    auto const at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("not in the configuration: " + from);
    text.replace(at, from.size(), to);
    std::ofstream{file_} << text;
  }

  World world_{quick_world()};
  fs::path const folder_ = world_.directory() / "first";
  fs::path const file_ = folder_ / "torchwatch.json";
  fakes::DownloadHost host_;
};

TEST_F(FirstRun, WritesAConfigurationThatIsGoodAndServes) {
  auto const written = init();
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_THAT(written.out,
              AllOf(HasSubstr("torchwatch config check " + file_.string()),
                    HasSubstr("torchwatch --config " + file_.string() + " serve")));
  edit("\"port\": 8917", "\"port\": " + std::to_string(free_port()));

  auto const before = world_.run({"config", "check", file_.string()});
  EXPECT_EQ(before.status, 0) << before.out << before.err;
  EXPECT_THAT(before.out, HasSubstr("2 nightlies, the newest of " + day_before(0)));
  EXPECT_THAT(before.out, HasSubstr("state: can be made"));
  EXPECT_THAT(before.out, Not(HasSubstr("bad")));
  EXPECT_FALSE(fs::exists(folder_ / "state"));

  auto const service = world_.start({"--config", file_.string(), "serve"});
  std::string url;
  eventually([&] { return !(url = listening_url(service.err())).empty(); });
  ASSERT_TRUE(answers(url, "/healthz")) << service.err();

  auto const meanwhile = world_.run({"config", "check", file_.string()});
  EXPECT_EQ(meanwhile.status, 0) << meanwhile.out << meanwhile.err;
  EXPECT_THAT(meanwhile.out, HasSubstr("in use by the torchwatch " PROGRAM_VERSION " at " + url));
  EXPECT_THAT(meanwhile.out, HasSubstr("taken by the service itself"));
}

TEST_F(FirstRun, KeepsAnExistingConfiguration) {
  ASSERT_EQ(init().status, 0);
  edit("\"state\"", "\"mine\"");
  auto const mine = text_of(file_);

  auto const again = init();

  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(again.err,
            "torchwatch init: " + file_.string() + ": exists already, and is left as it is\n");
  EXPECT_EQ(text_of(file_), mine);
}

TEST_F(FirstRun, RefusesAMirrorWithoutScheme) {
  auto const refused = world_.run({"init", file_.string(), "--url", "download.pytorch.org"});

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("allowed is http(s)://HOST"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(FirstRun, FindsAChannelWithoutRecentNightlies) {
  ASSERT_EQ(init().status, 0);
  host_.host("/whl/nightly/cpu/torch/", {.content = index_page(100)});

  auto const checked = world_.run({"config", "check", "--json", file_.string()});

  EXPECT_EQ(checked.status, 2);
  auto const feed = checks_of(checked).at("feed");
  EXPECT_EQ(feed.at("is_good"), false);
  EXPECT_THAT(feed.at("found").get<std::string>(),
              AllOf(HasSubstr("100 days ago"), HasSubstr("is channel cpu still built?")));
}

TEST_F(FirstRun, PrintsEachProblemOnItsOwnLine) {
  Listener const other;
  fs::create_directory(folder_ / "empty");
  std::ofstream{folder_ / "file"} << "text";
  auto& github = world_.add_github();
  github.control({{"settings", {{"token", "another"}}}});
  json const settings{
      {"state_dir", (folder_ / "file/state").string()},
      {"feed", {{"kind", "wheels"}, {"url", "http://127.0.0.1:1"}}},
      {"source", {{"repository", (folder_ / "empty").string()}}},
      {"fleets",
       {{{"name", "here"}},
        {{"name", "there"}, {"launcher", {"sh", "-c", "echo no such partition >&2; exit 1"}}},
        {{"name", "nowhere"}, {"launcher", {"/no/such/launcher"}}}}},
      {"github", github.settings()},
      {"http", {{"port", other.port()}}}};
  std::ofstream{file_} << settings.dump(2);

  auto const checked = world_.run({"config", "check", "--json", file_.string()});

  EXPECT_EQ(checked.status, 2) << checked.err;
  auto const checks = checks_of(checked);
  auto const expect_bad = [&](std::string const& what, std::string const& why) {
    EXPECT_EQ(checks.at(what).at("is_good"), false) << what;
    EXPECT_THAT(checks.at(what).at("found").get<std::string>(), HasSubstr(why)) << what;
  };
  expect_bad("state directory", "is not a directory");
  expect_bad("http address", "taken by a program that is not torchwatch");
  expect_bad("repository", "is not a repository");
  expect_bad("feed", "http://127.0.0.1:1");
  expect_bad("github", "Bad credentials");
  expect_bad("fleet there", "no such partition");
  expect_bad("fleet nowhere", "/no/such/launcher");
  EXPECT_EQ(checks.at("configuration").at("is_good"), true);
  EXPECT_EQ(checks.at("compiler").at("is_good"), true) << checks.at("compiler");
  EXPECT_EQ(checks.at("fleet here").at("is_good"), true) << checks.at("fleet here");

  auto const table = world_.run({"config", "check", file_.string()});
  EXPECT_EQ(table.status, 2);
  EXPECT_EQ(std::ranges::count(table.out, '\n'), std::ssize(checks));
}

/// The configuration of a lab, checked with `config check`.
class CheckedConfiguration : public testing::Test {
 protected:
  std::map<std::string, json> checks() {
    return checks_of(world_.run({"config", "check", "--json", world_.config_file().string()}));
  }

  World world_{quick_world()};
};

TEST_F(CheckedConfiguration, IsGoodInTheLab) {
  auto const checked = world_.run({"config", "check", world_.config_file().string()});

  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("nightlies, the newest of"));
  EXPECT_THAT(checked.out, HasSubstr("nothing to do: without github.repository"));
}

TEST_F(CheckedConfiguration, IsBadWithAMissingBranchOrRemote) {
  world_.configure(
      {{"feed", {{"branch", "no-such-branch"}}}, {"source", {{"remote", "upstream"}}}});

  auto const found = checks();

  EXPECT_EQ(found.at("feed").at("is_good"), false);
  EXPECT_THAT(found.at("feed").at("found").get<std::string>(), HasSubstr("no-such-branch"));
  EXPECT_EQ(found.at("repository").at("is_good"), false);
  EXPECT_THAT(found.at("repository").at("found").get<std::string>(),
              HasSubstr("remote upstream of "));
}

TEST_F(CheckedConfiguration, IsBadWithAGithubThatHasIssuesSwitchedOff) {
  auto& github = world_.add_github();
  auto const good = checks().at("github");
  EXPECT_EQ(good.at("is_good"), true) << good;
  EXPECT_THAT(good.at("found").get<std::string>(), StartsWith("pytorch/pytorch: answers"));
  EXPECT_EQ(github.state().at("issues").size(), 0U);

  github.control({{"settings", {{"issues", false}}}});
  auto const bad = checks().at("github");
  EXPECT_EQ(bad.at("is_good"), false) << bad;
  EXPECT_THAT(bad.at("found").get<std::string>(), HasSubstr("issues switched off"));
}

TEST_F(CheckedConfiguration, IsGoodWithAGithubAppWhoseKeyFits) {
  auto& github = world_.add_github();
  auto const key = fakes::make_app_key();
  auto const file = world_.config_file().parent_path() / "app.pem";
  json const app{{"client_id", "Iv1.ab"}, {"private_key_file", file.string()}};
  world_.configure({{"github", {{"token_file", nullptr}, {"app", app}}}});
  json const installed{{"client_id", "Iv1.ab"},
                       {"slug", "watch"},
                       {"installation", 42},
                       {"public_keys", json::array({key.public_key})}};
  github.control({{"settings", {{"app", installed}}}});

  std::ofstream{file} << fakes::make_app_key().private_key;
  auto const bad = checks().at("github");
  EXPECT_EQ(bad.at("is_good"), false) << bad;
  EXPECT_THAT(bad.at("found").get<std::string>(),
              HasSubstr("A JSON web token could not be decoded"));

  std::ofstream{file} << key.private_key;
  auto const good = checks().at("github");
  EXPECT_EQ(good.at("is_good"), true) << good;
  EXPECT_THAT(good.at("found").get<std::string>(), HasSubstr("by the GitHub App Iv1.ab"));
}

TEST_F(CheckedConfiguration, IsBadWithAStateThatAnotherServiceUses) {
  Service const service{world_};  // at a free port, which config check does not know

  auto const found = checks().at("state directory");

  EXPECT_EQ(found.at("is_good"), false) << found;
  EXPECT_THAT(found.at("found").get<std::string>(), HasSubstr("in use by another torchwatch"));
}

}  // namespace
}  // namespace torchwatch::e2e
