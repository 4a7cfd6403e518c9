#include "daemon/setup/first_config.h"

#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "tests/temporary_folder.h"

namespace torchwatch::setup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Host small_host() {
  Host host;
  host.name = "box";
  host.processors = 2;
  host.cores = 2;
  host.memory_mib = 24'000;
  return host;
}

Host host_with_gpu() {
  auto host = small_host();
  host.gpus = {"NVIDIA H200"};
  host.cuda = "13.0";
  return host;
}

FirstConfig for_cuda_13() {
  FirstConfig first;
  first.channel = "cu130";
  return first;
}

Host large_host() {
  Host host;
  host.name = "login1";
  host.processors = 256;
  host.cores = 128;
  host.sockets = 2;
  host.numa_nodes = 2;
  host.memory_mib = 512 * 1024;
  host.has_slurm = true;
  host.has_docker = true;
  return host;
}

/// Text behind "//" is read instead of skipped, if it is more than words.
std::string uncommented(std::string const& text) {
  static std::regex const comment{R"((^|\n) *// (?=["{,]))"};
  return std::regex_replace(text, comment, "$1");
}

/// The lines of a file that stay comments where others are read, as a file of their own.
std::string commented_only(std::string const& text, std::string const& key) {
  static std::regex const prefix{R"(^ *// (?="))"};
  std::string object = R"({ "state_dir": "state")";
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, prefix) || line.find(key) == std::string::npos) continue;
    line = std::regex_replace(line, prefix, "");
    line.pop_back();  // the comma
    object += ", " + line;
  }
  return object + " }";
}

class FirstConfigTest : public testing::Test {
 protected:
  FirstConfigTest() {
    std::filesystem::create_directory(folder_ / "pytorch.git");
    std::ofstream{folder_ / "token"} << "secret";
  }

  config::Options load(std::string const& text) {
    std::ofstream{folder_ / "torchwatch.json"} << text;
    return config::load(folder_ / "torchwatch.json").value();
  }

  config::Options first(Host const& host) { return load(first_config(host, {})); }

  tests::TemporaryFolder folder_;
};

TEST_F(FirstConfigTest, WatchesWhatIsPublishedForTheCpu) {
  auto const options = first(small_host());

  EXPECT_EQ(options.state_dir, (folder_ / "state").string());
  EXPECT_EQ(options.feed.kind, config::FeedKind::wheels);
  EXPECT_EQ(options.feed.channel, "cpu");
  EXPECT_EQ(options.feed.url, config::FeedOptions{}.url);
  ASSERT_EQ(options.fleets.size(), 1U);
  EXPECT_EQ(options.fleets.front().device, Device::cpu);
  EXPECT_EQ(options.fleets.front().slots, 1);
  EXPECT_THAT(options.fleets.front().launcher, ElementsAre());
  EXPECT_EQ(options.source.repository, "");
  EXPECT_EQ(options.github.repository, "");
  EXPECT_EQ(options.http.port, config::HttpOptions{}.port);
}

TEST_F(FirstConfigTest, MeasuresAllModelsAtSizesForANight) {
  auto const options = first(small_host());

  EXPECT_THAT(options.suite.models, ElementsAre(config::all_models));
  EXPECT_EQ(options.suite.scale, config::Scale::smoke);
  std::smatch minutes;
  auto const text = first_config(small_host(), {});
  ASSERT_TRUE(std::regex_search(text, minutes, std::regex{R"(confirm changes: (\d+) minutes)"}));
  EXPECT_LT(std::stoi(minutes[1]), 8 * 60);
}

