#include "runner/round.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "run.h"
#include "workplace.h"
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/turn_order.h"
#include "tests/temporary_variable.h"

namespace torchwatch::runner {

namespace {

using protocol::Failure;
using protocol::Job;
using protocol::Message;
using protocol::Outcome;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A worker that is a shell script.
Job scripted(Job job, std::string const& script) {
  job.build.launcher = {"sh", "-c", script};
  return job;
}

/// Rounds with and without a sandbox.
class JobRunTest : public testing::TestWithParam<bool> {
 protected:
  Message answer_to(Job job) {
    ProgressSink keep = [this](protocol::Progress const& progress) {
      seen_.push_back(progress);
    };
    return tests::run(loop_, run_round({{std::move(job)}}, surroundings(), std::move(keep)))
        .front();
  }

  /// Runs a job that must fail, and returns its `error`.
  Failure failure_of(Job job) {
    auto const message = answer_to(std::move(job));
    auto const* const failure = std::get_if<Failure>(&message);
    return failure == nullptr ? Failure{"", "no failure", protocol::encode(message)} : *failure;
  }

  /// Returns the output of a shell script that runs as the worker.
  std::string said_by(std::string const& script, Job job) {
    workplace_.write_program("say",
                             R"(text=$( ()" + script + R"() 2>&1 | tr '\n' ' ' | sed 's/["\\]/?/g')
printf '{"type":"error","code":"failed","text":"<%s>"}\n' "$text")");
    job.build.worker = workplace_.prefix() + "/say";
    auto const text = failure_of(std::move(job)).text;
    auto const begin = text.find('<');
    EXPECT_NE(begin, std::string::npos) << text;
    return text.substr(begin + 1, text.rfind('>') - begin - 1);
  }

  /// Returns the CPUs on which a worker may run, in the kernel's notation: "0-3 ".
  std::string processors_of(Job job) {
    return said_by("grep Cpus_allowed_list /proc/self/status | cut -f 2", std::move(job));
  }

  WorkerEnvironment surroundings() {
    WorkerEnvironment surroundings;
    surroundings.processors = processors_;
    surroundings.gpu = gpu_;
    if (GetParam()) surroundings.isolation = tests::best_isolation(loop_);
    return surroundings;
  }

