#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/world.h"

// Configuration, command line and comparisons of files: what a user sees before anything is
// measured.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A world that no test changes.
World& shared_world() {
  static World world;
  return world;
}

std::string write(std::string const& name, std::string const& text) {
  auto const file = shared_world().lab() / name;
  std::ofstream{file} << text;
  return file.string();
}

std::ptrdiff_t lines_of(std::string const& text) {
  return std::count(text.begin(), text.end(), '\n');
}

struct Broken {
  char const* name;
  char const* text;
  char const* complaint;  ///< the beginning of the error, after the file's name
};

class BrokenConfiguration : public testing::TestWithParam<Broken> {};

TEST_P(BrokenConfiguration, GivesOneClearLine) {
  auto const file = write(std::string{GetParam().name} + ".json", GetParam().text);
  auto const checked = shared_world().run({"config", "check", file});
  EXPECT_EQ(checked.status, 2);
  EXPECT_EQ(checked.out, "");
  EXPECT_THAT(checked.err, StartsWith(file + GetParam().complaint));
  EXPECT_EQ(lines_of(checked.err), 1) << checked.err;
  EXPECT_EQ(shared_world().run({"config", "show", file}).err, checked.err);
}

// "repository" is a directory of the lab.
INSTANTIATE_TEST_SUITE_P(
    Ten,
    BrokenConfiguration,
    testing::Values(
        Broken{"Empty", "", ":1:1: found an empty file"},
        Broken{"CutOff",
               "{\n\"state_dir\": \"state\",\n\"feed\": {\"path\": \"repository\"\n",
               ":4:1: syntax error"},
        Broken{"NotAnObject", "[]", ":1: found "},
        Broken{"NothingToWatch", R"({"state_dir": "state"})", ":1: feed.path: found nothing"},
        Broken{"FeedIsNotThere",
               "{\"state_dir\": \"state\",\n\"feed\": {\"path\": \"nowhere\"}}",
               ":2: feed.path: found "},
        Broken{"MisspeltKey",
               "{\"state_dir\": \"state\", \"feed\": {\"path\": \"repository\"},\n"
               "\"measure\": {\"rnus\": 10}}",
               ":2: measure.rnus: found an unknown key"},
        Broken{"PercentInPlaceOfAFraction",
               "{\"state_dir\": \"state\", \"feed\": {\"path\": \"repository\"},\n\"decide\": "
               "{\"threshold\": 7.5e1}}",
               ":2: decide.threshold: found 75"},
        Broken{"GitWithoutRecipe",
               "{\"state_dir\": \"state\",\n\"feed\": {\"kind\": \"git\", \"path\": "
               "\"repository\"}}",
               ":2: feed.kind: found \"git\" without source.recipe"},
        Broken{"FleetTwice",
               "{\"state_dir\": \"state\", \"feed\": {\"path\": \"repository\"},\n\"fleets\": "
               "[{\"name\": \"a\"}, {\"name\": \"a\"}]}",
               ":2: fleets[1].name: found \"a\" again"},
        Broken{"GithubWithoutTls",
               "{\"state_dir\": \"state\", \"feed\": {\"path\": \"repository\"},\n\"github\": "
               "{\"api\": \"http://api.github.com\"}}",
               ":2: github.api: found \"http://api.github.com\""}),
    [](auto const& test) { return test.param.name; });

TEST(Configuration, IsCheckedAndPrintedAsGood) {
  auto const file = shared_world().config_file().string();
  auto const checked = shared_world().run({"config", "check", "--offline", file});
  EXPECT_EQ(checked.status, 0);
  EXPECT_EQ(checked.out, file + ": good\n");
  EXPECT_EQ(checked.err, "");
}

TEST(Configuration, IsShownAsAFileThatLoadsTheSameOptions) {
  auto const shown = shared_world().run({"config", "show", shared_world().config_file().string()});
  EXPECT_EQ(shown.status, 0) << shown.err;
  auto const copy = write("shown.json", shown.out);
  EXPECT_EQ(shared_world().run({"config", "check", "--offline", copy}).status, 0);
  EXPECT_EQ(shared_world().run({"config", "show", copy}).out, shown.out);
}