TEST_F(FirstConfigTest, OfASmallHostTakesOneThreadAndHalfOfItsMemory) {
  auto const options = first(small_host());

  EXPECT_EQ(options.measure.threads, 1);
  EXPECT_EQ(options.measure.memory_mib, 10'800);
}

TEST_F(FirstConfigTest, OfALargeHostTakesMoreThreads) {
  auto const options = first(large_host());

  EXPECT_EQ(options.measure.threads, 4);
  EXPECT_EQ(options.measure.memory_mib, config::MeasureOptions{}.memory_mib);
}

TEST_F(FirstConfigTest, WatchesTheGpuWithTheChannelOfItsDriver) {
  auto host = host_with_gpu();
  host.has_cuda_toolkit = true;
  auto const text = first_config(host, for_cuda_13());
  auto const options = load(text);

  EXPECT_EQ(options.feed.channel, "cu130");
  ASSERT_EQ(options.fleets.size(), 1U);
  EXPECT_EQ(options.fleets.front().device, Device::cuda);
  EXPECT_EQ(options.fleets.front().slots, 1);
  EXPECT_THAT(text, HasSubstr("NVIDIA H200"));
  EXPECT_EQ(load(uncommented(text)).fleets.size(), 2U);
}

TEST_F(FirstConfigTest, WatchesTheCpuNextToAGpuWithoutItsToolkit) {
  auto const text = first_config(host_with_gpu(), for_cuda_13());
  auto const options = load(text);

  EXPECT_EQ(options.feed.channel, "cpu");
  ASSERT_EQ(options.fleets.size(), 1U);
  EXPECT_EQ(options.fleets.front().device, Device::cpu);
  EXPECT_THAT(text, HasSubstr("NVIDIA H200"));
  EXPECT_THAT(text, HasSubstr("headers of a CUDA toolkit"));
}

TEST_F(FirstConfigTest, HasTheGpusLinesReady) {
  auto const text = first_config(host_with_gpu(), for_cuda_13());

  auto const feed = load(commented_only(text, "\"cu130\"")).feed;
  EXPECT_EQ(feed.kind, config::FeedKind::wheels);
  EXPECT_EQ(feed.channel, "cu130");
  std::filesystem::create_directory(folder_ / "nightlies");
  auto fleets = commented_only(text, "\"gpu\"");
  fleets.insert(1, R"("feed": { "path": "nightlies" }, )");
  EXPECT_EQ(load(fleets).fleets.front().device, Device::cuda);
}

TEST_F(FirstConfigTest, SaysWhyNoChannelFitsTheDriver) {
  auto host = host_with_gpu();
  host.cuda = "11.4";
  host.has_cuda_toolkit = true;
  FirstConfig first;
  first.no_channel = "no channel for CUDA 11.4 or older\nhas a nightly";
  auto const text = first_config(host, first);

  EXPECT_EQ(load(text).feed.channel, "cpu");
  EXPECT_THAT(text, HasSubstr("runs CUDA 11.4: no channel for CUDA 11.4 or older has a nightly."));
  EXPECT_THAT(text, Not(HasSubstr("\"cuda\"")));
}

TEST_F(FirstConfigTest, IsValidWithEverythingUncommented) {
  auto const text = first_config(large_host(), {});
  auto const options = load(uncommented(text));

  EXPECT_EQ(options.source.repository, (folder_ / "pytorch.git").string());
  EXPECT_EQ(options.source.remote, "origin");
  EXPECT_EQ(options.github.token_file, (folder_ / "token").string());
  ASSERT_EQ(options.fleets.size(), 3U);
  EXPECT_EQ(options.fleets[1].launcher.front(), "srun");
  EXPECT_EQ(options.fleets[2].launcher.front(), "docker");
}

TEST_F(FirstConfigTest, HasNoLaunchersForWhatIsNotThere) {
  auto const text = first_config(small_host(), {});

  EXPECT_THAT(text, Not(HasSubstr("srun")));
  EXPECT_THAT(text, Not(HasSubstr("docker")));
}

TEST_F(FirstConfigTest, KeepsTheGivenOptions) {
  FirstConfig wishes;
  wishes.state_dir = "/var/lib/torchwatch";
  wishes.url = "http://127.0.0.1:8080";
  auto const options = load(first_config(small_host(), wishes));

  EXPECT_EQ(options.state_dir, wishes.state_dir);
  EXPECT_EQ(options.feed.url, wishes.url);
}

TEST_F(FirstConfigTest, IsNotBrokenByOddNames) {
  auto host = host_with_gpu();
  host.name = "a\nb";
  host.gpus.front() = "\"GPU\"\n\x01 */ }";

  EXPECT_NO_THROW(first(host));
}

TEST(DescriptionOfAHost, IsOneLine) {
  EXPECT_EQ(description_of(small_host()),
            "2 cores, 1 socket, 1 NUMA node, 23 GiB of memory, no GPU");
  EXPECT_EQ(description_of(host_with_gpu()),
            "2 cores, 1 socket, 1 NUMA node, 23 GiB of memory, 1 GPU (NVIDIA H200)");
  EXPECT_EQ(description_of(large_host()),
            "128 cores, 2 sockets, 2 NUMA nodes, 512 GiB of memory, no GPU, Slurm, Docker");
}

}  // namespace
}  // namespace torchwatch::setup
