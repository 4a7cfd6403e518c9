// A running service is backed up under load, and restored at another path.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "http/url.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// Routes whose answers differ between two services on one state: the state of the process, and the
/// builds, which are not part of a backup.
bool is_of_the_process(std::string const& path) {
  return path == "/api/v1/events" || path == "/api/v1/tonight" ||
         path.starts_with("/api/v1/builds");
}

/// The answers of a service, by target: status and body.
using Answers = std::map<std::string, std::pair<int, std::string>>;

/// Returns the targets of a route: two ids for its `{id}`, and the series for its parameters.
std::vector<std::string> targets_of(std::string const& path,
                                    json const& route,
                                    std::string const& series) {
  bool const needs_series = route.dump().find("\"name\":\"benchmark\"") != std::string::npos;
  auto const id = path.find("{id}");
  if (id == std::string::npos) return {needs_series ? path + "?" + series : path};
  return {path.substr(0, id) + "1", path.substr(0, id) + "2"};
}

/// Returns the query that names the first series of the service.
std::string first_series(Service const& service) {
  auto const one = service.get("/api/v1/series").at("items").at(0);
  std::string query;
  for (auto const* const name : {"fleet", "benchmark", "metric"})
    query += (query.empty() ? "" : "&") + std::string{name} + "=" +
             http::percent_encode(one.at(name).get<std::string>());
  return query;
}

/// Requests every GET route of the API description.
Answers all_answers(Service const& service) {
  Answers answers;
  auto const origin = http::parse_origin(service.url()).value();
  auto const series = first_series(service);
  auto const description = service.get("/api/v1/openapi.json");
  for (auto const& [path, methods] : description.at("paths").items()) {
    if (!path.starts_with("/api/") || !methods.contains("get") || is_of_the_process(path)) continue;
    for (auto const& target : targets_of(path, methods.at("get"), series)) {
      auto const answer = http::ask_http(origin, {"GET", target, {}, ""}).value();
      answers[target] = {static_cast<int>(answer.status), answer.body};
    }
  }
  return answers;
}

/// The files below a directory with their times.
std::map<std::string, fs::file_time_type> files_in(fs::path const& folder) {
  std::map<std::string, fs::file_time_type> files;
  for (auto const& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file()) files[entry.path().string()] = entry.last_write_time();
  return files;
}

/// Stores rulings in a service until it is destroyed.
class Load {
 public:
  explicit Load(Service const& service)
      : thread_{[this, &service] {
          while (!is_over_) {
            json const ruling{{"kind", "mute"},
                              {"benchmark", "test_eval[alexnet-cpu-eager]"},
                              {"who", "ada"},
                              {"why", "load"}};
            if (service.post("/api/v1/rulings", ruling).status < 300) ++stored_;
          }
        }} {}

  Load(Load const&) = delete;
  Load& operator=(Load const&) = delete;

  ~Load() {
    is_over_ = true;
    thread_.join();
  }

  int stored() const { return stored_; }

 private:
  std::atomic<bool> is_over_ = false;
  std::atomic<int> stored_ = 0;
  std::thread thread_;
};

json counts_of(Finished const& done) {
  EXPECT_EQ(done.status, 0) << done.err;
  return json::parse(done.out).at("rows");
}

TEST(Backup, OfAServiceUnderLoad_AnswersTheSameElsewhereAndFilesNothingAgain) {
  World world{quick_world()};
  world.add_github();
  ASSERT_EQ(world.run({"check"}).status, 1);
  auto const original = world.state();
  auto const file = (world.directory() / "tonight.backup").string();
  Answers before;
  {
    Service const service{world};
    {
      Load const load{service};
      for (int times = 0; times < 5; ++times) {
        int const stored = load.stored();
        auto const counts = counts_of(world.run({"backup", file, "--force", "--json"}));
        EXPECT_GE(counts.at("ruling").get<int>(), stored);
        EXPECT_EQ(counts.at("incident"), 1);
      }
      EXPECT_GT(load.stored(), 0);
    }
    before = all_answers(service);
    ASSERT_EQ(world.run({"backup", file, "--force"}).status, 0);
    auto const in_use = world.run({"restore", file, "--force"});
    EXPECT_EQ(in_use.status, 2);
    EXPECT_THAT(in_use.err, HasSubstr("stop the service first"));
  }
  auto const files = files_in(original / "builds");
  auto const github = world.github().state();

  world.configure({{"state_dir", "elsewhere/state"}});
  auto const restored = world.run({"restore", file});
  ASSERT_EQ(restored.status, 0) << restored.err;
  {
    Service const service{world};
    auto const after = all_answers(service);
    EXPECT_GE(after.size(), 20U);
    for (auto const& [target, answer] : before)
      EXPECT_EQ(after.at(target), answer) << target;
  }
  EXPECT_EQ(world.run({"check"}).status, 1);

  EXPECT_EQ(world.github().state().at("issues"), github.at("issues"));
  EXPECT_EQ(world.github().state().at("comments"), github.at("comments"));
  EXPECT_EQ(files_in(original / "builds"), files) << "the original was touched";
  EXPECT_FALSE(fs::is_empty(world.state() / "builds")) << "the baseline was not built again";
}

TEST(Backup, ThatIsDamaged_IsRefusedWithOneLine) {
  World world{quick_world()};
  ASSERT_EQ(world.run({"check"}).status, 1);
  auto const file = world.directory() / "tonight.backup";
  ASSERT_EQ(world.run({"backup", file.string()}).status, 0);
  fs::resize_file(file, fs::file_size(file) / 2);

  auto const refused =
      world.run({"restore", file.string(), "--into", (world.directory() / "other").string()});

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("tonight.backup: damaged: "));
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1);
}

TEST(Backup, RestoresReportFiles) {
  World world{quick_world()};
  ASSERT_EQ(world.run({"check"}).status, 1);
  auto const report = text_of(world.state() / "reports/incident-1.md");
  ASSERT_FALSE(report.empty());
  auto const file = (world.directory() / "tonight.backup").string();
  ASSERT_EQ(world.run({"backup", file}).status, 0);

  auto const other = world.directory() / "other/state";
  auto const restored = world.run({"restore", file, "--into", other.string()});

  EXPECT_EQ(restored.status, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("reports written: 1"));
  EXPECT_EQ(text_of(other / "reports/incident-1.md"), report);
}

}  // namespace
}  // namespace torchwatch::e2e