  tests::Workplace workplace_;
  Processors processors_ = Processors::of_slot(0);
  std::string gpu_;
  boost::asio::io_context loop_{1};
  std::vector<protocol::Progress> seen_;
};

TEST_P(JobRunTest, ReturnsTheWorkersResult) {
  auto const outcome = std::get<Outcome>(answer_to(workplace_.job("ok")));

  EXPECT_EQ(outcome.id, "ok");
  EXPECT_EQ(outcome.benchmark, "test_eval[ok-cpu-eager]");
  EXPECT_EQ(outcome.metrics.at("latency").samples.size(), 10U);
  EXPECT_NEAR(outcome.metrics.at("latency").value, 20, 4);
  EXPECT_EQ(outcome.metrics.at("cmem").value, 1e6);
}

TEST_P(JobRunTest, LetsTheOthersOfARoundGoOnWhenOneFails) {
  for (auto const* const behaviour : {"crash", "hang", "garbage"}) {
    protocol::Round round{
        {workplace_.job(behaviour), workplace_.job("ok"), workplace_.job("unsupported")}};
    round.jobs.front().limits.timeout_s = 0.5;

    auto const answers =
        tests::run(loop_, run_round(std::move(round), surroundings(), [](auto const&) {}));

    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(std::get<Failure>(answers[0]).id, behaviour);
    EXPECT_EQ(std::get<Outcome>(answers[1]).id, "ok") << "next to " << behaviour;
    EXPECT_EQ(std::get<Failure>(answers[2]).code, "unsupported");
  }
}

TEST_P(JobRunTest, RunsJobsOneByOneOnRequest) {
  protocol::Round round{{workplace_.job("ok"), workplace_.job("crash"), workplace_.job("ok")}};
  round.jobs.front().id = "first";
  round.jobs.back().id = "last";
  round.one_by_one = true;
  ProgressSink keep = [this](protocol::Progress const& progress) {
    if (seen_.empty() || seen_.back().id != progress.id) seen_.push_back(progress);
  };

  auto const answers =
      tests::run(loop_, run_round(std::move(round), surroundings(), std::move(keep)));

  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(std::get<Outcome>(answers[0]).id, "first");
  EXPECT_EQ(std::get<Failure>(answers[1]).code, "crashed");
  EXPECT_EQ(std::get<Outcome>(answers[2]).id, "last");
  ASSERT_GE(seen_.size(), 2U);
  EXPECT_EQ(seen_.front().id, "first");
  EXPECT_EQ(seen_.back().id, "last");
  EXPECT_LE(seen_.size(), 3U) << "no messages of a worker after the next one has started";
}

TEST_P(JobRunTest, ShowsItsGpuAloneToAWorker) {
  gpu_ = "GPU-8932f937";
  auto job = workplace_.job("ok");
  job.build.env["CUDA_VISIBLE_DEVICES"] = "0,1";
  auto const script = "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER";
  EXPECT_EQ(said_by(script, job), "0,1 ") << "a CPU job";
  job.benchmark = "test_eval[ok-cuda-eager]";
  EXPECT_EQ(said_by(script, job), "GPU-8932f937 PCI_BUS_ID ");
}

TEST_P(JobRunTest, DoesNotCountTheWaitForATurn) {
  workplace_.write_program("slow", "sleep 1.5; exec " SCRIPTED_WORKER);
  protocol::Round round{{workplace_.job("ok"), workplace_.job("ok")}};
  round.jobs[0].build.worker = workplace_.prefix() + "/slow";
  round.jobs[1].id = "patient";
  round.jobs[1].limits.timeout_s = 1;

  auto const answers =
      tests::run(loop_, run_round(std::move(round), surroundings(), [](auto const&) {}));

  EXPECT_EQ(std::get<Outcome>(answers[1]).id, "patient");
}

TEST_P(JobRunTest, GivesTurnsInTheOrderOfTheSeed) {
  constexpr int passes = 12;
  auto const worker = [this](std::string const& id) {
    auto job = scripted(workplace_.job("ok"),
                        R"(echo '{"type":"hello","role":"worker"}'; read job
        for i in $(seq )" + std::to_string(passes) +
                            R"(); do echo '{"type":"ready","id":")" + id + R"("}'; read turn
        echo '{"type":"progress","id":")" +
                            id + R"("}'; done
        echo '{"type":"error","code":"failed","text":"done"}')");
    job.id = id;
    return job;
  };
  for (std::uint32_t const seed : {1U, 4294967295U}) {
    std::string seen;
    ProgressSink note = [&seen](protocol::Progress const& progress) {
      seen += progress.id;
    };
    protocol::Round round{{worker("A"), worker("B")}, seed};
    auto const answers =
        tests::run(loop_, run_round(std::move(round), surroundings(), std::move(note)));

    EXPECT_EQ(std::get<Failure>(answers[0]).id, "A");
    std::string wanted;
    TurnOrder orders{seed, Drawn::passes, 2};
    for (int pass = 0; pass < passes; ++pass)
      for (auto const place : orders.next())
        wanted += "AB"[place];
    EXPECT_EQ(seen, wanted);
  }
}

TEST_P(JobRunTest, RunsAWorkerThatNeedsNoPrefix) {
  auto job = workplace_.job("ok");
  job.build.prefix.clear();

  auto const failure = failure_of(std::move(job));

  EXPECT_NE(failure.code, "launch") << failure.text << ": it runs, but finds no script";
}

