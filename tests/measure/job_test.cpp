#include "daemon/measure/job.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>

#include "runner/catalogue/catalogue.h"
#include "tests/temporary_folder.h"

namespace torchwatch::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> names_of(config::SuiteOptions const& suite) {
  std::vector<std::string> names;
  for (auto const& benchmark : benchmarks_of(suite, Device::cpu))
    names.push_back(name_of(benchmark));
  return names;
}

TEST(Benchmarks, AreAllTestsThatTheSuiteHas) {
  auto const names = names_of({});

  std::size_t tests = 0;
  for (auto const& entry : suite::catalogue())
    tests += std::size_t{entry.full.train > 0} + std::size_t{entry.full.eval > 0};
  EXPECT_EQ(suite::catalogue().size(), 84U);
  EXPECT_EQ(names.size(), tests);
  EXPECT_THAT(names, Contains("test_eval[pyhpc_equation_of_state-cpu-eager]"));
  EXPECT_THAT(names, Not(Contains("test_train[pyhpc_equation_of_state-cpu-eager]")));
}

TEST(Benchmarks, AreOfTheNamedModelsAndTests) {
  config::SuiteOptions suite;
  suite.models = {"resnet50", "dlrm"};
  suite.tests = {torchwatch::Test::eval};

  EXPECT_THAT(names_of(suite),
              ElementsAre("test_eval[resnet50-cpu-eager]", "test_eval[dlrm-cpu-eager]"));
}

TEST(Benchmarks, OfUnknownModelsAreForTheWorkerToRefuse) {
  config::SuiteOptions suite;
  suite.models = {"tomorrow"};

  EXPECT_THAT(names_of(suite),
              ElementsAre("test_train[tomorrow-cpu-eager]", "test_eval[tomorrow-cpu-eager]"));
}

TEST(Benchmarks, OfOtherBackendsAreFilesWithBothTests) {
  config::SuiteOptions suite;
  suite.models = {"squeezenet1_1"};
  suite.backend = "script";

  EXPECT_THAT(
      names_of(suite),
      ElementsAre("test_train[squeezenet1_1-cpu-script]", "test_eval[squeezenet1_1-cpu-script]"));
}

TEST(JobFor, HasTheUsualWorkerWhereTheBuildsOwnLeadsNowhere) {
  tests::TemporaryFolder const folder;
  Build build;
  build.prefix = folder.path().string();
  std::filesystem::create_directories(folder.path() / "bin");
  std::filesystem::create_symlink("torchwatch-worker", folder.path() / "bin/torchwatch-worker");
  config::MeasureOptions options;
  options.worker = "/usr/lib/torchwatch/worker";

  EXPECT_EQ(job_for(options, {}, {"dlrm", torchwatch::Test::eval, Device::cpu, "eager"}, build)
                .build.worker,
            options.worker);
}

}  // namespace
}  // namespace torchwatch::measure
