#include "daemon/builds/logs.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>

#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

class LogsTest : public testing::Test {
 protected:
  void write(std::string const& name, std::chrono::hours ago, std::size_t bytes = 10) {
    auto const file = folder_.path() / name;
    std::ofstream{file} << std::string(bytes, 'x');
    fs::last_write_time(file, fs::file_time_type::clock::now() - ago);
  }

  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator{folder_.path()})
      names.push_back(entry.path().filename().string());
    return names;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(LogsTest, AreDeletedWhenTheyAreOld) {
  write("new.log", std::chrono::hours{1});
  write("old.log", std::chrono::hours{25});
  prune_logs(folder_.path(), std::chrono::days{1}, 1000);
  EXPECT_THAT(left(), UnorderedElementsAre("new.log"));
}

TEST_F(LogsTest, AreDeletedOldestFirstWhereTheyAreTooMany) {
  write("newest.log", std::chrono::hours{2}, 60);
  write("middle.log", std::chrono::hours{3}, 40);
  write("oldest.log", std::chrono::hours{4}, 1);
  prune_logs(folder_.path(), std::chrono::days{1}, 100);
  EXPECT_THAT(left(), UnorderedElementsAre("newest.log", "middle.log"));
  write("being-written.log", std::chrono::hours{0}, 1000);
  prune_logs(folder_.path(), std::chrono::days{1}, 100);
  EXPECT_THAT(left(), UnorderedElementsAre("being-written.log"));
}

TEST_F(LogsTest, NeedNotBeThere) {
  prune_logs(folder_.path() / "none", std::chrono::days{1}, 100);
  EXPECT_THAT(left(), testing::IsEmpty());
}

}  // namespace
}  // namespace torchwatch::builds