class PythonBuildTest : public JobRunTest {
 protected:
  /// Returns a job on a build with the package torch in the prefix, and a package of the operator.
  Job job_with_torch() {
    auto const torch = std::filesystem::path{workplace_.prefix()} / "torch";
    std::filesystem::create_directories(torch);
    std::ofstream{torch / "__init__.py"} << "its torch";
    auto job = workplace_.job("ok");
    job.build.env["PYTHONPATH"] = "/opt/extra";
    return job;
  }

  static constexpr auto read_torch = "cat ${PYTHONPATH%:/opt/extra}/torch/__init__.py";
};

TEST_P(PythonBuildTest, WithTorchInItsPrefixIsFirstInPythonsPath) {
  EXPECT_EQ(said_by(read_torch, job_with_torch()), "its torch");
}

TEST_P(PythonBuildTest, ThatIsTorchItselfIsFirstInPythonsPath) {
  for (auto const* const path : {"/torch", "/torch/"}) {
    auto job = job_with_torch();
    job.build.prefix += path;
    EXPECT_EQ(said_by(read_torch, job), "its torch") << path;
  }
}

TEST_P(PythonBuildTest, IsFoundByItsRealPathWithALauncher) {
  auto job = job_with_torch();
  job.build.launcher = {"env"};
  EXPECT_EQ(said_by("echo $PYTHONPATH", job), workplace_.prefix() + ":/opt/extra ");
}

TEST_P(PythonBuildTest, OrdersSetsAlikeInEveryProcess) {
  EXPECT_EQ(said_by("echo $PYTHONHASHSEED", job_with_torch()), "0 ");
}

TEST_P(JobRunTest, LeavesPythonsPathToABuildWithoutTorch) {
  EXPECT_EQ(said_by("echo $PYTHONPATH", workplace_.job("ok")), " ");
}

TEST_P(JobRunTest, BindsACpuWorkerToItsProcessors) {
  auto const picked = processors_.pick(1);
  ASSERT_EQ(picked.size(), 1U);
  auto const everywhere = [&] {
    auto job = workplace_.job("ok");
    job.measure.pin = false;
    return processors_of(std::move(job));
  }();

  EXPECT_EQ(processors_of(workplace_.job("ok")), std::to_string(picked.front()) + " ");

  auto wide = workplace_.job("ok");
  wide.measure.threads = 1000;
  EXPECT_EQ(processors_of(std::move(wide)), everywhere) << "too few CPUs";
  auto on_gpu = workplace_.job("ok");
  on_gpu.benchmark = "test_eval[ok-cuda-eager]";
  EXPECT_EQ(processors_of(std::move(on_gpu)), everywhere) << "without NVML";
}

TEST_P(JobRunTest, FillsCachesOnAllProcessors) {
  auto measured = workplace_.job("ok");
  measured.measure.pin = false;
  auto filling = workplace_.job("ok");
  filling.caches.is_filling = true;
  EXPECT_EQ(processors_of(std::move(filling)), processors_of(std::move(measured)));
}

TEST_P(JobRunTest, PassesProgressOn) {
  answer_to(workplace_.job("ok"));

  ASSERT_EQ(seen_.size(), 1U);
  EXPECT_EQ(seen_.front().id, "ok");
  EXPECT_EQ(seen_.front().phase, "latency");
  EXPECT_EQ(seen_.front().total, 10);
}

TEST_P(JobRunTest, NamesAWorkerThatCannotBeStarted) {
  auto job = workplace_.job("ok");
  job.build.worker = "/nowhere/worker";

  auto const failure = failure_of(job);

  EXPECT_EQ(failure.id, "ok");
  EXPECT_EQ(failure.code, "launch");
  EXPECT_THAT(failure.text, StartsWith("test_eval[ok-cpu-eager] on " + workplace_.prefix() + ": "));
  EXPECT_THAT(failure.text,
              AnyOf(HasSubstr("/nowhere/worker: No such file or directory"),
                    HasSubstr("/nowhere/worker: not found")));
}

