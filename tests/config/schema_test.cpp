#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/load.h"
#include "tests/config/schema_check.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

std::string const directory = CONFIG_DIRECTORY;

std::string read(std::string const& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// The example with a directory of nightlies that exists on this machine.
std::string example() {
  std::string const nightlies = "/srv/pytorch-nightlies";
  auto text = read(directory + "/example.json");
  return text.replace(text.find(nightlies), nightlies.size(), directory);
}

SchemaJson parsed(std::string const& text) {
  return SchemaJson::parse(text, nullptr, true, true);
}

bool is_map(SchemaJson const& schema) {
  return schema.contains("propertyNames");
}

/// Calls `visit(path, schema)` for each field of the schema, also for entries of lists and maps.
template <class Visit>
void each_field(std::string const& path, SchemaJson const& schema, Visit&& visit) {
  visit(path, schema);
  if (schema.contains("items")) each_field(path + "[]", schema.at("items"), visit);
  if (is_map(schema)) each_field(path + "[]", schema.at("additionalProperties"), visit);
  if (!schema.contains("properties")) return;
  auto const inside = path + ".";
  for (auto const& [key, property] : schema.at("properties").items())
    each_field(inside + key, property, visit);
}

class ConfigurationFile : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }

  Result<Options> load_text(std::string const& text) const {
    std::ofstream{file_} << text;
    return load(file_);
  }

 private:
  fs::path file_ =
      fs::temp_directory_path() / ("torchwatch-schema-" + std::to_string(::getpid()) + ".json");
};

TEST(Schema, EqualsTheCommittedFile) {
  EXPECT_EQ(read(directory + "/torchwatch.schema.json"), schema().dump(2) + "\n")
      << "write it again: torchwatch config schema > config/torchwatch.schema.json";
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

TEST(Schema, BoundsEveryNumber) {
  int numbers = 0;
  each_field("", schema(), [&](std::string const& path, SchemaJson const& field) {
    auto const type = field.value("type", "");
    if (type != "integer" && type != "number") return;
    ++numbers;
    EXPECT_LT(field.at("minimum"), field.at("maximum")) << path;
  });
  EXPECT_GT(numbers, 20);
}

TEST(Schema, HasDefaultsThatObeyIt) {
  int defaults = 0;
  each_field("", schema(), [&](std::string const& path, SchemaJson const& field) {
    if (!field.contains("default")) return;
    ++defaults;
    EXPECT_TRUE(obeys(field.at("default"), field)) << path;
  });
  EXPECT_GT(defaults, 30);
}

TEST(Schema, DescribesEveryFieldAndAllowsNoOthers) {
  each_field("", schema(), [](std::string const& path, SchemaJson const& field) {
    auto const explained = path.ends_with("[]") || path.ends_with("$schema") ||
                           !field.value("description", "").empty();
    EXPECT_TRUE(explained) << path;
    if (is_map(field)) return;
    EXPECT_EQ(field.contains("properties"), field.contains("additionalProperties")) << path;
    EXPECT_FALSE(field.value("additionalProperties", false)) << path;
  });
}

TEST(Schema, RequiresWhatHasNoDefault) {
  EXPECT_EQ(schema().at("required"), SchemaJson::parse(R"(["state_dir"])"));
}

TEST_F(ConfigurationFile, IsTheExample) {
  auto const options = load_text(example());
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->fleets.size(), 2U);
  EXPECT_TRUE(obeys(parsed(example()), schema()));
}

TEST_F(ConfigurationFile, IsWhatShowPrints) {
  auto const options = load_text(example());
  ASSERT_TRUE(options) << options.error().message;
  auto const again = load_text(show(*options).dump(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(show(*again), show(*options));
  EXPECT_TRUE(obeys(show(*options), schema()));
}

TEST_F(ConfigurationFile, OfTheSlurmExampleIsValid) {
  auto const text = read(directory + "/../deploy/slurm/torchwatch.json");
  EXPECT_TRUE(obeys(parsed(text), schema()));
  auto const options = load_text(text);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->fleets.back().idle, std::chrono::minutes{5});
}

constexpr auto suite_of_a_command = R"({
  "name": "mine", "command": ["python3", "bench.py", "--model", "{model}"], "models": ["nanogpt"],
  "environment": {"OMP_PROC_BIND": "true"}, "readable": ["data"],
  "caches": ["TORCHINDUCTOR_CACHE_DIR"], "metrics": {"tokens_per_s": {"unit": "1/s", "better": "higher", "threshold": 0.05},
              "kernels": {"unit": "1", "kind": "exact", "floor": 2}, "gmem": {}}})";