TEST(Configuration, IsDescribedByTheSchemaThatIsCheckedIn) {
  auto const schema = shared_world().run({"config", "schema"});
  EXPECT_EQ(schema.status, 0);
  EXPECT_EQ(schema.out, text_of(CHECKED_IN_SCHEMA));
}

TEST(CommandLine, PrintsItsVersion) {
  auto const printed = shared_world().run({"--version"});
  EXPECT_EQ(printed.status, 0);
  EXPECT_EQ(printed.out, PROGRAM_VERSION "\n");
}

TEST(CommandLine, OffersHelpForEveryCommand) {
  for (auto const* const command : {"init",
                                    "serve",
                                    "check",
                                    "bench",
                                    "bisect",
                                    "bisections",
                                    "incidents",
                                    "nightlies",
                                    "series",
                                    "alarms",
                                    "slots",
                                    "rule",
                                    "backup",
                                    "restore",
                                    "config",
                                    "runner",
                                    "suite",
                                    "compare"}) {
    auto const help = shared_world().run({command, "--help"});
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Usage: ")) << command;
    EXPECT_THAT(help.out, HasSubstr("\nExample:\n  $ torchwatch ")) << command;
  }
}

/// A configuration whose file name contains an escape sequence for terminals. It must not reach the
/// terminal of a user who reads the name.
class NameWithAnEscape : public testing::Test {
 protected:
  NameWithAnEscape() { fs::copy_file(world_.config_file(), file_); }

  World world_{quick_world()};
  std::string const file_ = (world_.lab() / "red\x1b[31m.json").string();
};

TEST_F(NameWithAnEscape, IsPrintedWithoutIt) {
  auto const checked = world_.run({"config", "check", "--offline", file_});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("red\\x1b[31m.json: good\n"));
  EXPECT_THAT(checked.out, Not(HasSubstr("\x1b")));

  auto const table = world_.run({"config", "check", file_});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("red\\x1b[31m.json"));
  EXPECT_THAT(table.out, Not(HasSubstr("\x1b")));
}

TEST_F(NameWithAnEscape, IsLoggedWithoutIt) {
  auto service = world_.start({"--config", file_, "serve"});
  auto const is_at_work = [&] {
    return service.err().find(" nightly_state ") != std::string::npos;
  };
  ASSERT_TRUE(eventually(is_at_work)) << service.err();
  EXPECT_THAT(service.err(), ContainsRegex("service_started config=.*red\\\\x1b\\[31m.json"));
  EXPECT_THAT(service.err(), Not(HasSubstr("\x1b")));
  expect_quiet_end(world_, service);
}

struct Mistake {
  char const* name;
  std::vector<std::string> arguments;
  char const* complaint;
};

class MistakenCommandLine : public testing::TestWithParam<Mistake> {};

