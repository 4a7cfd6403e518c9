#include "daemon/builds/workers.h"

#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class WorkerTools : public testing::Test {
 protected:
  /// deploy/build-worker, which finds its tools here first. A link keeps it where it belongs.
  Result<std::string> tools() {
    auto const wrapper = folder_ / "build-worker";
    std::ofstream{wrapper} << "#!/bin/sh\nPATH='" << (folder_ / "bin").string() << "':\"$PATH\"\n"
                           << "CXX=" << compiler_ << " exec '" << BUILD_WORKER << "' \"$@\"\n";
    fs::permissions(wrapper, fs::perms::owner_all);
    config::Options options;
    options.source.readable = {folder_.path().string(),
                               fs::path{BUILD_WORKER}.parent_path().parent_path().string()};
    Workshop workshop{loop_.get_executor(), options};
    WorkerProgram workers{loop_.get_executor(), wrapper, workshop};
    return tests::run(loop_, workers.tools());
  }

  void program(std::string const& name, std::string const& script) const {
    fs::create_directories(folder_ / "bin");
    std::ofstream{folder_ / "bin" / name} << "#!/bin/sh\n" << script << '\n';
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }

  std::string compiler_ = "c++";
  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
};

TEST_F(WorkerTools, AreNamedInOneLine) {
  auto const found = tools();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, StartsWith("cmake 3."));
  EXPECT_THAT(*found, HasSubstr(", ninja "));
  EXPECT_EQ(found->find('\n'), std::string::npos);
}

TEST_F(WorkerTools, ThatAreMissingAreNamed) {
  compiler_ = "no-such-compiler";
  auto const found = tools();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_THAT(found.error().message, EndsWith("missing on this host: no-such-compiler"));
}

TEST_F(WorkerTools, HaveToBeNewEnough) {
  program("cmake", "echo 'cmake version 3.9.6'");
  EXPECT_THAT(tools().error().message, HasSubstr("cmake 3.9.6 is older than 3.25"));
}

TEST_F(WorkerTools, HaveToCompileTheStandard) {
  program("old-compiler", "echo 'c++20: unknown' >&2; exit 1");
  compiler_ = "old-compiler";
  EXPECT_THAT(tools().error().message, HasSubstr("old-compiler does not compile C++20"));
}

TEST(WorkerProgram, WritesToItsPlaceInTheBuildAlone) {
  tests::TemporaryFolder const folder;
  config::Options options;
  options.state_dir = folder / "state";
  auto const wheel = folder / "state/builds/nightly-1";
  for (auto const* const file : {"torch/lib/libtorch.so", "nvidia/lib/libcudnn.so"}) {
    fs::create_directories((wheel / file).parent_path());
    std::ofstream{wheel / file} << "what it was";
  }
  std::ofstream{folder / "build-worker"} << R"(#!/bin/sh
[ "$1" != --dependencies ] || exec echo tools
for file in "$1/lib/libtorch.so" "$1/../nvidia/lib/libcudnn.so" "$1/../hostile"; do echo hostile > "$file"; done
echo worker > "$1/bin/torchwatch-worker"
)";
  fs::permissions(folder / "build-worker", fs::perms::owner_all);
  options.source.readable = {folder.path().string()};
  boost::asio::io_context loop{1};
  Workshop workshop{loop.get_executor(), options};
  WorkerProgram workers{loop.get_executor(), folder / "build-worker", workshop};

  auto const made = tests::run(loop, workers.make(wheel / "torch"));

  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(tests::text_of(wheel / "torch/bin/torchwatch-worker"), "worker\n");
  EXPECT_EQ(tests::text_of(wheel / "torch/lib/libtorch.so"), "what it was");
  EXPECT_EQ(tests::text_of(wheel / "nvidia/lib/libcudnn.so"), "what it was");
  EXPECT_FALSE(fs::exists(wheel / "hostile"));
}

/// Reports that it was made from "tools", and records its calls to compile.
class RenewedWorker : public testing::Test {
 protected:
  RenewedWorker() {
    options_.state_dir = folder_ / "state";
    options_.source.readable = {folder_.path().string()};
    std::ofstream{folder_ / "build-worker"} << R"(#!/bin/sh
[ "$1" != --dependencies ] || exec cat $(dirname "$0")/tools
echo "$1" >> $(dirname "$2")/tried
grep -q 'do not compile' $(dirname "$0")/tools && echo error: no member named >&2 && exit 1
echo compiled > "$1/bin/torchwatch-worker"
)";
    fs::permissions(folder_ / "build-worker", fs::perms::owner_all);
    tools("tools");
  }

  /// The dependencies of workers.
  void tools(std::string const& text) { std::ofstream{folder_ / "tools"} << text << '\n'; }

  /// A build that came with a worker, made from `made`.
  fs::path build(std::string const& place, std::string const& made) const {
    auto const prefix = folder_ / place;
    fs::create_directories(prefix / "bin");
    std::ofstream{prefix / "bin/torchwatch-worker"} << "its own\n";
    if (!made.empty()) std::ofstream{prefix / "bin/torchwatch-worker.made"} << made;
    return prefix;
  }

  std::string renewed(fs::path const& prefix) {
    auto const done = tests::run(loop_, workers_.renew(prefix));
    if (!done) return done.error().message;
    bool const is_there = fs::exists(prefix / "bin/torchwatch-worker");
    return is_there ? tests::text_of(prefix / "bin/torchwatch-worker") : "none";
  }

  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
  config::Options options_;
  Workshop workshop_{loop_.get_executor(), options_};
  WorkerProgram workers_{loop_.get_executor(), folder_ / "build-worker", workshop_};
};

TEST_F(RenewedWorker, IsCompiledAgainAfterAnUpdate) {
  EXPECT_EQ(renewed(build("state/builds/nightly-1/libtorch", "older tools")), "compiled\n");
  EXPECT_EQ(renewed(build("state/builds/nightly-2/libtorch", "tools\n")), "its own\n");
}

TEST_F(RenewedWorker, IsLeftAloneWhereTheBuildBroughtIt) {
  EXPECT_EQ(renewed(build("state/builds/nightly-1/libtorch", "")), "its own\n");
  EXPECT_EQ(renewed(build("feed/2026-01-01", "other tools")), "its own\n");
  EXPECT_EQ(renewed(build("state/builds/" + std::string(40, 'a') + "-1", "other")), "its own\n");
}

TEST_F(RenewedWorker, IsGoneWhereItDoesNotCompileAnyMoreUntilTheSourcesAreOthers) {
  auto const prefix = build("state/builds/nightly-1/libtorch", "older tools");
  tools("newer tools that do not compile");
  EXPECT_EQ(renewed(prefix), "none") << "other builds are still measured";
  EXPECT_EQ(renewed(prefix), "none");
  EXPECT_EQ(tests::text_of(folder_ / "state/workers/tried"), prefix.string() + '\n') << "once";

  tools("mended tools");
  EXPECT_EQ(renewed(build("state/builds/nightly-2/libtorch", "older tools")), "compiled\n");
  EXPECT_EQ(renewed(prefix), "compiled\n");
}

TEST_F(RenewedWorker, WaitsForNoPipe) {
  auto const prefix = build("state/builds/nightly-1/libtorch", "");
  ASSERT_EQ(::mkfifo((prefix / "bin/torchwatch-worker.made").c_str(), 0600), 0);
  EXPECT_EQ(renewed(prefix), "compiled\n");
}

}  // namespace
}  // namespace torchwatch::builds
