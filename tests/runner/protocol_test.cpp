#include "runner/protocol.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::protocol {

namespace {

using testing::HasSubstr;
using testing::Not;

/// Encodes and decodes a message.
template <class T>
T round_trip(T const& sent) {
  auto const line = encode(sent);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  return std::get<T>(decode(line));
}

std::string refusal_of(std::string const& line) {
  try {
    decode(line);
    return "no refusal";
  } catch (ProtocolError const& problem) {
    return problem.what();
  }
}

TEST(Protocol, CarriesAHello) {
  Hello hello;
  hello.role = "worker";
  hello.pytorch_version = "2.9.0a0+git1a2b3c4";
  hello.git_hash = "1a2b3c4";
  hello.devices = {"cpu", "cuda"};
  hello.fingerprint = {{"host", "gpu-7"}, {"threads", 4}};

  auto const received = round_trip(hello);

  EXPECT_EQ(received.protocol, version);
  EXPECT_EQ(received.role, hello.role);
  EXPECT_EQ(received.pytorch_version, hello.pytorch_version);
  EXPECT_EQ(received.git_hash, hello.git_hash);
  EXPECT_EQ(received.devices, hello.devices);
  EXPECT_EQ(received.fingerprint, hello.fingerprint);
}

TEST(Protocol, CarriesAJob) {
  Job job;
  job.id = "42";
  job.benchmark = "test_train[dlrm-cpu-eager]";
  job.build = {"/builds/a", "/builds/a/worker", {"srun", "-p", "gpu"}, {{"A", "b c"}}, {"/l.so"}};
  job.measure.runs = 3;
  job.measure.min_run_ms = 2.5;
  job.measure.scale = "smoke";
  job.limits = {1.5, std::int64_t{1} << 40};

  auto const received = round_trip(job);

  EXPECT_EQ(received.id, job.id);
  EXPECT_EQ(received.benchmark, job.benchmark);
  EXPECT_EQ(received.build.prefix, job.build.prefix);
  EXPECT_EQ(received.build.worker, job.build.worker);
  EXPECT_EQ(received.build.launcher, job.build.launcher);
  EXPECT_EQ(received.build.env, job.build.env);
  EXPECT_EQ(received.build.preload, job.build.preload);
  EXPECT_EQ(received.measure.runs, 3);
  EXPECT_EQ(received.measure.min_run_ms, 2.5);
  EXPECT_EQ(received.measure.scale, "smoke");
  EXPECT_EQ(received.limits.timeout_s, 1.5);
  EXPECT_EQ(received.limits.memory_bytes, std::int64_t{1} << 40);
}

TEST(Protocol, CarriesTheSuiteOfAJob) {
  Job job;
  job.metrics = {"tokens_per_s", "kernels"};
  job.exact = {"kernels"};
  job.command = {"python3", "bench.py", "--model", "{model}"};
  job.waits = true;
  job.readable = {"/opt/data"};
  job.caches = {{"TRITON_CACHE_DIR"}, "/state/caches/nightly-1", "b", true};

  auto const received = round_trip(job);

  EXPECT_EQ(received.caches.variables, job.caches.variables);
  EXPECT_EQ(received.caches.directory, job.caches.directory);
  EXPECT_EQ(received.caches.fill, "b");
  EXPECT_TRUE(received.caches.is_filling);
  EXPECT_EQ(received.metrics, job.metrics);
  EXPECT_EQ(received.exact, job.exact);
  EXPECT_EQ(received.command, job.command);
  EXPECT_TRUE(received.waits);
  EXPECT_EQ(received.readable, job.readable);
}

TEST(Protocol, LeavesOutTheSuiteOfANativeJob) {
  auto const line = encode(Job{});
  for (auto const* const field :
       {"\"metrics\"", "\"exact\"", "\"command\"", "\"waits\"", "\"readable\"", "\"caches\""})
    EXPECT_THAT(line, Not(HasSubstr(field)));
}

TEST(Protocol, CarriesARoundAndItsSeed) {
  Round round;
  round.jobs.resize(2);
  round.jobs[1].id = "43";
  round.seed = 4294967295;

  auto const received = round_trip(round);

  ASSERT_EQ(received.jobs.size(), 2U);
  EXPECT_EQ(received.jobs[1].id, "43");
  EXPECT_EQ(received.seed, 4294967295);
}

TEST(Protocol, RefusesASeedThatIsNoWholeNumberOf32Bits) {
  for (auto const* const seed : {"4294967296", "-1", "1.0", "1e3", "true", "\"7\"", "null", "[]"})
    EXPECT_THAT(refusal_of(R"({"type":"round","jobs":[],"seed":)" + std::string{seed} + "}"),
                HasSubstr("allowed is a whole number that fits"))
        << seed;
}

TEST(Protocol, CarriesProgress) {
  auto const received = round_trip(Progress{"42", "latency", 3, 10});

  EXPECT_EQ(received.id, "42");
  EXPECT_EQ(received.phase, "latency");
  EXPECT_EQ(received.done, 3);
  EXPECT_EQ(received.total, 10);
}

TEST(Protocol, CarriesAResultToTheLastBit) {
  Outcome outcome;
  outcome.id = "42";
  outcome.benchmark = "test_eval[dcgan-cpu-eager]";
  outcome.metrics["latency"] = {0.1 + 0.2, {1.0 / 3, 5e-324}};
  outcome.metrics["cmem"] = {9007199254740993.0, {}};
  outcome.seconds = 12.5;

  auto const received = round_trip(outcome);

  EXPECT_EQ(received.benchmark, outcome.benchmark);
  EXPECT_EQ(received.metrics.at("latency").value, 0.1 + 0.2);
  EXPECT_EQ(received.metrics.at("latency").samples, outcome.metrics["latency"].samples);
  EXPECT_EQ(received.metrics.at("cmem").value, outcome.metrics["cmem"].value);
  EXPECT_EQ(received.seconds, 12.5);
}

TEST(Protocol, CarriesAnErrorOfSeveralLinesOnOne) {
  auto const received = round_trip(Failure{"42", "crashed", "first\nsecond\t\"third\""});

  EXPECT_EQ(received.code, "crashed");
  EXPECT_EQ(received.text, "first\nsecond\t\"third\"");
}

TEST(Protocol, RepairsTextThatIsNotUtf8) {
  EXPECT_EQ(round_trip(Failure{"1", "failed", "caf\xe9"}).text, "caf\xef\xbf\xbd");
}

TEST(Protocol, FillsAbsentFieldsWithTheirDefaults) {
  auto const job = std::get<Job>(decode(R"({"type":"job","id":"1"})"));

  EXPECT_EQ(job.measure.runs, 10);
  EXPECT_EQ(job.measure.seed, 1337);
  EXPECT_EQ(job.limits.timeout_s, 600);
  EXPECT_TRUE(job.build.launcher.empty());
}

TEST(Protocol, IgnoresUnknownFields) {
  auto const* const line = R"({"type":"progress","id":"1","phase":"warmup","mood":"fine"})";
  EXPECT_EQ(std::get<Progress>(decode(line)).phase, "warmup");
}

TEST(Protocol, RejectsOtherText) {
  EXPECT_THAT(refusal_of("Downloading 100%"), HasSubstr("not a message"));
  EXPECT_THAT(refusal_of(""), HasSubstr("not a message"));
  EXPECT_THAT(refusal_of("[1,2]"), HasSubstr("not a message"));
  EXPECT_THAT(refusal_of("{}"), HasSubstr("type"));
  EXPECT_THAT(refusal_of(R"({"type":7})"), HasSubstr("not a message"));
  EXPECT_THAT(refusal_of(R"({"type":"job"} {"type":"job"})"), HasSubstr("not a message"));
}

TEST(Protocol, RefusesAnUnknownType) {
  EXPECT_EQ(refusal_of(R"({"type":"gossip"})"), "unknown message type \"gossip\"");
}

TEST(Protocol, RefusesAFieldOfTheWrongType) {
  EXPECT_THAT(refusal_of(R"({"type":"job","id":7})"), HasSubstr("not a message"));
  EXPECT_THAT(refusal_of(R"({"type":"result","metrics":[1]})"), HasSubstr("not a message"));
}

TEST(Protocol, RejectsNumbersThatDoNotFitTheirField) {
  for (auto const* const number :
       {"1.5", "1e300", "true", "9223372036854775808", "2147483648", "-2147483649"})
    EXPECT_THROW(decode(R"({"type":"progress","done":)" + std::string{number} + "}"), ProtocolError)
        << number;
  EXPECT_EQ(std::get<Progress>(decode(R"({"type":"progress","done":-2147483648})")).done,
            -2147483648LL);
  EXPECT_THROW(decode(R"({"type":"job","limits":{"memory_bytes":9223372036854775808}})"),
               ProtocolError);
  EXPECT_THROW(decode(R"({"type":"result","metrics":{"latency":{"outliers":[0.5]}}})"),
               ProtocolError);
}

TEST(Protocol, RefusesALineThatIsTooLong) {
  EXPECT_EQ(refusal_of(std::string(max_line_bytes + 1, ' ')), "line longer than 8 MiB");
}

TEST(Protocol, RejectsDeepNesting) {
  auto const nested = [](int levels) {
    auto const depth = static_cast<std::size_t>(levels);
    return R"({"type":"hello","fingerprint":{"x":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}";
  };
  EXPECT_NO_THROW(decode(nested(max_depth - 2)));
  EXPECT_THAT(refusal_of(nested(max_depth - 1)), HasSubstr("nested deeper than 16 levels"));
  EXPECT_THAT(refusal_of(nested(2'000'000)), HasSubstr("nested deeper than 16 levels"));
}

TEST(Protocol, RejectsLongTextsOnlyOfRunnersAndWorkers) {
  auto const text = std::string(max_text_bytes + 1, 'x');
  EXPECT_THAT(refusal_of(R"({"type":"hello","git_hash":")" + text + "\"}"),
              HasSubstr("a text of 4097 bytes"));
  EXPECT_THAT(refusal_of(R"({"type":"hello","fingerprint":{")" + text + R"(":1}})"),
              HasSubstr("a text of 4097 bytes"));
  EXPECT_NO_THROW(decode(R"({"type":"job","build":{"env":{"PATH":")" + text + R"("}}})"));
}

TEST(Protocol, CutsTheTextOfAFailure) {
  auto const line = encode(Failure{"1", "failed", std::string(100'000, '\xff')});
  EXPECT_LE(std::get<Failure>(decode(line)).text.size(), max_text_bytes);
}

}  // namespace

}  // namespace torchwatch::protocol
