#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>

#include "run_runner.h"
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/listening_port.h"

// Workers that attack their host, under a runner of root and of an ordinary user.
namespace torchwatch::runner {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using protocol::Failure;
using protocol::Hello;
using testing::EndsWith;
using testing::HasSubstr;

constexpr auto secret = "ghp_SecretOfTheService";
constexpr uid_t unprivileged = 65534;
/// The memory limit of a runner in KiB. Sanitizers need more.
#ifdef __SANITIZE_ADDRESS__
constexpr int most_of_a_runner = 1024 * 1024;
#else
constexpr int most_of_a_runner = 64 * 1024;
#endif

std::string contents_of(fs::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  // An iterator would throw when the file belongs to a process that ends meanwhile.
  text << stream.rdbuf();
  return text.str();
}

/// Returns the number of processes that have `mark` in their environment.
int processes_with(std::string const& mark) {
  int found = 0;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{"/proc", ignored})
    if (contents_of(entry.path() / "environ").find(mark) != std::string::npos) ++found;
  return found;
}

/// Returns the peak memory of a process, in KiB.
int peak_of(pid_t process) {
  std::ifstream status{"/proc/" + std::to_string(process) + "/status"};
  for (std::string word; status >> word;) {
    int size = 0;
    if (word == "VmHWM:" && status >> size) return size;
  }
  return 0;
}

struct Attack {
  std::string way;
  std::string code = "failed";
  std::string text = ": could: ";  ///< the end of the runner's answer, or a part of it
};

/// Prints the name of an attack for gtest.
std::ostream& operator<<(std::ostream& stream, Attack const& attack) {
  return stream << attack.way;
}

class HostileWorkerTest : public testing::TestWithParam<std::tuple<Attack, bool>> {
 protected:
  static bool is_root() { return std::get<bool>(GetParam()); }

  static Attack const& attack() { return std::get<Attack>(GetParam()); }

  void SetUp() override {
    if (is_root() && ::geteuid() != 0) GTEST_SKIP() << "only root can start a runner as root";
    fs::create_directories(state());
    std::ofstream{state() / "token"} << secret << '\n';
    fs::permissions(state() / "token", fs::perms::owner_read | fs::perms::owner_write);
    // The build tree may be readable only for its owner.
    fs::create_directories(workplace_.prefix() + "/bin");
    fs::copy(TEST_RUNNER, workplace_.prefix() + "/bin/test-runner");
    fs::create_directories(build());
    fs::copy(HOSTILE_WORKER, build() / "hostile-worker");
    if (is_root() || ::geteuid() != 0) return;
    for (auto const& entry : fs::recursive_directory_iterator{workplace_.prefix()})
      ASSERT_EQ(::chown(entry.path().c_str(), unprivileged, unprivileged), 0);
    ASSERT_EQ(::chown(workplace_.prefix().c_str(), unprivileged, unprivileged), 0);
  }

  fs::path state() const { return fs::path{workplace_.prefix()} / "state"; }

  fs::path build() const { return state() / "builds" / "hostile"; }