TEST_F(ConfigurationFile, WithASuiteIsWhatShowPrints) {
  auto json = parsed(example());
  json["suites"] = SchemaJson::array({parsed(suite_of_a_command)});
  EXPECT_TRUE(obeys(json, schema()));
  auto const options = load_text(json.dump());
  ASSERT_TRUE(options) << options.error().message;
  auto const again = load_text(show(*options).dump(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(show(*again), show(*options));
  EXPECT_TRUE(obeys(show(*options), schema()));
  EXPECT_EQ(show(*options).at("suites").at(0).at("metrics").at("gmem").at("unit"), "bytes");
}

/// A field with a value, which the loader and the schema must both accept or both reject.
struct Setting {
  char const* section;
  char const* field;
  char const* value;
  bool good;
};

std::ostream& operator<<(std::ostream& out, Setting const& setting) {
  return out << setting.section << "." << setting.field << " = " << setting.value;
}

class SchemaAndLoader : public ConfigurationFile, public testing::WithParamInterface<Setting> {};

TEST_P(SchemaAndLoader, Agree) {
  auto const& [section, field, value, good] = GetParam();
  auto json = parsed(example());
  json[section][field] = SchemaJson::parse(value);
  EXPECT_EQ(obeys(json, schema()), good);
  EXPECT_EQ(load_text(json.dump()).has_value(), good);
}

INSTANTIATE_TEST_SUITE_P(Each,
                         SchemaAndLoader,
                         testing::Values(Setting{"feed", "poll_s", "1", true},
                                         Setting{"feed", "poll_s", "0", false},
                                         Setting{"feed", "poll", "60", false},
                                         Setting{"feed", "kind", "\"rsync\"", false},
                                         Setting{"suite", "models", "[\"dlrm\"]", true},
                                         Setting{"suite", "models", "[]", false},
                                         Setting{"suite", "models", "[\"a-b\"]", false},
                                         Setting{"suite", "tests", "[\"eval\", \"eval\"]", false},
                                         Setting{"suite", "tests", "[\"a-b\"]", false},
                                         Setting{"suite", "name", "\"native\"", false},
                                         Setting{"measure", "runs", "2.5", false},
                                         Setting{"decide", "threshold", "0.2", true},
                                         Setting{"decide", "threshold", "\"7%\"", false},
                                         Setting{"bisect", "prior", "\"paths\"", true},
                                         Setting{"bisect", "prior", "\"blame\"", false},
                                         Setting{"github", "repository", "\"\"", true},
                                         Setting{"github", "repository", "\"a/b.c\"", true},
                                         Setting{"github", "repository", "\"a\"", false},
                                         Setting{"github", "api", "\"https://h:8443/api\"", true},
                                         Setting{"github", "api", "\"https://[::1]:1\"", true},
                                         Setting{"github", "api", "\"http://h\"", false},
                                         Setting{"github", "api", "\"\"", false},
                                         Setting{"github", "app", "{}", true},
                                         Setting{"github", "app", "{\"client_id\": \"1\"}", true},
                                         Setting{"github", "app", "{\"client_id\": 1}", false},
                                         Setting{"github", "app", "{\"id\": 1}", false},
                                         Setting{"http", "address", "\"::1\"", true},
                                         Setting{"http", "address", "\"unix:/run/x\"", true},
                                         Setting{"http", "insecure", "true", true},
                                         Setting{"http", "insecure", "1", false},
                                         Setting{"http", "port", "65536", false}));

}  // namespace
}  // namespace torchwatch::config
