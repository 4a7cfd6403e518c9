#include "config/load.h"

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "config/suites.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

/// A directory with what good configurations refer to.
class Load : public testing::Test {
 protected:
  Load() {
    fs::create_directories(directory_ / "nightlies");
    write("recipe", "#!/bin/sh\n");
    fs::permissions(directory_ / "recipe", fs::perms::owner_all);
    write("plain", "x");
  }

  void TearDown() override { fs::remove_all(directory_); }

  void write(std::string const& name, std::string const& text) const {
    std::ofstream{directory_ / name} << text;
  }

  Result<Options> load_text(std::string const& text) const {
    write("torchwatch.json", text);
    return load(directory_ / "torchwatch.json");
  }

  /// Returns the complaints about a file, without its directory.
  std::string complaint_about(std::string const& text) const {
    auto const options = load_text(text);
    if (options) return "";
    auto message = options.error().message;
    auto const prefix = directory_.string() + "/";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
      message.erase(at, prefix.size());
    return message;
  }

  /// Returns the complaints about a section on line 3 of a file that is otherwise valid.
  std::string complaint_about_section(std::string const& section) const {
    return complaint_about("{\n\"state_dir\": \"state\", \"feed\": {\"path\": \"nightlies\"},\n" +
                           section + "\n}\n");
  }

  fs::path directory_ =
      fs::temp_directory_path() / ("torchwatch-config-" + std::to_string(::getpid()));
};

TEST_F(Load, FillsInDefaults) {
  auto const options = load_text(R"({"state_dir": "/state", "feed": {"path": "nightlies"}})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->decide.threshold, 0.07);
  EXPECT_EQ(options->measure.runs, 10);
  EXPECT_EQ(options->fleets.size(), 1U);
  EXPECT_EQ(options->http.address, "127.0.0.1");
}

TEST_F(Load, TakesPathsRelativeToTheFile) {
  auto const options = load_text(
      R"({"state_dir": "state", "feed": {"path": "nightlies"}, "suite": {"files": "models"}})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(fs::path{options->state_dir}.is_absolute());
  EXPECT_EQ(fs::path{options->feed.path}.filename(), "nightlies");
  EXPECT_EQ(fs::path{options->state_dir}.parent_path(), fs::path{options->feed.path}.parent_path());
  EXPECT_EQ(fs::path{options->suite.files}.parent_path(),
            fs::path{options->feed.path}.parent_path());
}

TEST_F(Load, ReadsCommentsUnitsWordsAndLists) {
  auto const options = load_text(R"({
    // a comment
    "state_dir": "state", /* another */
    "feed": {"path": "nightlies", "poll_s": 5},
    "fleets": [{"name": "a", "device": "cuda", "slots": 2, "launcher": ["srun", "-p", "gpu"]}, {"name": "b"}],
    "suite": {"tests": ["eval"], "scale": "smoke"},
    "measure": {"min_run_ms": 7},
    "bisect": {"prior": "paths"}
  })");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->feed.poll, std::chrono::seconds{5});
  EXPECT_EQ(options->measure.min_run, std::chrono::milliseconds{7});
  EXPECT_EQ(options->fleets.at(0).device, Device::cuda);
  EXPECT_THAT(options->fleets.at(0).launcher, testing::ElementsAre("srun", "-p", "gpu"));
  EXPECT_THAT(options->suite.tests, testing::ElementsAre(torchwatch::Test::eval));
  EXPECT_EQ(options->suite.scale, Scale::smoke);
  EXPECT_EQ(options->bisect.prior, Prior::paths);
}

TEST_F(Load, ReadsASuiteOfACommandAndCompletesIt) {
  write("bench.py", "");
  auto const options = load_text(R"({"state_dir": "state", "feed": {"path": "nightlies"},
    "fleets": [{"suites": ["mine"]}],
    "suites": [{"name": "mine", "command": ["python3", "bench.py", "--model", "{model}"],
                "models": ["nanogpt"],
                "metrics": {"tokens_per_s": {"unit": "1/s", "better": "higher"},
                            "ttft": {"unit": "ms", "threshold": 0.2, "floor": 3}, "cmem": {}}}]})");
  ASSERT_TRUE(options) << options.error().message;
  auto const& suite = options->suites.at(0);
  EXPECT_EQ(suite.command.at(0), "python3");
  EXPECT_TRUE(fs::path{suite.command.at(1)}.is_absolute()) << suite.command.at(1);
  EXPECT_EQ(suite.command.at(3), "{model}");
  EXPECT_THAT(suite.tests, testing::ElementsAre(parse_test("run").value()));
  EXPECT_THAT(backends_of(suite), testing::ElementsAre("mine"));
  EXPECT_EQ(suite.metrics.at("tokens_per_s").better, Better::higher);
  EXPECT_EQ(suite.metrics.at("ttft").threshold, 0.2);
  EXPECT_EQ(suite.metrics.at("cmem").kind, MetricNoise::exact);
  EXPECT_FALSE(runs(options->fleets.at(0), options->suite));
  EXPECT_TRUE(runs(options->fleets.at(0), suite));
}