  std::vector<std::string> runner() const {
    auto const program = workplace_.prefix() + "/bin/test-runner";
    if (is_root() || ::geteuid() != 0) return {program};
    return {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", program};
  }

  protocol::Job job() const {
    auto job = workplace_.job("ok");
    job.build.prefix = build().string();
    job.build.worker = (build() / "hostile-worker").string();
    job.build.env = {{"HOSTILE", attack().way},
                     {"HOSTILE_STATE", state().string()},
                     {"HOSTILE_SECRET",
                      {std::rbegin(std::string_view{secret}), std::rend(std::string_view{secret})}},
                     {"HOSTILE_PORT", port_.text()},
                     {"HOSTILE_MARK", mark()}};
    if (attack().way == "read") job.build.preload = {"/lost.so", (state() / "lost.so").string()};
    job.limits.memory_bytes = std::int64_t{64} << 20;
    if (attack().way == "fork") job.limits.memory_bytes = std::int64_t{16} << 30;
    if (attack().way == "silent") job.limits.timeout_s = 1;
    return job;
  }

  std::string mark() const { return "mark-of-" + workplace_.prefix(); }

  /// Not in /tmp, because every sandbox has its own empty /tmp.
  tests::Workplace workplace_{"/var/tmp"};
  tests::ListeningPort port_;
};

TEST_P(HostileWorkerTest, CostsOneFailedJobAndGetsNothing) {
  tests::RunnerProcess runner{workplace_,
                              this->runner(),
                              {{"GITHUB_TOKEN", secret}, {"TORCH_TOKEN", secret}, {"BOT", secret}}};
  auto const hello = std::get<Hello>(runner.receive());
  ASSERT_EQ(hello.fingerprint.at("isolation"), "bubblewrap");

  runner.give(job());
  auto const failure = std::get<Failure>(runner.hear_answer());

  EXPECT_EQ(failure.code, attack().code) << failure.text;
  if (attack().code == "failed")
    EXPECT_THAT(failure.text, EndsWith(attack().text));
  else
    EXPECT_THAT(failure.text, HasSubstr(attack().text));
  auto const end = std::chrono::steady_clock::now() + 2s;
  while (processes_with(mark()) > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(processes_with(mark()), 0);
  EXPECT_EQ(contents_of(state() / "token"), std::string{secret} + '\n');
  for (auto const& entry : fs::recursive_directory_iterator{workplace_.prefix()})
    EXPECT_NE(entry.path().filename(), "litter") << entry.path();
  EXPECT_LT(peak_of(runner.process().pid()), most_of_a_runner);

  // The runner still works.
  auto good = workplace_.job("unsupported");
  good.build.prefix = build().string();
  good.build.worker = (build() / "hostile-worker").string();
  good.build.env = job().build.env;
  good.build.env["HOSTILE"] = "session";
  runner.give(good);
  EXPECT_EQ(std::get<Failure>(runner.hear_answer()).id, "unsupported");
}

INSTANTIATE_TEST_SUITE_P(
    Every,
    HostileWorkerTest,
    testing::Combine(testing::Values(Attack{"read"},
                                     Attack{"write"},
                                     Attack{"signals"},
                                     Attack{"session"},
                                     Attack{"fill"},
                                     Attack{"network"},
                                     Attack{"fork", "memory", "are more than 512 processes"},
                                     Attack{"nan", "protocol", "printed \""},
                                     Attack{"silent", "timeout", "no answer after 1 s"}),
                     testing::Bool()),
    [](auto const& test) {
      return std::get<Attack>(test.param).way +
             (std::get<bool>(test.param) ? "_AsRoot" : "_AsUser");
    });

/// A worker without a sandbox.
class UnisolatedWorker : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(std::get<Hello>(runner_.receive()).fingerprint.at("isolation"), "none");
    auto job = workplace_.job("ok");
    job.build.worker = HOSTILE_WORKER;
    job.build.env = {{"HOSTILE", "session"},
                     {"HOSTILE_STATE", "/nowhere"},
                     {"HOSTILE_SECRET", "none"},
                     {"HOSTILE_PORT", "1"},
                     {"HOSTILE_MARK", mark_}};
    runner_.give(job);
    EXPECT_THAT(std::get<Failure>(runner_.hear_answer()).text, EndsWith(": could: "));
  }

  tests::Workplace workplace_;
  std::string const mark_ = "mark-of-" + workplace_.prefix();
  tests::RunnerProcess runner_{workplace_, {TEST_RUNNER, "--no-isolation"}};
};

TEST_F(UnisolatedWorker, LeavesNoSessionBehindItsRound) {
  EXPECT_EQ(processes_with(mark_), 0) << "while the runner waits for the next job";

  runner_.process().close_stdin();
  EXPECT_EQ(runner_.end(), "exit status 0");
}

TEST_F(UnisolatedWorker, LeavesNoSessionBehind) {
  runner_.process().close_stdin();
  EXPECT_EQ(runner_.end(), "exit status 0");
  EXPECT_EQ(processes_with(mark_), 0);
}

TEST(RunnerWithoutBubblewrap, ReportsTheReasonAndEnds) {
  tests::Workplace workplace;
  workplace.write_program("bwrap",
                          "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  tests::RunnerProcess runner{
      workplace, {TEST_RUNNER}, {{"PATH", workplace.prefix() + ":/usr/bin:/bin"}}};
  EXPECT_EQ(runner.end(), "exit status 1");
  EXPECT_THAT(runner.process().last_stderr(),
              testing::StartsWith(
                  "this host cannot keep workers in sandboxes: bwrap: No permissions to create new "
                  "namespace; install bubblewrap"));
}

}  // namespace

}  // namespace torchwatch::runner
