#include "runner/command/runs.h"

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::command {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

Wanted wanted_of_serving() {
  Wanted wanted;
  wanted.required = wanted.allowed = {"tokens_per_s", "ttft"};
  wanted.model = "llama";
  wanted.benchmark = "test_run[llama-cpu-serving]";
  return wanted;
}

/// Returns the runs of an output; those of a failure are empty.
std::vector<command::Run> runs_in(std::string const& text) {
  auto const output = parse_output(text, wanted_of_serving());
  EXPECT_TRUE(output.has_value()) << output.error().message;
  return output ? output->runs : std::vector<command::Run>{};
}

std::string error_of(std::string const& text) {
  auto const output = parse_output(text, wanted_of_serving());
  return output ? "no error" : output.error().message;
}

TEST(Runs, AreReadFromOneObjectALine) {
  std::vector<command::Run> const two{{{"tokens_per_s", 1234.5}, {"ttft", 8}},
                                      {{"tokens_per_s", 1}}};
  EXPECT_EQ(runs_in("{\"tokens_per_s\": 1234.5, \"ttft\": 8}\n{\"tokens_per_s\":1e0}\n"), two);
}

TEST(Runs, MayHaveBlanksAroundThemAndNoLastNewline) {
  std::vector<command::Run> const one{{{"ttft", 0.5}}};
  EXPECT_EQ(runs_in("\r\n  \t{ \"ttft\" : 5e-1 } \r\n"), one);
  EXPECT_EQ(runs_in("{\"ttft\":0.5}"), one);
}

TEST(Runs, LeaveOtherLinesForTheLog) {
  auto const output =
      parse_output("loading\n{\"ttft\":1}\n[1, 2]\n12.5\n\"{}\"\n", wanted_of_serving());
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->runs.size(), 1U);
  EXPECT_EQ(output->log, "loading\n[1, 2]\n12.5\n\"{}\"\n");
}

TEST(Runs, MayBeOneObjectOverSeveralLines) {
  std::vector<command::Run> const one{{{"tokens_per_s", 3}, {"ttft", 4}}};
  EXPECT_EQ(runs_in("{\n  \"tokens_per_s\": 3,\n  \"ttft\": 4\n}\n"), one);
}

TEST(BencherRuns, HaveTheValuesOfDeclaredMeasures) {
  auto const* const text =
      R"({"decode": {"ttft": {"value": 2.5, "lower_value": 2, "upper_value": 3},
    "tokens_per_s": {"value": 7}, "power": {"value": 300}}})";
  std::vector<command::Run> const one{{{"ttft", 2.5}, {"tokens_per_s", 7}}};
  EXPECT_EQ(runs_in(text), one);
}

TEST(BencherRuns, AreThoseOfTheModelAmongSeveralBenchmarks) {
  auto const* const text = R"({"bert": {"ttft": {"value": 1}}, "llama": {"ttft": {"value": 2}}})";
  std::vector<command::Run> const one{{{"ttft", 2}}};
  EXPECT_EQ(runs_in(text), one);
}

TEST(BencherRuns, AreThoseOfTheBenchmarkAmongSeveral) {
  auto const* const text =
      R"({"a": {"ttft": {"value": 1}}, "test_run[llama-cpu-serving]": {"ttft": {"value": 3}}})";
  std::vector<command::Run> const one{{{"ttft", 3}}};
  EXPECT_EQ(runs_in(text), one);
}

TEST(BencherRuns, OfSeveralOtherBenchmarksAreAnError) {
  EXPECT_EQ(error_of(R"({"a": {"ttft": {"value": 1}}, "b": {"ttft": {"value": 2}}})"),
            "line 1: found 2 benchmarks in Bencher's format; allowed is one, or one with the name "
            "\"llama\"");
}

TEST(BencherRuns, NeedAValueThatIsANumber) {
  EXPECT_THAT(error_of(R"({"a": {"ttft": {"lower_value": 1}}})"), HasSubstr("ttft has no value"));
  EXPECT_THAT(error_of(R"({"a": {"ttft": 4}})"), HasSubstr("ttft has no value"));
  EXPECT_THAT(error_of(R"({"a": {"ttft": {"value": "4"}}})"), HasSubstr("of type string"));
}

/// An odd output, and a part of the message.
struct Odd {
  std::string text;
  std::string message;
};

void PrintTo(Odd const& odd, std::ostream* stream) {
  *stream << odd.text.substr(0, 80);
}

class OddOutput : public testing::TestWithParam<Odd> {};

TEST_P(OddOutput, IsOneClearError) {
  EXPECT_THAT(error_of("fine\n" + GetParam().text + "\n"),
              AllOf(HasSubstr("line 2: "), HasSubstr(GetParam().message)));
}