TEST_F(Load, ReplacesTheNativeSuiteByTheOneOfItsName) {
  auto const options = load_text(R"({"state_dir": "state", "feed": {"path": "nightlies"},
    "suite": {"models": ["resnet18"]}, "suites": [{"name": "native", "models": ["dlrm"]}]})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_THAT(options->suite.models, testing::ElementsAre("dlrm"));
  EXPECT_EQ(all_suites(*options).size(), 1U);
}

TEST_F(Load, FindsASuiteByItsNameAndListsThemForAnother) {
  Options options;
  options.suites.emplace_back().name = "mine";
  EXPECT_EQ(find_suite(options, "mine").value(), &options.suites.front());
  EXPECT_EQ(find_suite(options, "native").value(), &options.suite);
  EXPECT_EQ(find_suite(options, "mien").error().message,
            R"(suite: found "mien", allowed is one of "native", "mine")");
}

TEST_F(Load, DeclaresTheMetricsOfSuites) {
  auto const options = load_text(R"({"state_dir": "state", "feed": {"path": "nightlies"},
    "suites": [{"name": "mine", "command": ["true"], "models": ["a"], "tests": ["serve"],
                "metrics": {"test_config_rate": {"unit": "1/s", "better": "higher"}}}]})");
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_TRUE(declare_metrics(*options));
  EXPECT_EQ(parse_metric("test_config_rate").value().kind(),
            (MetricKind{.unit = "1/s", .is_higher_better = true}));
  auto other = *options;
  other.suites.front().metrics.at("test_config_rate").unit = "1/min";
  auto const again = declare_metrics(other);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message,
            "suite mine: metric test_config_rate: declared twice with different properties");
}

TEST_F(Load, LeavesUrlsOfArtifactsAlone) {
  for (std::string const url : {"https://ci.example/torch/{commit}/libtorch-{commit}.zip",
                                "http://[::1]:8080/{commit}.tar.gz"}) {
    auto const options = load_text(
        R"({"state_dir": "state", "feed": {"path": "nightlies"}, "source": {"artifacts": ")" + url +
        "\"}}");
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->source.artifacts, url);
  }
}

TEST_F(Load, TakesArtifactsByPlainHttpFromThisHostOrWithADigest) {
  for (
      std::string const source :
      {R"("artifacts": "http://127.0.0.1:8080/{commit}.zip")",
       R"("artifacts": "http://localhost/{commit}.zip")",
       R"("artifacts": "http://ci/{commit}.zip", "artifacts_sha256": "https://ci/{commit}.sha256")",
       R"("artifacts": "http://ci/{commit}.zip", "artifacts_sha256": "/srv/{commit}.sha256")"}) {
    EXPECT_EQ(complaint_about_section("\"source\": {" + source + "}"), "");
  }
}

TEST_F(Load, ReadsAProxyAndItsExceptions) {
  auto const options = load_text(R"({"state_dir": "state", "feed": {"path": "nightlies"}, "proxy":
      {"url": "http://[fd00::1]:3128", "except": ["*", ".corp", "git.corp", "10.0.0.0/8", "::1"]}})");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->proxy.url, "http://[fd00::1]:3128");
  EXPECT_EQ(options->proxy.except.size(), 5U);
}

TEST_F(Load, NamesAMissingFile) {
  auto const options = load("/nowhere/torchwatch.json");
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message, "/nowhere/torchwatch.json: cannot be read");
}

TEST_F(Load, SaysWhereTheSyntaxBreaksAndWhatWasFound) {
  EXPECT_THAT(complaint_about("{\n  \"state_dir\": \"s\",\n  \"feed\" 1\n}"),
              testing::MatchesRegex("torchwatch.json:3:10: syntax error .*unexpected number "
                                    "literal; expected ':'"));
}

TEST_F(Load, SaysWhereATextDoesNotEnd) {
  EXPECT_THAT(complaint_about("{\n\"state_dir\": \"s\n}"),
              testing::StartsWith("torchwatch.json:2:16: syntax error"));
}

TEST_F(Load, DoesNotRepeatTheFileAfterACommentWithoutEnd) {
  EXPECT_EQ(complaint_about("{\n/* " + std::string(1000, 'x')),
            "torchwatch.json:2:1004: syntax error while parsing object key - invalid comment; "
            "missing closing '*/'; expected string literal");
}

TEST_F(Load, RefusesAnEmptyFile) {
  EXPECT_EQ(complaint_about(""), "torchwatch.json:1:1: found an empty file, allowed is an object");
}

TEST_F(Load, QuotesBytesThatAreNoTextSafely) {
  auto const complaint = complaint_about("{\"state_dir\": \"\xff\"}");
  EXPECT_THAT(complaint, testing::StartsWith("torchwatch.json:1:16: syntax error"));
  EXPECT_EQ(complaint.find('\xff'), std::string::npos);
}

TEST_F(Load, RefusesANumberThatOverflows) {
  EXPECT_EQ(complaint_about_section("\"measure\": {\"seed\": 1e999}"),
            "torchwatch.json:3:25: number overflow parsing '1e999'");
}

