#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "config/load.h"

namespace torchwatch::config {
namespace {

std::string const directory = CONFIG_DIRECTORY;

std::string read(std::string const& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

TEST(Schema, IsTheOneThatIsCheckedIn) {
  EXPECT_EQ(read(directory + "/torchwatch.schema.json"), schema().dump(2) + "\n")
      << "write it anew: torchwatch config schema > config/torchwatch.schema.json";
}

TEST(Schema, DescribesEveryFieldThatShowPrints) {
  auto const properties = schema().at("properties");
  auto const shown = show(Options{});
  for (auto const& [section, fields] : shown.items()) {
    ASSERT_TRUE(properties.contains(section)) << section;
    if (!fields.is_object()) continue;
    for (auto const& [key, value] : fields.items())
      EXPECT_TRUE(properties.at(section).at("properties").contains(key)) << section << "." << key;
  }
}

TEST(Schema, RefusesUnknownKeysAsTheLoaderDoes) {
  EXPECT_EQ(schema().at("additionalProperties"), false);
  EXPECT_EQ(schema().at("properties").at("http").at("additionalProperties"), false);
}

TEST(Example, Loads) {
  auto const options = load(directory + "/example.json");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->fleets.size(), 2U);
}

TEST(Show, IsAConfigurationThatLoadsTheSame) {
  auto const options = load(directory + "/example.json");
  ASSERT_TRUE(options) << options.error().message;
  auto const file = testing::TempDir() + "/shown.json";
  std::ofstream{file} << show(*options).dump(2);
  auto const again = load(file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(show(*again), show(*options));
}

}  // namespace
}  // namespace torchwatch::config
