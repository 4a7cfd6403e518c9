#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "http/client.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/fakes/github/certificates.h"

// The life of an incident at the places where it is published without GitHub: a webhook, emails
// and a Markdown file. Programs in another language receive them and check them.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr auto webhook_secret = "a-secret-of-a-test";

/// A history of three nightlies whose third one contains the revert of the culprit. One process of
/// each build decides.
WorldOptions fixed_in_third_nightly() {
  json const effect{
      {"benchmark", "test_eval[dcgan-cpu-eager]"}, {"metric", "cmem"}, {"bytes", 1507328}};
  json const culprit{{"change", "culprits/result-layout"},
                     {"at", 15},
                     {"reverted_at", 29},
                     {"effects", json::array({effect})}};
  WorldOptions options;
  options.scenario = "culprit-and-fix";
  options.history["culprits"] = json::array({culprit});
  options.history["suite"] = {{"models", json::array({"dcgan"})}, {"tests", json::array({"eval"})}};
  return options;
}

/// Reads a file with one JSON object a line. Returns no objects when it does not exist.
std::vector<json> objects_in(fs::path const& file) {
  std::vector<json> objects;
  std::istringstream lines{text_of(file)};
  for (std::string line; std::getline(lines, line);)
    objects.push_back(json::parse(line));
  return objects;
}