TEST_F(Load, RefusesAbsurdNesting) {
  EXPECT_EQ(complaint_about(std::string(100000, '[') + std::string(100000, ']')),
            "torchwatch.json:1:17: found more than 16 levels, allowed is fewer");
}

TEST_F(Load, RefusesAnAbsurdlyLongNameInOneShortLine) {
  auto const complaint =
      complaint_about_section(R"("github": {"repository": "a/)" + std::string(200000, 'b') + "\"}");
  EXPECT_THAT(complaint, testing::EndsWith("..., allowed is owner/name"));
  EXPECT_LT(complaint.size(), 300U);
}

TEST_F(Load, ReportsTheLineOfANumberInAList) {
  EXPECT_EQ(complaint_about_section("\"fleets\": [{\"launcher\": [\n\"srun\",\n7\n]}]"),
            "torchwatch.json:5: fleets[0].launcher[1]: found 7, allowed is a text that is not "
            "empty");
}

TEST_F(Load, IgnoresTheNameOfASchema) {
  EXPECT_EQ(complaint_about_section("\"$schema\": \"torchwatch.schema.json\""), "");
}

TEST_F(Load, RequiresAnObject) {
  EXPECT_EQ(complaint_about("[1]"), "torchwatch.json:1: found array, allowed is an object");
}

TEST_F(Load, RequiresFieldsWithoutDefault) {
  EXPECT_EQ(complaint_about("{}"),
            "torchwatch.json:1: state_dir: found nothing, allowed is a path\n"
            "torchwatch.json:1: feed.path: found nothing, allowed is an existing directory");
}

TEST_F(Load, RequiresAPathExceptForPublishedFiles) {
  EXPECT_EQ(complaint_about(R"({"state_dir": "state", "feed": {"kind": "wheels"}})"), "");
  EXPECT_EQ(complaint_about(
                R"({"state_dir": "state", "feed": {"kind": "libtorch", "path": "nightlies"}})"),
            "torchwatch.json:1: feed.path: found \"nightlies\" with kind \"libtorch\", allowed is "
            "no path: published files are downloaded");
}

TEST_F(Load, RequiresWheelsForSuitesThatNeedPython) {
  std::string const suites =
      R"("suites": [{"name": "mine", "command": ["bench"], "models": ["m"], "needs": "python",
                     "metrics": {"latency": {}}}])";
  EXPECT_EQ(
      complaint_about(R"({"state_dir": "state", "feed": {"kind": "wheels"}, )" + suites + "}"), "");
  EXPECT_EQ(
      complaint_about(R"({"state_dir": "state", "feed": {"kind": "libtorch"}, )" + suites + "}"),
      "torchwatch.json:1: feed.kind: found \"libtorch\" with a suite that needs Python builds, "
      "allowed is \"wheels\", or fleets that do not run this suite");
}

TEST_F(Load, RefusesPackagesThatHideThePyTorchOfBuilds) {
  fs::create_directories(directory_ / "extra" / "torch");
  write("extra/torch/__init__.py", "");
  auto const packages = (directory_ / "extra").string();
  EXPECT_EQ(complaint_about(R"({"state_dir": "state", "feed": {"kind": "wheels"}, "suites": [
{"name": "mine", "command": ["bench"], "models": ["m"], "needs": "python", "metrics": {"latency": {}},
"environment": {"PYTHONPATH": "/opt/yaml:)" +
                            packages + R"("}}]})"),
            "torchwatch.json:3: suites[0].environment.PYTHONPATH: found \"extra\", which contains "
            "torch, allowed is packages without torch: each build has its own");
}

TEST_F(Load, TakesLoopbackAddressesAndOthersThatAreProtectedOrInsecure) {
  for (auto const* const http : {R"({"address": "127.3.2.1"})",
                                 R"({"address": "::1"})",
                                 R"({"address": "::ffff:127.0.0.1"})",
                                 R"({"address": "unix:/run/torchwatch/http"})",
                                 R"({"address": "0.0.0.0", "insecure": true})",
                                 R"({"address": "::", "read_token_file": "plain",
            "tls": {"certificate": "plain", "key": "plain"}})"})
    EXPECT_EQ(complaint_about_section(std::string{"\"http\": "} + http), "") << http;
}

TEST_F(Load, TakesASocketPathOfAtMost107Bytes) {
  auto const with_path_of = [](std::size_t size) {
    return "\"http\": {\"address\": \"unix:/" + std::string(size - 1, 'x') + "\"}";
  };
  EXPECT_EQ(complaint_about_section(with_path_of(107)), "");
  EXPECT_NE(complaint_about_section(with_path_of(108)), "");
}

TEST_F(Load, ReportsAllErrorsALineEach) {
  EXPECT_EQ(complaint_about_section("\"log\": {\"level\": 3},\n\"http\": {\"port\": 70000}"),
            "torchwatch.json:3: log.level: found 3, allowed is one of \"debug\", \"info\", "
            "\"warning\", \"error\"\n"
            "torchwatch.json:4: http.port: found 70000, allowed is a whole number from 0 to 65535");
}