TEST_P(JobRunTest, ReportsAWorkerThatItsLauncherCannotStart) {
  auto job = workplace_.job("ok");
  job.build.launcher = {"env"};
  job.build.worker = "/nowhere/worker";

  auto const failure = failure_of(job);

  EXPECT_EQ(failure.code, "launch");
  EXPECT_THAT(failure.text,
              AllOf(HasSubstr("before its hello: exit status 127"), HasSubstr("/nowhere/worker")));
}

TEST_P(JobRunTest, RefusesAnotherProtocolVersion) {
  auto job = workplace_.job("ok");
  job.build.env["SCRIPTED_WORKER_PROTOCOL"] = "99";

  auto const failure = failure_of(job);

  EXPECT_EQ(failure.code, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("uses protocol version 99; must be 5"));
}

TEST_P(JobRunTest, RefusesAWorkerOfAnotherRole) {
  auto const* const script = R"(echo '{"type":"hello","role":"runner"}'; sleep 100)";
  auto const failure = failure_of(scripted(workplace_.job("ok"), script));

  EXPECT_EQ(failure.code, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("calls itself \"runner\""));
}

TEST_P(JobRunTest, RefusesAWorkerWithoutHello) {
  auto const* const script = R"(echo '{"type":"progress","id":"ok"}'; sleep 100)";
  auto const failure = failure_of(scripted(workplace_.job("ok"), script));

  EXPECT_EQ(failure.code, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("did not begin with hello"));
}

TEST_P(JobRunTest, RefusesProgressOfAnotherJob) {
  auto const* const script =
      R"(echo '{"type":"hello","role":"worker"}'; echo '{"type":"progress","id":"x"}'; sleep 100)";
  auto const failure = failure_of(scripted(workplace_.job("ok"), script));

  EXPECT_EQ(failure.code, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("named job \"x\"; it was given \"ok\""));
  EXPECT_TRUE(seen_.empty());
}

TEST_P(JobRunTest, ReportsAFailureBeforeTheHello) {
  auto const* const script =
      R"(echo '{"type":"error","code":"failed","text":"no torch"}'; sleep 100)";
  auto const failure = failure_of(scripted(workplace_.job("ok"), script));

  EXPECT_EQ(failure.id, "ok");
  EXPECT_EQ(failure.code, "failed");
  EXPECT_THAT(failure.text, HasSubstr("no torch"));
}

TEST_P(JobRunTest, ReportsAnErrorWithoutCodeAsFailed) {
  auto const* const script = R"(echo '{"type":"hello","role":"worker"}'; echo '{"type":"error"}')";

  EXPECT_EQ(failure_of(scripted(workplace_.job("ok"), script)).code, "failed");
}

TEST_P(JobRunTest, ReportsAWorkerThatOnlyClosesItsOutput) {
  auto const* const script = R"(echo '{"type":"hello","role":"worker"}'; exec >&-; sleep 100)";
  auto job = workplace_.job("ok");
  job.limits.timeout_s = 5;
  auto const failure = failure_of(scripted(std::move(job), script));

  EXPECT_EQ(failure.code, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("closed its output before its first progress and went on"));
}

TEST_P(JobRunTest, MakesTheKernelKillTheWorkerFirst) {
  std::string ours;
  std::ifstream{"/proc/self/oom_score_adj"} >> ours;
  auto const score = said_by("cat /proc/self/oom_score_adj", workplace_.job("ok"));
  EXPECT_EQ(score, GetParam() ? "1000 " : ours + " ");
}

TEST_P(JobRunTest, DoesNotWaitForOutputOfADeadWorker) {
  auto const failure = failure_of(scripted(workplace_.job("ok"), "setsid sleep 100 & exit 3"));

  EXPECT_EQ(failure.code, "crashed");
  EXPECT_THAT(failure.text, HasSubstr("worker ended before its hello: exit status 3"));
}

