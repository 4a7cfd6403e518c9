#include "daemon/builds/workshop.h"

#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <stdlib.h>

#include "daemon/async/tool.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// The permissions of a recipe, tried by a shell script.
class WorkshopTest : public testing::Test {
 protected:
  WorkshopTest() {
    options_.state_dir = (folder_ / "state").string();
    fs::create_directories(folder_ / "state" / "builds");
    std::ofstream{folder_ / "state" / "torchwatch.sqlite"} << "secret-of-the-state";
    options_.http.token_file = (folder_ / "token").string();
    std::ofstream{options_.http.token_file} << "secret-of-the-token";
    options_.http.tls.key = (folder_ / "key.pem").string();
    std::ofstream{options_.http.tls.key} << "secret-of-the-endpoint";
    options_.source.readable = {folder_.path().string()};
  }

  /// Returns its output and its errors.
  std::string run(std::string const& script) {
    process::Command command;
    command.argv = {"sh", "-c", "exec 2>&1; cd '" + folder_.path().string() + "'; " + script};
    Workshop::Access access;
    access.writable = {folder_ / "state" / "work"};
    access.has_network = has_network_;
    auto confined = tests::run(loop_, workshop_.confine(std::move(command), std::move(access)));
    if (!confined) return "error: " + confined.error().message;
    return tests::run(loop_,
                      async::run_tool(
                          loop_.get_executor(), std::move(*confined), std::chrono::seconds{20}))
        .value()
        .output;
  }

  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
  config::Options options_;
  Workshop workshop_{loop_.get_executor(), options_};
  bool has_network_ = false;
};

TEST_F(WorkshopTest, HidesTheStateAndTheTokens) {
  auto const found = run("ls state; cat token key.pem state/torchwatch.sqlite; ls /run");
  EXPECT_THAT(found, HasSubstr("work\n"));
  EXPECT_THAT(found, Not(HasSubstr("secret")));
  EXPECT_THAT(found, Not(HasSubstr("builds")));
}

TEST_F(WorkshopTest, HidesOtherProcesses) {
  EXPECT_EQ(run("ls /proc | grep -c '^[0-9]' | { read n; [ \"$n\" -lt 10 ] && echo few; }"),
            "few\n");
}

TEST_F(WorkshopTest, LetsOnlyItsOwnBeWritten) {
  EXPECT_EQ(run("touch state/work/mine && echo written"), "written\n");
  EXPECT_TRUE(fs::exists(folder_ / "state" / "work" / "mine"));
  EXPECT_THAT(run("touch litter /usr/litter"), Not(HasSubstr("written")));
  EXPECT_FALSE(fs::exists(folder_ / "litter"));
  run("touch /tmp/litter-of-a-test");
  EXPECT_FALSE(fs::exists("/tmp/litter-of-a-test"));
}

TEST_F(WorkshopTest, PassesOnVariablesOfCompilers) {
  options_.github.token_env = "LAB_BOT";
  options_.source.environment = {"WANTED_*"};
  for (auto const* const name : {"CXXFLAGS",
                                 "LAB_BOT",
                                 "WANTED_THING",
                                 "WANTED_TOKEN",
                                 "GITHUB_TOKEN",
                                 "AWS_SECRET_ACCESS_KEY",
                                 "OTHER"})
    ::setenv(name, "given", 1);
  auto const found = run("env | grep =given | sort");
  for (auto const* const name : {"CXXFLAGS",
                                 "LAB_BOT",
                                 "WANTED_THING",
                                 "WANTED_TOKEN",
                                 "GITHUB_TOKEN",
                                 "AWS_SECRET_ACCESS_KEY",
                                 "OTHER"})
    ::unsetenv(name);
  EXPECT_EQ(found, "CXXFLAGS=given\nWANTED_THING=given\n");
}

TEST_F(WorkshopTest, HasANetworkWhereItIsLet) {
  auto const* const interfaces = "ls /sys/class/net; wc -l < /proc/net/dev";
  auto const without = run(interfaces);
  has_network_ = true;
  EXPECT_NE(run(interfaces), without);
}

TEST_F(WorkshopTest, WithoutSandboxesDoesNothingUnlessItIsTold) {
  std::ofstream{folder_ / "bwrap"} << "#!/bin/sh\necho 'bwrap: no namespaces' >&2\nexit 1\n";
  fs::permissions(folder_ / "bwrap", fs::perms::owner_all);
  std::string const before = ::getenv("PATH");
  ::setenv("PATH", (folder_.path().string() + ":" + before).c_str(), 1);
  auto const refused = run("echo ran");
  options_.source.isolation = config::IsolationWish::none;
  auto const printed = run("echo ran");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_THAT(refused,
              HasSubstr("error: this host cannot make sandboxes for builds: bwrap: no namespaces"));
  EXPECT_EQ(printed, "ran\n");
}

}  // namespace
}  // namespace torchwatch::builds