TEST_F(Load, ChecksSeveralFieldsTogetherOnlyIfEachIsValid) {
  EXPECT_EQ(complaint_about_section("\"decide\": {\"min_pairs\": 90, \"threshold\": \"high\"},\n"
                                    "\"fleets\": [{}, {}]"),
            "torchwatch.json:3: decide.threshold: found \"high\", allowed is a number from 0.001 "
            "to 1\n"
            "torchwatch.json:4: fleets[1].name: found \"local\" again, allowed is a name that no "
            "other fleet has");
}

TEST_F(Load, TakesAKeyWithADotAsOneKey) {
  EXPECT_THAT(complaint_about_section("\"feed.path\": \"x\""),
              testing::StartsWith("torchwatch.json:3: [\"feed.path\"]: found an unknown key"));
}

TEST_F(Load, RefusesAGitFeedThatNothingBuilds) {
  EXPECT_EQ(
      complaint_about(R"({"state_dir": "state", "feed": {"path": "nightlies", "kind": "git"}})"),
      "torchwatch.json:1: feed.kind: found \"git\" without source.recipe, allowed is "
      "\"directory\", or a recipe that builds what the branch names");
}

TEST_F(Load, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(complaint_about_section("\"log\": {\"level\": \"info\",\n\"level\": \"debug\"}"),
            "torchwatch.json:4: log.level: found a key for the second time, allowed is once");
}

struct Broken {
  char const* name;
  char const* section;
  char const* complaint;  ///< without "torchwatch.json:3: " and the directory
};

void PrintTo(Broken const& broken, std::ostream* out) {
  *out << broken.section;
}

class LoadBroken : public Load, public testing::WithParamInterface<Broken> {};