TEST_P(JobRunTest, KeepsTheAnswerOfAWorkerThatDoesNotLeave) {
  auto const* const script = R"(echo '{"type":"hello","role":"worker"}'
      echo '{"type":"result","id":"ok","benchmark":"test_eval[ok-cpu-eager]","metrics":{"latency":{"value":7}}}'; sleep 100)";

  auto const outcome = std::get<Outcome>(answer_to(scripted(workplace_.job("ok"), script)));

  EXPECT_EQ(outcome.metrics.at("latency").value, 7);
}

/// A worker that prints its environment.
constexpr auto print_preload =
    R"(echo "{\"type\":\"error\",\"code\":\"failed\",\"text\":\"$LD_PRELOAD,$COLOUR\"}")";

TEST_P(JobRunTest, GivesTheWorkerItsBuildsEnvironment) {
  auto job = workplace_.job("ok");
  job.build.worker = workplace_.prefix() + "/worker";
  workplace_.write_program("worker", print_preload);
  job.build.preload = {"/nowhere/a.so", "/nowhere/b.so"};
  job.build.env["COLOUR"] = "blue green";

  EXPECT_THAT(failure_of(job).text, HasSubstr("/nowhere/a.so:/nowhere/b.so,blue green"));
}

TEST_P(JobRunTest, GivesTheBuildsEnvironmentOnlyInsideTheLauncher) {
  workplace_.write_program("launcher", "echo \"outside $COLOUR.\" >&2; exec \"$@\"");
  workplace_.write_program("worker", "echo \"inside $COLOUR\" >&2; exit 1");
  auto job = workplace_.job("ok");
  job.build.launcher = {workplace_.prefix() + "/launcher"};
  job.build.worker = workplace_.prefix() + "/worker";
  job.build.env["COLOUR"] = "blue green";

  EXPECT_THAT(failure_of(job).text, HasSubstr("outside . | inside blue green"));
}

TEST_P(JobRunTest, GivesTheWorkerADirectoryOfItsOwnWithNothingButTheBuild) {
  workplace_.write_program("worker", "ls -A >&2; pwd >&2; touch litter; exit 1");
  auto job = workplace_.job("ok");
  job.build.worker = workplace_.prefix() + "/worker";

  auto const text = failure_of(job).text;

  EXPECT_THAT(text, HasSubstr("it printed last: build | /"));
  auto const directory = text.substr(text.find(" | ") + 3);
  EXPECT_THAT(directory, StartsWith(GetParam() ? "/tmp/work" : "/tmp/torchwatch-"));
  EXPECT_FALSE(std::filesystem::exists(directory + "/litter"));
}

TEST_P(JobRunTest, ShowsEveryBuildInTheSamePlace) {
  workplace_.write_program("worker", "echo \"$0 $LD_PRELOAD\" >&2; exit 1");
  auto job = workplace_.job("ok");
  job.build.worker = workplace_.prefix() + "/worker";
  job.build.preload = {workplace_.prefix() + "/lib/extension.so"};

  EXPECT_THAT(failure_of(job).text, HasSubstr("build/worker build/lib/extension.so"));
}

TEST_P(JobRunTest, ShowsThePackagesNextToTorchInAnUnpackedWheel) {
  workplace_.write_program("worker", "cat build/../nvidia/lib >&2; exit 1");
  auto const packages = std::filesystem::path{workplace_.prefix()};
  auto job = workplace_.job("ok");
  job.build.prefix = (packages / "torch").string();
  job.build.worker = (packages / "torch/worker").string();
  std::filesystem::create_directories(packages / "torch");
  std::filesystem::create_directories(packages / "torch-2.14.0.dev20261120+cu130.dist-info");
  std::filesystem::create_directories(packages / "nvidia");
  std::filesystem::rename(packages / "worker", packages / "torch/worker");
  std::ofstream{packages / "nvidia/lib"} << "libcudart of the wheel\n";

  EXPECT_THAT(failure_of(job).text, HasSubstr("libcudart of the wheel"));
}

