#include "storage/domain/benchmark.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace torchwatch {
namespace {

using testing::ElementsAre;

TEST(TestWord, IsAnyWordOfLowerCaseLettersDigitsAndUnderscores) {
  for (std::string const word : {"run", "serve_8", "x", "a234567890123456789012345678901"})
    EXPECT_EQ(to_string(parse_test(word).value()), word);
}

TEST(TestWord, IsRejectedWhenItIsEmptyTooLongOrHasOtherCharacters) {
  for (auto const* const word :
       {"", "Run", "a-b", "a[b", "a b", "12345678901234567890123456789012"})
    EXPECT_FALSE(parse_test(word)) << word;
}

TEST(TestWord, OrderIsTrainThenEvalThenByName) {
  auto const run = parse_test("run").value();
  auto const compile = parse_test("compile").value();
  std::vector<torchwatch::Test> tests{
      run, torchwatch::Test::eval, compile, torchwatch::Test::train};
  std::ranges::sort(tests);
  EXPECT_THAT(tests, ElementsAre(torchwatch::Test::train, torchwatch::Test::eval, compile, run));
  EXPECT_EQ(parse_test("train"), torchwatch::Test::train);
}

TEST(BenchmarkName, KeepsTheTestOfASuite) {
  std::string const name = "test_serve[llama-cuda-vllm]";
  auto const benchmark = parse_benchmark(name);
  ASSERT_TRUE(benchmark);
  EXPECT_EQ(to_string(benchmark->test), "serve");
  EXPECT_EQ(benchmark->backend, "vllm");
  EXPECT_EQ(name_of(*benchmark), name);
}

TEST(BenchmarkName, IsRejectedWithoutATest) {
  EXPECT_FALSE(parse_benchmark("test_[llama-cuda-vllm]"));
  EXPECT_FALSE(parse_benchmark("test_Serve[llama-cuda-vllm]"));
}

}  // namespace
}  // namespace torchwatch