TEST_P(MistakenCommandLine, IsRefusedWithTheReason) {
  auto const refused = shared_world().run(GetParam().arguments);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    MistakenCommandLine,
    testing::Values(
        Mistake{"NoCommand", {}, "found no command, allowed are init, serve, check, "},
        Mistake{"UnknownCommand", {"chekc"}, "found command \"chekc\", allowed are init, serve, "},
        Mistake{"NoCommandOfSuite",
                {"suite"},
                "found no command, allowed are list, parameters, coverage, try\n"},
        Mistake{"UnknownFlag", {"check", "--jsno"}, "--jsno"},
        Mistake{"UnknownMetric",
                {"bisect",
                 "--start",
                 "a",
                 "--end",
                 "b",
                 "--benchmark",
                 "test_eval[dcgan-cpu-eager]",
                 "--metric",
                 "speed"},
                "--metric: found \"speed\", allowed \"latency\", \"cmem\", \"gmem\", \"leak\""},
        Mistake{"UnknownSuite",
                {"bench", "--suite", "mien"},
                "suite: found \"mien\", allowed is one of \"native\"\n"},
        Mistake{
            "SuiteWithOtherSettings", {"bench", "--suite", "native", "--runs", "3"}, "excludes"},
        Mistake{"UnknownBenchmark",
                {"bisect", "--start", "a", "--end", "b", "--benchmark", "dcgan"},
                "found \"dcgan\", allowed is a name like test_eval[resnet18-cpu-eager]"},
        Mistake{"ServerWithoutToken",
                {"bisect",
                 "--start",
                 "a",
                 "--end",
                 "b",
                 "--benchmark",
                 "test_eval[dcgan-cpu-eager]",
                 "--server",
                 "http://127.0.0.1:1"},
                "--token-file"},
        Mistake{"BisectionWithoutStart",
                {"bisect", "--end", "b", "--benchmark", "test_eval[dcgan-cpu-eager]"},
                "--start is required"},
        Mistake{"AgainWithoutServer", {"bisect", "--again", "1"}, "requires --server"},
        Mistake{"AgainByName",
                {"bisect",
                 "--again",
                 "last",
                 "--server",
                 "http://127.0.0.1:1",
                 "--token-file",
                 "token"},
                "--again = last"},
        Mistake{"BisectionsWithoutServer", {"bisections", "1"}, "--server is required"},
        Mistake{"BisectionsOfASilentServer",
                {"bisections", "--server", "http://127.0.0.1:1"},
                "torchwatch bisections: http://127.0.0.1:1: "},
        Mistake{
            "PauseOfAll",
            {"bisections", "--pause", "--server", "http://127.0.0.1:1", "--token-file", "token"},
            "--pause requires id"},
        Mistake{"PauseWithoutToken",
                {"bisections", "1", "--pause", "--server", "http://127.0.0.1:1"},
                "--pause requires --token-file"},
        Mistake{"PauseAndCancel",
                {"bisections",
                 "1",
                 "--pause",
                 "--cancel",
                 "--server",
                 "http://127.0.0.1:1",
                 "--token-file",
                 "token"},
                "excludes"},
        Mistake{"UnknownCommit",
                {"bisect",
                 "--start",
                 "no-such-branch",
                 "--end",
                 "main",
                 "--benchmark",
                 "test_eval[dcgan-cpu-eager]"},
                "no-such-branch"},
        Mistake{"NoConfiguration",
                {"--config", "/nowhere/torchwatch.json", "check"},
                "/nowhere/torchwatch.json: cannot be read\n"}),
    [](auto const& test) { return test.param.name; });

/// Writes a file like the output of `bench --json`, with one benchmark. Returns its path.
std::string write_bench(std::string const& name, std::string const& benchmark, double latency) {
  json const result{{"benchmark", benchmark},
                    {"metrics", {{"latency", {{"value", latency}}}, {"cmem", {{"value", 100}}}}}};
  return write(name, json::array({result}).dump());
}

TEST(Compare, PrintsRatiosAndTheirMeans) {
  auto const first = write_bench("first.json", "test_eval[dcgan-cpu-eager]", 10);
  auto const second = write(
      "second.json",
      R"({"metrics": {"test_eval[dcgan-cuda-eager]_latency": 5, "test_eval[dlrm-cuda-eager]_latency": 1}})");

  auto const compared = shared_world().run({"compare", "--json", first, second});
  auto const answer = json::parse(compared.out);

  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_EQ(answer.at("benchmarks").at(0).at("ratios").at("latency"), 0.5);
  EXPECT_EQ(answer.at("geometric_means").at(0).at("ratio"), 0.5);
  EXPECT_EQ(answer.at("only_second").at(0).at("model"), "dlrm");
  auto const table = shared_world().run({"compare", first, second});
  EXPECT_THAT(table.out, HasSubstr("eval dcgan"));
  EXPECT_THAT(table.out, HasSubstr("0.500"));
}

/// Writes a metrics file of TorchBench: a score, a failure, and BERT on both devices. Returns its
/// path.
std::string write_metrics(std::string const& name, double factor) {
  json const metrics{{"v3_score", 1023.4},
                     {"test_eval[yolov3-cuda-eager]_latency", -1.0},
                     {"test_train[BERT_pytorch-cpu-eager]_latency", 900.0},
                     {"test_train[BERT_pytorch-cuda-eager]_latency", 60.0 * factor}};
  return write(name, json{{"metrics", metrics}}.dump());
}

