#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

namespace fs = std::filesystem;

std::map<std::string, Target> const& targets() {
  static std::map<std::string, Target> const all{{"comment", comment},
                                                 {"commit_message", commit_message},
                                                 {"comparison", comparison},
                                                 {"configuration", configuration},
                                                 {"description", description},
                                                 {"fetch_line", fetch_line},
                                                 {"github_answer", github_answer},
                                                 {"http_request", http_request},
                                                 {"index_page", index_page},
                                                 {"manifest", manifest},
                                                 {"markdown", markdown},
                                                 {"package", package},
                                                 {"printable_text", printable_text},
                                                 {"runner_line", runner_line},
                                                 {"search", search},
                                                 {"time_text", time_text},
                                                 {"unpack", unpack},
                                                 {"url", url},
                                                 {"version", version},
                                                 {"wheel", wheel},
                                                 {"worker_line", worker_line}};
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (auto const& [name, target] : targets())
    all.push_back(name);
  return all;
}

std::vector<fs::path> inputs_of(std::string const& target) {
  std::vector<fs::path> files{fs::directory_iterator{fs::path{FUZZ_CORPUS} / target}, {}};
  std::ranges::sort(files);
  return files;
}

class FuzzCorpus : public testing::TestWithParam<std::string> {};

TEST_P(FuzzCorpus, KeepsEveryProperty) {
  auto const files = inputs_of(GetParam());
  ASSERT_FALSE(files.empty());
  for (auto const& file : files) {
    SCOPED_TRACE(file.filename());
    EXPECT_NO_THROW(targets().at(GetParam())(tests::text_of(file)));
  }
}

TEST_P(FuzzCorpus, AcceptsEmptyInput) {
  EXPECT_NO_THROW(targets().at(GetParam())(""));
}

INSTANTIATE_TEST_SUITE_P(Fuzz, FuzzCorpus, testing::ValuesIn(names()), [](auto const& target) {
  return target.param;
});

TEST(FuzzCorpus, HasNoFolderWithoutTarget) {
  for (auto const& folder : fs::directory_iterator{FUZZ_CORPUS})
    EXPECT_TRUE(targets().contains(folder.path().filename())) << folder.path();
}

TEST(FuzzProperty, ThrowsWhenItDoesNotHold) {
  EXPECT_NO_THROW(require(true, "one is one"));
  EXPECT_THROW(require(false, "one is two"), Broken);
}

}  // namespace
}  // namespace torchwatch::fuzz