std::vector<Odd> const odd_outputs{
    {"{", "is not JSON"},
    {"{}}", "is not JSON"},
    {"{\"ttft\": }", "is not JSON"},
    {"{\"ttft\": 1", "is not JSON"},
    {"{\"ttft\": 1,}", "is not JSON"},
    {"{'ttft': 1}", "is not JSON"},
    {"{ttft: 1}", "is not JSON"},
    {"{\"ttft\": 1} {\"ttft\": 2}", "is not JSON"},
    {"{\"ttft\": 1} done", "is not JSON"},
    {"{\"ttft\": 01}", "is not JSON"},
    {"{\"ttft\": +1}", "is not JSON"},
    {"{\"ttft\": .5}", "is not JSON"},
    {"{\"ttft\": 0x10}", "is not JSON"},
    {"{\"ttft\": 1,5}", "is not JSON"},
    {"{\"ttft\": 1e999}", "is not JSON"},
    {"{\"ttft\": NaN}", "JSON has no NaN and no Infinity"},
    {"{\"ttft\": Infinity}", "JSON has no NaN and no Infinity"},
    {"{\"ttft\": -Infinity}", "JSON has no NaN and no Infinity"},
    {"{\"\xff\": 1}", "is not JSON"},
    {std::string("{\"ttft\": 1\0}", 12), "is not JSON"},
    {"{\"ttft\": \"1\"}", "metric ttft is \"1\", of type string; allowed is a number"},
    {"{\"ttft\": \"NaN\"}", "of type string"},
    {"{\"ttft\": true}", "of type boolean"},
    {"{\"ttft\": null}", "of type null"},
    {"{\"ttft\": [1]}", "of type array"},
    {"{\"ttft\": 1, \"tokens_per_s\": {}}", "of type object"},
    {"{\"ttft\": -1}", "metric ttft is -1; allowed is more than 0"},
    {"{\"ttft\": 0}", "metric ttft is 0; allowed is more than 0"},
    {"{\"ttft\": -0.0}", "metric ttft is -0.0; allowed is more than 0"},
    {"{\"ttft\": 1e-999}", "metric ttft is 0.0; allowed is more than 0"},
    {"{\"TTFT\": 1}", "\"TTFT\" is not declared; declared are tokens_per_s, ttft"},
    {"{\"\": 1}", "metric \"\" is not declared"},
    {"{\"level\": \"info\"}", "Print other output to standard error"},
    {"{\"ttft\":" + std::string(2000, '[') + "1" + std::string(2000, ']') + "}", "nested deeper"},
    {"{\"a\":" + std::string(100000, '{'), "is not JSON"},
    {"{\"" + std::string(100000, 'x') + "\": 1}", "x...\" is not declared"},
};

INSTANTIATE_TEST_SUITE_P(Command, OddOutput, testing::ValuesIn(odd_outputs));

TEST(Runs, OfAnEmptyOutputAreNone) {
  for (auto const* const text : {"", "\n", "\n\n \n", "done", "}", "[{\"ttft\": 1}]"})
    EXPECT_THAT(runs_in(text), IsEmpty()) << text;
}

TEST(Runs, MayBeNegativeForLeak) {
  Wanted wanted;
  wanted.allowed = {"leak"};
  auto const run = parse_line("{\"leak\": -8}", wanted);
  ASSERT_TRUE(run.has_value() && *run);
  EXPECT_EQ((*run)->at("leak"), -8);
}

TEST(Runs, MayBeZeroForExactMetrics) {
  Wanted wanted;
  wanted.allowed = wanted.exact = {"graph_breaks"};
  EXPECT_TRUE(parse_line("{\"graph_breaks\": 0}", wanted).has_value());
  EXPECT_FALSE(parse_line("{\"graph_breaks\": -1}", wanted).has_value());
}

TEST(Runs, AreMissingAMetricThatNoRunHas) {
  auto const wanted = wanted_of_serving();
  EXPECT_TRUE(check_complete({{{"ttft", 1}}, {{"tokens_per_s", 1}}}, wanted).has_value());
  EXPECT_EQ(check_complete({{{"tokens_per_s", 1}}}, wanted).error().message,
            "metric ttft is missing");
  EXPECT_FALSE(check_complete({}, wanted).has_value());
}

TEST(Runs, OfRandomBytesAreReadOrRejected) {
  std::string const alphabet = "{}[]\":,.0123456789eE+-truefalsn ttft\\u\n\x80\xff";
  std::mt19937 random{7};
  for (int i = 0; i < 20000; ++i) {
    std::string text = "{\"ttft\":";
    for (auto length = random() % 12; length > 0; --length)
      text += alphabet[random() % alphabet.size()];
    auto const output = parse_output(text + '}', wanted_of_serving());
    if (!output) {
      EXPECT_FALSE(output.error().message.empty()) << text;
      continue;
    }
    for (auto const& run : output->runs)
      for (auto const& [metric, value] : run)
        EXPECT_TRUE(metric == "ttft" && value > 0) << text;
  }
}

}  // namespace
}  // namespace torchwatch::command