TEST(Compare, ReadsTorchBenchsMetricsAndListsTheSkippedOnes) {
  auto const first = write_metrics("torchbench-first.json", 1);
  auto const second = write_metrics("torchbench-second.json", 1.5);

  auto const table = shared_world().run({"compare", first, second});

  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, ContainsRegex("train BERT_pytorch cpu +1.000"));
  EXPECT_THAT(table.out, ContainsRegex("train BERT_pytorch cuda +1.500"));
  EXPECT_THAT(table.out, ContainsRegex("train cuda: geometric mean +1.500"));
  for (auto const& file : {first, second})
    EXPECT_THAT(table.out,
                HasSubstr(file + ": skipped 2 metrics: test_eval[yolov3-cuda-eager]_latency "
                                 "(failed), v3_score (no known benchmark)\n"));
  auto const answer = json::parse(shared_world().run({"compare", "--json", first, second}).out);
  EXPECT_EQ(answer.at("benchmarks").at(1).at("device"), "cuda");
  EXPECT_EQ(answer.at("benchmarks").at(1).at("ratios").at("latency"), 1.5);
  EXPECT_EQ(answer.at("skipped_second").size(), 2U);
}

TEST(Compare, ReadsTheNewestLevelsOfFleets) {
  auto options = quick_world();
  options.settings["fleets"] = {{{"name", "old"}},
                                {{"name", "new"},
                                 {"launcher", {"env", "SCRIPTED_WORKER_FACTOR=0.5"}},
                                 {"environment", {"SCRIPTED_WORKER_*"}}}};
  World world{options};
  ASSERT_EQ(world.run({"check"}).status, 1);

  auto const compared = world.run({"compare", "--json", "old", "new"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  auto const answer = json::parse(compared.out);
  auto const ratios = answer.at("benchmarks").at(0).at("ratios");
  EXPECT_EQ(ratios.at("cmem"), 0.5);
  EXPECT_NEAR(ratios.at("latency"), 0.5, 0.2);
  auto const unknown = world.run({"compare", "old", "unknown"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("old and unknown have no test in common"));
}

TEST(Compare, ReadsBackendsOfOneFileAndMarksMetricsWhoseHigherValuesAreBetter) {
  json const tokens{{"value", 1000}, {"unit", "1/s"}, {"better", "higher"}};
  auto faster = tokens;
  faster["value"] = 1250;
  json const eager{{"benchmark", "test_eval[dcgan-cpu-eager]"},
                   {"metrics", {{"latency", {{"value", 10}}}, {"tokens_per_s", tokens}}}};
  json const compiled{{"benchmark", "test_eval[dcgan-cpu-inductor]"},
                      {"metrics", {{"latency", {{"value", 8}}}, {"tokens_per_s", faster}}}};
  auto const file = write("backends.json", json::array({eager, compiled}).dump());
  auto const compare = [&](std::string const& second) {
    return shared_world().run(
        {"compare", file, file, "--first-backend", "eager", "--second-backend", second});
  };

  auto const table = compare("inductor");

  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr(file + " (inductor) by " + file + " (eager): less than 1 is"));
  EXPECT_THAT(table.out, HasSubstr("*: higher values are better, so more than 1 is better\n"));
  EXPECT_THAT(table.out, ContainsRegex("benchmark +latency +cmem +gmem +tokens_per_s\\*"));
  EXPECT_THAT(table.out, ContainsRegex("eval dcgan +0.800 +- +- +1.250"));
  EXPECT_THAT(table.out, ContainsRegex("geometric mean of COMPUTER_VISION +0.800"));
  auto const unknown = compare("aot_eager");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("found no benchmark with backend \"aot_eager\", allowed eager, inductor"));
}

TEST(Compare, RefusesOtherFilesAndFilesWithoutACommonTest) {
  auto const first = write_bench("first.json", "test_eval[dcgan-cpu-eager]", 10);
  auto const other = write_bench("other.json", "test_eval[dlrm-cpu-eager]", 10);
  auto const garbage = write("garbage.json", "{\"a\": 1}");
  auto const nothing_in_common = shared_world().run({"compare", first, other});
  EXPECT_EQ(nothing_in_common.status, 2);
  EXPECT_THAT(nothing_in_common.err, HasSubstr("have no test in common"));
  auto const bad_file = shared_world().run({"compare", first, garbage});
  EXPECT_EQ(bad_file.status, 2);
  EXPECT_THAT(bad_file.err, HasSubstr(garbage + ": found JSON of another form, allowed is"));
}

}  // namespace
}  // namespace torchwatch::e2e