TEST_P(LoadBroken, GivesOneClearLine) {
  EXPECT_EQ(complaint_about_section(GetParam().section),
            std::string{"torchwatch.json:3: "} + GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    LoadBroken,
    testing::Values(
        Broken{"UnknownSection",
               R"("fleet": [])",
               "fleet: found an unknown key, allowed are state_dir, feed, source, builds, store, "
               "fleets, "
               "suite, suites, "
               "measure, decide, bisect, github, publish, http, proxy, log"},
        Broken{"UnknownKey",
               R"("log": {"levle": "info"})",
               "log.levle: found an unknown key, allowed are level"},
        Broken{"WrongType",
               R"("measure": {"runs": "ten"})",
               R"(measure.runs: found "ten", allowed is a whole number from 1 to 10000)"},
        Broken{"Fraction",
               R"("measure": {"runs": 2.5})",
               "measure.runs: found 2.5, allowed is a whole number from 1 to 10000"},
        Broken{"TooSmall",
               R"("measure": {"runs": 0})",
               "measure.runs: found 0, allowed is a whole number from 1 to 10000"},
        Broken{"Overflow",
               R"("measure": {"runs": 99999999999})",
               "measure.runs: found 99999999999, allowed is a whole number from 1 to 10000"},
        Broken{"PercentForFraction",
               R"("decide": {"threshold": 70})",
               "decide.threshold: found 70, allowed is a number from 0.001 to 1"},
        Broken{"UnknownWord",
               R"("suite": {"scale": "huge"})",
               R"(suite.scale: found "huge", allowed is one of "smoke", "full")"},
        Broken{"UnknownWordInList",
               R"("suite": {"tests": ["train", "infer"]})",
               R"(suite.tests[1]: found "infer", allowed is one of "train", "eval")"},
        Broken{"AllFiles",
               R"("suite": {"backend": "script"})",
               R"(suite.models: found "all" with the backend "script", allowed is names of )"
               "files in suite.files"},
        Broken{"AllAndMore",
               R"("suite": {"models": ["all", "dlrm"]})",
               R"(suite.models: found "all" and other names, allowed is one or the other)"},
        Broken{"EmptyList",
               R"("suite": {"models": []})",
               "suite.models: found an empty list, allowed is one with at least one entry"},
        Broken{"NotAList",
               R"("suite": {"models": "resnet18"})",
               R"(suite.models: found "resnet18", allowed is a list)"},
        Broken{"NotAnObject", R"("http": 8917)", "http: found 8917, allowed is an object"},
        Broken{"UnknownKeyInFleet",
               R"("fleets": [{"name": "a"}, {"name": "b", "gpus": 1}])",
               "fleets[1].gpus: found an unknown key, allowed are name, device, slots, "
               "devices, beside_others, before_round, after_round, launcher, idle_s, queue_s, "
               "isolation, network, readable, environment, suites, formerly"},
        Broken{
            "EarlierNameOfAnotherFleet",
            R"("fleets": [{"name": "a"}, {"name": "b", "formerly": ["a"]}])",
            "fleets[1].formerly: found \"a\", which another fleet has, allowed is a name that no "
            "fleet has any more"},
        Broken{"FleetTwice",
               R"("fleets": [{"name": "a"}, {"name": "a"}])",
               R"(fleets[1].name: found "a" again, allowed is a name that no other fleet has)"},
        Broken{"PairsCrossed",
               R"("decide": {"min_pairs": 20, "max_pairs": 15})",
               "decide.min_pairs: found 20, allowed is at most decide.max_pairs, 15"},
        Broken{"PairsInWhichNoChangeCanBeCalled",
               R"("decide": {"max_pairs": 12})",
               "decide.max_pairs: found 12, allowed is at least 13: fewer cannot show a change at "
               "decide.error, 0.0001"},
        Broken{"RebuildsWithoutARecipe",
               R"("decide": {"aa_rebuilds": 2})",
               "decide.aa_rebuilds: found 2 without source.recipe, allowed is 0, or a recipe that "
               "builds commits"},
        Broken{"RecipeMissing",
               R"("source": {"repository": "nightlies", "recipe": "no-such"})",
               R"(source.recipe: found "no-such", allowed is an existing executable file)"},
        Broken{"RecipeNotExecutable",
               R"("source": {"repository": "nightlies", "recipe": "plain"})",
               R"(source.recipe: found "plain", allowed is an existing executable file)"},
        Broken{"RecipeAlone",
               R"("source": {"recipe": "recipe"})",
               "source: found recipe without repository, allowed is both, repository alone, or "
               "none"},
        Broken{"TokenFileMissing",
               R"("http": {"token_file": "no-such"})",
               R"(http.token_file: found "no-such", allowed is an existing file)"},
        Broken{"AddressIsAName",
               R"("http": {"address": "999.0.0.1"})",
               R"(http.address: found "999.0.0.1", allowed is an IPv4 or IPv6 address, or )"
               "unix:/PATH of at most 107 bytes"},
        Broken{"AddressOfAShortNumber",
               R"("http": {"address": "1"})",
               R"(http.address: found "1", allowed is an IPv4 or IPv6 address, or )"
               "unix:/PATH of at most 107 bytes"},
        Broken{"SocketBesideTheFile",
               R"("http": {"address": "unix:torchwatch.sock"})",
               R"(http.address: found "unix:torchwatch.sock", allowed is an IPv4 or IPv6 address, )"
               "or unix:/PATH of at most 107 bytes"},
        Broken{"CertificateWithoutKey",
               R"("http": {"tls": {"certificate": "plain"}})",
               "http.tls: found certificate without key, allowed is both or none"},
        Broken{"KeyWithoutCertificate",
               R"("http": {"tls": {"key": "plain"}})",
               "http.tls: found key without certificate, allowed is both or none"},
        Broken{"CertificateMissing",
               R"("http": {"tls": {"certificate": "no-such.pem", "key": "plain"}})",
               R"(http.tls.certificate: found "no-such.pem", allowed is an existing file)"},
        Broken{
            "TlsAtASocket",
            R"("http": {"address": "unix:/run/t", "tls": {"certificate": "plain", "key": "plain"}})",
            R"(http.tls: found files, and http.address "unix:/run/t", allowed is none: )"
            "connections to a Unix socket stay on this machine"},
        Broken{"OpenToAll",
               R"("http": {"address": "0.0.0.0"})",
               R"(http.address: found "0.0.0.0", which other machines reach, without )"
               "http.read_token_file and http.tls, allowed is an address that only this machine "
               "reaches "
               "(127.0.0.1, ::1, unix:/PATH), both http.read_token_file and http.tls, or "
               "\"insecure\": true"},
        Broken{"OverheardByAll",
               R"("http": {"address": "::", "read_token_file": "plain"})",
               R"(http.address: found "::", which other machines reach, without )"
               "http.tls, allowed is an address that only this machine reaches "
               "(127.0.0.1, ::1, unix:/PATH), both http.read_token_file and http.tls, or "
               "\"insecure\": true"},
        Broken{
            "ReadByAll",
            R"("http": {"address": "10.0.0.1", "tls": {"certificate": "plain", "key": "plain"}})",
            R"(http.address: found "10.0.0.1", which other machines reach, without )"
            "http.read_token_file, allowed is an address that only this machine reaches "
            "(127.0.0.1, ::1, unix:/PATH), both http.read_token_file and http.tls, or "
            "\"insecure\": true"},
        Broken{"GithubWithoutOwner",
               R"("github": {"repository": "pytorch"})",
               R"(github.repository: found "pytorch", allowed is owner/name)"},
        Broken{"GithubWithoutTls",
               R"("github": {"api": "http://api.github.com"})",
               R"(github.api: found "http://api.github.com", allowed is )"
               "https://HOST[:PORT][/PATH] without a / at the end"},
        Broken{"GithubPasswordInAddress",
               R"("github": {"api": "https://me:secret@api.github.com"})",
               R"(github.api: found "https://me:secret@api.github.com", allowed is )"
               "https://HOST[:PORT][/PATH] without a / at the end"},
        Broken{"AppWithoutClientId",
               R"("github": {"app": {"installation_id": 7}})",
               R"(github.app: found no client_id, allowed is the client ID of the App next to its )"
               R"(key)"},
        Broken{"AppAndToken",
               R"("github": {"token_file": "plain", "app": {"client_id": "Iv1.ab"}})",
               "github.app: found an App, and github.token_file, allowed is one of them"},
        Broken{"AppKey",
               R"("github": {"app": {"client_id": "Iv1.ab", "private_key_file": "no-such.pem"}})",
               R"(github.app.private_key_file: found "no-such.pem", allowed is an existing file)"},
        Broken{
            "AppClientId",
            R"("github": {"app": {"client_id": "a b"}})",
            R"(github.app.client_id: found "a b", allowed is a name of letters, digits, _ and .)"},
        Broken{"CertificatesMissing",
               R"("github": {"ca_file": "no-such.pem"})",
               R"(github.ca_file: found "no-such.pem", allowed is an existing file)"},
        Broken{"WebhookWithoutSecret",
               R"("publish": {"webhook": {"url": "https://hooks.example/t?a=1"}})",
               "publish.webhook: found url without secret_file, allowed is both or none: receivers "
               "check the signature of each body"},
        Broken{"WebhookWithoutTls",
               R"("publish": {"webhook": {"url": "http://hooks.example/t"}})",
               R"(publish.webhook.url: found "http://hooks.example/t", allowed is )"
               "https://HOST[:PORT][/PATH][?QUERY]"},
        Broken{"EmailWithoutSender",
               R"("publish": {"email": {"to": ["perf@example.org"], "sendmail": "/"}})",
               "publish.email: found to without from, allowed is both or none"},
        Broken{"EmailWithoutProgram",
               R"("publish": {"email": {"to": ["a@b"], "from": "c@d", "sendmail": "/no/such"}})",
               R"(publish.email.sendmail: found "/no/such", allowed is an existing program)"},
        Broken{"EmailOfSeveralReceivers",
               R"("publish": {"email": {"to": ["a@b, c@d"]}})",
               R"(publish.email.to[0]: found "a@b, c@d", allowed is NAME@DOMAIN)"},
        Broken{"PullRequestCommentWithoutRepository",
               R"("publish": {"pull_request_comment": true})",
               "publish.pull_request_comment: found true without github.repository, allowed is "
               "false, or the repository whose token comments"},
        Broken{"RepositoryMissing",
               R"("source": {"repository": "no-such", "recipe": "recipe"})",
               R"(source.repository: found "no-such", allowed is an existing directory)"},
        Broken{"ArtifactsOfNoCommit",
               R"("source": {"artifacts": "/builds/newest"})",
               R"(source.artifacts: found "/builds/newest", allowed is )"
               "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"},
        Broken{"ArtifactsBesideTheFile",
               R"("source": {"artifacts": "builds/{commit}"})",
               R"(source.artifacts: found "builds/{commit}", allowed is )"
               "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"},
        Broken{"ArtifactsByAnotherProtocol",
               R"("source": {"artifacts": "ftp://host/{commit}.zip"})",
               R"(source.artifacts: found "ftp://host/{commit}.zip", allowed is )"
               "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"},
        Broken{"ArtifactsWithAPassword",
               R"("source": {"artifacts": "https://me:secret@host/{commit}.zip"})",
               R"(source.artifacts: found "https://me:secret@host/{commit}.zip", allowed is )"
               "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"},
        Broken{
            "ArtifactsThatOthersCanChange",
            R"("source": {"artifacts": "http://127.evil.example/{commit}.zip"})",
            R"(source.artifacts: found "http://127.evil.example/{commit}.zip", which others )"
            "can change on the way, allowed is https, or source.artifacts_sha256 by https or as a "
            "path"},
        Broken{
            "DigestsThatOthersCanChange",
            R"("source": {"artifacts": "http://ci/{commit}", "artifacts_sha256": "http://ci/{commit}.sha256"})",
            R"(source.artifacts: found "http://ci/{commit}", which others can change on )"
            "the way, allowed is https, or source.artifacts_sha256 by https or as a path"},
        Broken{"DigestsOfDirectories",
               R"("source": {"artifacts": "/{commit}", "artifacts_sha256": "/{commit}.sha256"})",
               R"(source.artifacts_sha256: found "/{commit}.sha256" without an archive in )"
               "source.artifacts, allowed is both or no SHA-256"},
        Broken{"DigestOfNoCommit",
               R"("source": {"artifacts_sha256": "/srv/newest.sha256"})",
               R"(source.artifacts_sha256: found "/srv/newest.sha256", allowed is )"
               "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"},
        Broken{"ProxyWithAPassword",
               R"("proxy": {"url": "http://me:secret@proxy:3128"})",
               R"(proxy.url: found "http://me:secret@proxy:3128", allowed is http://HOST:PORT)"},
        Broken{"ProxyOfAnotherKind",
               R"("proxy": {"url": "socks5://proxy:1080"})",
               R"(proxy.url: found "socks5://proxy:1080", allowed is http://HOST:PORT)"},
        Broken{"ExceptionWithAComma",
               R"("proxy": {"except": ["a,b"]})",
               R"(proxy.except[0]: found "a,b", allowed is a host, .DOMAIN, an address, a network )"
               "as ADDRESS/BITS, or *"},
        Broken{"IsolationByAnotherWord",
               R"("fleets": [{"isolation": "docker"}])",
               R"(fleets[0].isolation: found "docker", allowed is one of "best", "none")"},
        Broken{"ReadableBesideTheFile",
               R"("fleets": [{"readable": ["models"]}])",
               R"(fleets[0].readable[0]: found "models", allowed is an absolute path)"},
        Broken{"EnvironmentThatIsNoName",
               R"("source": {"environment": ["A=1"]})",
               R"(source.environment[0]: found "A=1", allowed is )"
               "a variable's name, or its beginning and *"},
        Broken{"TokenForRecipes",
               R"("github": {"token_env": "BOT"}, "source": {"environment": ["BOT"]})",
               R"(source.environment: found "BOT", which is github.token_env, allowed is )"
               "variables that hold no token"},
        Broken{"RemoteThatIsAnOption",
               R"("source": {"remote": "--upload-pack=x"})",
               R"(source.remote: found "--upload-pack=x", allowed is a remote's name)"},
        Broken{"RemoteOfNothing",
               R"("source": {"remote": "origin"})",
               R"(source.remote: found "origin" without source.repository, allowed is )"
               "both or no remote"},
        Broken{"Negative",
               R"("http": {"port": -1})",
               "http.port: found -1, allowed is a whole number from 0 to 65535"},
        Broken{"TooLargeForAnyInteger",
               R"("measure": {"timeout_s": 99999999999999999999})",
               "measure.timeout_s: found 1e+20, allowed is a whole number from 1 to 86400"},
        Broken{"Null", R"("log": null)", "log: found null, allowed is an object"},
        Broken{"NoSlots",
               R"("fleets": [{"slots": 0}])",
               "fleets[0].slots: found 0, allowed is a whole number from 1 to 1000"},
        Broken{"SlotsOnOneHost",
               R"("fleets": [{"slots": 2}])",
               "fleets[0].slots: found 2, allowed is 1, or a launcher that spreads the runners "
               "over hosts, or devices"},
        Broken{"DevicesOfAHostWithoutGpus",
               R"("fleets": [{"devices": ["0"]}])",
               "fleets[0].devices: found \"0\" with device cpu, allowed is none, or device cuda"},
        Broken{"FewerDevicesThanSlots",
               R"("fleets": [{"device": "cuda", "slots": 2, "devices": ["GPU-8932f937"]}])",
               "fleets[0].devices: found 1 of them for slots 2, allowed is one for each slot"},
        Broken{"AllDevicesAndOne",
               R"("fleets": [{"device": "cuda", "slots": 2, "devices": ["all", "0"]}])",
               "fleets[0].devices: found \"all\" and other devices, allowed is one or the other"},
        Broken{"NoDevice",
               R"("fleets": [{"device": "cuda", "devices": ["GPU 0"]}])",
               "fleets[0].devices[0]: found \"GPU 0\", allowed is an index, GPU-UUID, MIG-UUID, "
               "or all"},
        Broken{"NoFleets",
               R"("fleets": [])",
               "fleets: found an empty list, allowed is one with at least one entry"},
        Broken{"SuiteNameTwice",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"rate": {"unit": "1/s"}}}, {"name": "mine", "command": )"
               R"(["true"], "models": ["b"], "metrics": {"rate": {"unit": "1/s"}}}])",
               R"(suites[1].name: found "mine" again, allowed is a name that no other )"
               R"(suite has)"},
        Broken{"SuiteWithWorkerAndCommand",
               R"("suites": [{"name": "mine", "worker": "recipe", "command": ["true"], )"
               R"("models": ["a"], "metrics": {"rate": {"unit": "1/s"}}}])",
               R"(suites[0]: found worker and command, allowed is one of them)"},
        Broken{"SuiteWithNeitherWorkerNorCommand",
               R"("suites": [{"name": "mine", "models": ["a"]}])",
               R"(suites[0]: found neither worker nor command, allowed is one of them)"},
        Broken{"NativeSuiteWithACommand",
               R"("suites": [{"command": ["true"], "models": ["a"], "tests": ["eval"], )"
               R"("metrics": {"latency": {}}}])",
               R"(suites[0].command: found a command of the suite native, allowed is )"
               R"(none, or another name of the suite)"},
        Broken{"WorkerThatWaits",
               R"("suites": [{"name": "mine", "worker": "recipe", "waits": true, )"
               R"("models": ["a"]}])",
               R"(suites[0].waits: found true without a command, allowed is false: )"
               R"(workers always wait)"},
        Broken{"SuiteWithAllModels",
               R"("suites": [{"name": "mine", "worker": "recipe"}])",
               R"(suites[0].models: found "all", allowed is names of models: only the )"
               R"(suite native has a list of all)"},
        Broken{"SuiteWithAWordThatIsNoTest",
               R"("suites": [{"name": "mine", "worker": "recipe", "models": ["a"], )"
               R"("tests": ["Serve"]}])",
               R"(suites[0].tests[0]: found "Serve", allowed is a name of a to z, digits )"
               R"(and _)"},
        Broken{"CommandWithoutMetrics",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"]}])",
               R"(suites[0].metrics: found nothing, allowed is at least one: a command )"
               R"(has no others)"},
        Broken{"MetricWithoutAUnit",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"rate": {}}}])",
               R"(suites[0].metrics.rate.unit: found nothing, allowed is a unit, such as )"
               R"(ms, bytes or 1/s)"},
        Broken{"MetricOfTheNativeSuiteInAnotherUnit",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"latency": {"unit": "s"}}}])",
               R"(suites[0].metrics.latency: found s, lower is better, noisy, allowed is )"
               R"(no fields: latency is ms, lower is better, noisy in all suites)"},
        Broken{"MetricWhoseNameIsNoWord",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"tokens/s": {"unit": "1/s"}}}])",
               R"(suites[0].metrics["tokens/s"]: found "tokens/s", allowed is a name of )"
               R"(letters, digits and _)"},
        Broken{"ThresholdAboveOne",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"rate": {"unit": "1/s", "threshold": 7}}}])",
               R"(suites[0].metrics.rate.threshold: found 7, allowed is a number from 0 )"
               R"(to 1)"},
        Broken{"ThresholdBelowTheLeast",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"rate": {"unit": "1/s", "threshold": 0.0001}}}])",
               R"(suites[0].metrics.rate.threshold: found 0.0001, allowed is 0 for )"
               R"(decide.threshold, or a number from 0.001 to 1)"},
        Broken{"MetricDeclaredInTwoWays",
               R"("suites": [{"name": "mine", "command": ["true"], "models": ["a"], )"
               R"("metrics": {"rate": {"unit": "1/s"}}}, {"name": "other", "command": )"
               R"(["true"], "models": ["a"], "metrics": {"rate": {"unit": "1/s", )"
               R"("better": "higher"}}}])",
               R"(suites[1].metrics.rate: found 1/s, higher is better, noisy, allowed is )"
               R"(1/s, lower is better, noisy, as in suite "mine"; or another name)"},
        Broken{"BenchmarkInTwoSuites",
               R"("suite": {"models": ["dlrm"]}, "suites": [{"name": "mine", "worker": )"
               R"("recipe", "models": ["dlrm"], "tests": ["eval"]}])",
               R"(suites[0].models: found test_eval[dlrm-DEVICE-eager], which suite )"
               R"("native" also has, allowed is each benchmark in one suite; another )"
               R"(backend makes another benchmark)"},
        Broken{"SuiteThatNoFleetRuns",
               R"("fleets": [{"suites": ["native"]}], "suites": [{"name": "mine", )"
               R"("command": ["true"], "models": ["a"], "metrics": {"rate": {"unit": )"
               R"("1/s"}}}])",
               R"(suites[0].name: found "mine", which no fleet runs, allowed is a suite )"
               R"(that a fleet names in its suites)"},
        Broken{"FleetWithASuiteThatIsNot",
               R"("fleets": [{"suites": ["mien"]}], "suites": [{"name": "mine", )"
               R"("command": ["true"], "models": ["a"], "metrics": {"rate": {"unit": )"
               R"("1/s"}}}])",
               R"(fleets[0].suites[0]: found "mien", which is not a suite, allowed is one )"
               R"(of "native", "mine")"},
        Broken{"CacheOfASuiteThatIsNoVariable",
               R"("suites": [{"name": "mine", "worker": "recipe", "models": ["a"], )"
               R"("caches": ["A-B"]}])",
               R"(suites[0].caches[0]: found "A-B", allowed is an environment variable's name)"},
        Broken{"CacheOfASuiteThatItsEnvironmentSets",
               R"("suites": [{"name": "mine", "worker": "recipe", "models": ["a"], )"
               R"("caches": ["A"], "environment": {"A": "/shared"}}])",
               R"(suites[0].caches[0]: found "A", which environment also sets, allowed is )"
               R"(a variable in one of them: torchwatch chooses the directories of caches)"},
        Broken{"VariableOfASuiteThatIsNoName",
               R"("suites": [{"name": "mine", "worker": "recipe", "models": ["a"], )"
               R"("environment": {"A-B": "1"}}])",
               R"(suites[0].environment["A-B"]: found "A-B", allowed is an environment )"
               R"(variable's name)"},
        Broken{"MetricsAsAList",
               R"("suites": [{"name": "mine", "worker": "recipe", "models": ["a"], )"
               R"("metrics": ["latency"]}])",
               R"(suites[0].metrics: found array, allowed is an object)"},
        Broken{"ModelTwice",
               R"("suite": {"models": ["dlrm", "dlrm"]})",
               R"(suite.models[1]: found "dlrm" again, allowed is each entry once)"},
        Broken{
            "ModelThatNoBenchmarkNameHolds",
            R"("suite": {"models": ["res-net"]})",
            R"(suite.models[0]: found "res-net", allowed is a name of letters, digits, _ and .)"},
        Broken{"NewlineInText",
               R"("github": {"labels": ["a\nb"]})",
               R"(github.labels[0]: found "a\nb", allowed is a text without control characters)"},
        Broken{"NewlineInKey",
               R"("log": {"a\nb": 1})",
               R"(log["a\nb"]: found an unknown key, allowed are level)"}),
    [](auto const& broken) { return broken.param.name; });

}  // namespace
}  // namespace torchwatch::config