TEST_P(JobRunTest, ShowsWhatALinkToAWorkerOfTheOperatorLeadsTo) {
  tests::Workplace const elsewhere{"/var/tmp"};
  elsewhere.write_program("worker", "echo \"found\" >&2; exit 1");
  auto job = workplace_.job("ok");
  auto const link = std::filesystem::path{workplace_.prefix()} / "link";
  std::filesystem::create_symlink(elsewhere.prefix() + "/worker", link);
  job.build.prefix.clear();
  job.build.worker = link.string();

  EXPECT_THAT(failure_of(job).text, HasSubstr("it printed last: found"));
}

/// Workers that the host cannot start, and workers that only claim so.
class HostTroubleTest : public testing::Test {
 protected:
  Failure failure_of(Job job, process::Isolation isolation) {
    WorkerEnvironment surroundings;
    surroundings.isolation = isolation;
    auto const answers =
        tests::run(loop_, run_round({{std::move(job)}}, surroundings, [](auto const&) {}));
    auto const* const failure = std::get_if<Failure>(&answers.front());
    return failure == nullptr ? Failure{"", "no failure", ""} : *failure;
  }

  tests::Workplace workplace_;
  boost::asio::io_context loop_{1};
};

TEST_F(HostTroubleTest, IsReportedWhenNoSandboxCanBeMade) {
  workplace_.write_program("bwrap",
                           "echo 'bwrap: Creating new namespace failed: Resource temporarily "
                           "unavailable' >&2; exit 1");
  tests::TemporaryVariable const path{"PATH", workplace_.prefix() + ":/usr/bin:/bin"};

  auto const failure = failure_of(workplace_.job("ok"), process::Isolation::bubblewrap);

  EXPECT_EQ(failure.code, protocol::host_trouble);
  EXPECT_EQ(failure.id, "ok");
  EXPECT_THAT(failure.text, HasSubstr("cannot keep any worker in a sandbox now: bwrap: Creating"));
}

TEST_F(HostTroubleTest, IsNotReportedForTheOutputOfABuild) {
  workplace_.write_program("worker", "echo 'bwrap: Cannot allocate memory' >&2; exit 1");
  auto job = workplace_.job("ok");
  job.build.worker = workplace_.prefix() + "/worker";

  EXPECT_EQ(failure_of(job, tests::best_isolation(loop_)).code, "launch");
}

TEST_F(HostTroubleTest, IsNotReportedForTheCodeOfAWorker) {
  workplace_.write_program("worker", R"(echo '{"type":"error","code":"host","text":"no memory"}')");
  auto job = workplace_.job("ok");
  job.build.worker = workplace_.prefix() + "/worker";

  EXPECT_EQ(failure_of(job, process::Isolation::none).code, "failed");
}

TEST_F(HostTroubleTest, IsReportedWithoutADirectoryForAWorker) {
  auto const job = workplace_.job("ok");
  tests::TemporaryVariable const folder{"TMPDIR", workplace_.prefix() + "/nowhere"};

  auto const failure = failure_of(job, process::Isolation::none);

  EXPECT_EQ(failure.code, protocol::host_trouble);
  EXPECT_THAT(failure.text, HasSubstr("make a directory"));
}

std::string name_of_isolation(testing::TestParamInfo<bool> const& test) {
  return test.param ? "InASandbox" : "WithoutSandbox";
}

INSTANTIATE_TEST_SUITE_P(Kept, JobRunTest, testing::Bool(), name_of_isolation);
INSTANTIATE_TEST_SUITE_P(Kept, PythonBuildTest, testing::Bool(), name_of_isolation);

}  // namespace

}  // namespace torchwatch::runner
