#include "config/needs.h"

#include <gtest/gtest.h>

namespace torchwatch::config {
namespace {

SuiteOptions suite_named(std::string const& name, BuildNeeds needs) {
  SuiteOptions suite;
  suite.name = name;
  suite.needs = needs;
  return suite;
}

TEST(Needs, OfADefaultConfigurationAreACompiledWorker) {
  Options const options;
  EXPECT_FALSE(needs_python(options));
  EXPECT_TRUE(needs_compiled_worker(options));
}

TEST(Needs, OfAFurtherSuiteAddToThoseOfTheFirst) {
  Options options;
  options.suites = {suite_named("inductor", BuildNeeds::python)};
  EXPECT_TRUE(needs_python(options));
  EXPECT_TRUE(needs_compiled_worker(options));
}

TEST(Needs, AreThoseOfSuitesThatAFleetRuns) {
  Options options;
  options.suites = {suite_named("inductor", BuildNeeds::python)};
  options.fleets[0].suites = {"inductor"};
  EXPECT_TRUE(needs_python(options));
  EXPECT_FALSE(needs_compiled_worker(options));
  options.fleets[0].suites = {"native"};
  EXPECT_FALSE(needs_python(options));
  EXPECT_TRUE(needs_compiled_worker(options));
  options.fleets.push_back({});
  EXPECT_TRUE(needs_python(options)) << "a fleet that names no suite runs all";
}

TEST(Needs, OfANativeSuiteForPythonAreNoWorker) {
  Options options;
  options.suite = suite_named("native", BuildNeeds::python);
  EXPECT_TRUE(needs_python(options));
  EXPECT_FALSE(needs_compiled_worker(options));
}

TEST(Needs, OfSuitesWithTheirOwnProgramsAreNoWorker) {
  Options options;
  options.fleets[0].suites = {"mine", "served"};
  auto mine = suite_named("mine", BuildNeeds::libtorch);
  mine.command = {"bench"};
  auto served = suite_named("served", BuildNeeds::libtorch);
  served.worker = "/opt/worker";
  options.suites = {mine, served};
  EXPECT_FALSE(needs_compiled_worker(options));
}

}  // namespace
}  // namespace torchwatch::config