void write_private_file(fs::path const& file, std::string const& text) {
  std::ofstream{file} << text;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

/// A receiver of webhooks, in a process. It is killed when this object is destroyed.
class WebhookReceiver {
 public:
  explicit WebhookReceiver(World& world)
      : deliveries_{world.directory() / "deliveries"},
        identity_{fakes::make_identity(world.directory() / "receiver", {"127.0.0.1"})},
        process_{world.start_program({"python3",
                                      WEBHOOK_RECEIVER,
                                      identity_.certificate.string(),
                                      identity_.key.string(),
                                      webhook_secret,
                                      deliveries_.string()})} {}

  /// Returns its address. Waits until it listens.
  std::string url() const {
    auto const listens = eventually([&] { return process_.out().ends_with('\n'); });
    EXPECT_TRUE(listens) << process_.err();
    auto const port = process_.out();
    return "https://127.0.0.1:" + port.substr(0, port.find('\n')) + "/hooks/perf?from=test";
  }

  std::string ca_file() const { return identity_.ca.string(); }

  std::vector<json> deliveries() const { return objects_in(deliveries_); }

 private:
  fs::path deliveries_;
  fakes::ServerIdentity identity_;
  Process process_;
};

/// A service that publishes to a webhook, by email and to a file.
class PublishedLife : public testing::Test {
 protected:
  PublishedLife() : world_{fixed_in_third_nightly()}, receiver_{world_} {
    auto const secret = world_.directory() / "secret";
    write_private_file(secret, std::string{webhook_secret} + "\n");
    json publish;
    publish["webhook"] = {{"url", receiver_.url()}, {"secret_file", secret.string()}};
    publish["email"]["to"] = json::array({"ada@example.org", "bob@example.org"});
    publish["email"]["from"] = "torchwatch@perf.example.org";
    publish["email"]["sendmail"] = write_sendmail().string();
    world_.configure({{"publish", publish}});
  }

  Finished check() {
    return world_
        .start_program({World::program(), "check", "--json"},
                       {{"SSL_CERT_FILE", receiver_.ca_file()}})
        .wait();
  }

  std::vector<json> emails() const { return objects_in(world_.directory() / "emails"); }

  std::string culprit() const {
    return world_.truth().at("culprits").at(0).at("commit").get<std::string>();
  }

  std::string revert() const {
    return world_.truth().at("culprits").at(0).at("reverted_by").get<std::string>();
  }

  World world_;
  WebhookReceiver receiver_;

 private:
  fs::path write_sendmail() {
    auto const program = world_.directory() / "sendmail";
    std::ofstream{program} << "#!/bin/sh\nexec python3 '" << MAIL_RECEIVER << "' '"
                           << (world_.directory() / "emails").string() << "' \"$@\"\n";
    fs::permissions(program, fs::perms::owner_all);
    return program;
  }
};

/// Returns a member of each object, as text.
std::vector<std::string> each(std::vector<json> const& objects, std::string const& member) {
  std::vector<std::string> values;
  for (auto const& object : objects)
    values.push_back(object.at(member).get<std::string>());
  return values;
}

/// Expects one signed delivery for each event, the last one with the fix.
void expect_webhooks(std::vector<json> const& deliveries,
                     std::string const& culprit,
                     std::string const& revert) {
  std::vector<json> bodies;
  for (auto const& delivery : deliveries) {
    EXPECT_EQ(delivery.at("is_signed"), true);
    EXPECT_EQ(delivery.at("path"), "/hooks/perf?from=test");
    EXPECT_EQ(delivery.at("type"), "application/json");
    bodies.push_back(json::parse(delivery.at("body").get<std::string>()));
    EXPECT_EQ(bodies.back().at("id"), delivery.at("delivery"));
    EXPECT_EQ(bodies.back().at("incident"), 1);
  }
  EXPECT_THAT(each(bodies, "event"), ElementsAre("opened", "explained", "fix_expected", "fixed"));
  EXPECT_THAT(each(bodies, "state"), ElementsAre("open", "explained", "fix_expected", "fixed"));
  ASSERT_THAT(bodies, SizeIs(4));
  EXPECT_THAT(bodies.at(0).at("culprits"), IsEmpty());
  EXPECT_EQ(bodies.at(1).at("culprits").at(0).at("commit"), culprit);
  EXPECT_EQ(bodies.at(3).at("commit"), revert);
  EXPECT_THAT(bodies.at(3).at("recovered"), SizeIs(1));
}

/// Expects one thread of valid emails, one for each event.
void expect_emails(std::vector<json> const& emails, std::string const& revert) {
  ASSERT_THAT(emails, SizeIs(4));
  for (auto const& email : emails) {
    EXPECT_THAT(email.at("defects"), IsEmpty());
    EXPECT_EQ(email.at("from"), "torchwatch <torchwatch@perf.example.org>");
    EXPECT_EQ(email.at("to"), "ada@example.org, bob@example.org");
    EXPECT_EQ(email.at("arguments"),
              (json{"-i",
                    "-f",
                    "torchwatch@perf.example.org",
                    "--",
                    "ada@example.org",
                    "bob@example.org"}));
  }
  auto const title = std::string{
      "test_eval[dcgan-cpu-eager] uses 30% more peak CPU memory since "
      "nightly 2025-09-03"};
  EXPECT_THAT(each(emails, "subject"),
              ElementsAre("[torchwatch] " + title,
                          "[torchwatch] explained: " + title,
                          "[torchwatch] fix expected: " + title,
                          "[torchwatch] fixed in nightly 2025-09-04: " + title));
  auto const first = emails.at(0).at("id").get<std::string>();
  EXPECT_THAT(each(emails, "in_reply_to"), ElementsAre("", first, first, first));
  EXPECT_THAT(emails.at(3).at("body").get<std::string>(),
              testing::AllOf(StartsWith("**Fixed** in nightly `2025-09-04`"),
                             testing::HasSubstr("/commit/" + revert)));
}

TEST_F(PublishedLife, IsReceivedAsSignedJson_AsAThreadOfEmails_AndAsAFile) {
  auto const checked = check();
  EXPECT_LT(checked.status, 2) << checked.err;

  expect_webhooks(receiver_.deliveries(), culprit(), revert());
  expect_emails(emails(), revert());
  auto const printed = world_.run({"incidents", "1", "--markdown"});
  EXPECT_EQ(printed.out, text_of(world_.state() / "reports" / "incident-1.md"));
  EXPECT_THAT(printed.out, testing::HasSubstr("**Fixed** in nightly `2025-09-04`"));

  auto const again = check();
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(receiver_.deliveries(), SizeIs(4)) << "nothing is sent twice";
  EXPECT_THAT(emails(), SizeIs(4));
}

TEST(WebhookReceiverTest, RejectsAWrongSignature) {
  World world{quick_world()};
  WebhookReceiver const receiver{world};
  http::Request request{"POST", receiver.url(), {}, "{}"};
  request.headers = {{"Content-Type", "application/json"},
                     {"X-Torchwatch-Signature-256", "sha256=" + std::string(64, '0')}};
  http::Options options;
  options.ca_file = receiver.ca_file();
  options.proxy = "";

  http::Client client;
  auto const response = client.send(request, options);

  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 401);
  ASSERT_THAT(receiver.deliveries(), SizeIs(1));
  EXPECT_EQ(receiver.deliveries().at(0).at("is_signed"), false);
}

}  // namespace
}  // namespace torchwatch::e2e
