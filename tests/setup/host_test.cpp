#include "daemon/setup/host.h"

#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::setup {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// One thread of a core, as the kernel describes it.
std::string processor(int number, int socket, int core) {
  return "processor\t: " + std::to_string(number) + "\nmodel name\t: Some(R) CPU @ 2.80GHz\n" +
         "physical id\t: " + std::to_string(socket) +
         "\nsiblings\t: 4\ncore id\t\t: " + std::to_string(core) + "\n\n";
}

/// A host made of files, with two sockets of two cores with two threads each.
class HostTest : public testing::Test {
 protected:
  HostTest() {
    std::string all;
    for (int number = 0; number < 8; ++number)
      all += processor(number, number / 2 % 2, number % 2);
    put("proc/cpuinfo", all);
    put("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    put("proc/meminfo", "MemTotal:       16384000 kB\nMemFree:        1 kB\n");
    put("proc/sys/kernel/hostname", "node7\n");
    put("sys/devices/system/node/online", "0-1\n");
    put("dev/null", "");
  }

  void put(std::string const& name, std::string const& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream{folder_ / name} << text;
  }

  void program(std::string const& name, std::string const& script) const {
    put("bin/" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }

  Host look() {
    HostSources sources;
    sources.root = folder_.path();
    sources.path = "/nowhere:" + (folder_ / "bin").string();
    return tests::run(loop_, inspect_host(loop_.get_executor(), std::move(sources)));
  }

  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
};

TEST_F(HostTest, IsCounted) {
  auto const host = look();

  EXPECT_EQ(host.name, "node7");
  EXPECT_EQ(host.processors, 8);
  EXPECT_EQ(host.cores, 4);
  EXPECT_EQ(host.sockets, 2);
  EXPECT_EQ(host.numa_nodes, 2);
  EXPECT_EQ(host.memory_mib, 16'000);
  EXPECT_THAT(host.gpus, IsEmpty());
  EXPECT_FALSE(host.has_slurm);
  EXPECT_FALSE(host.has_docker);
}

TEST_F(HostTest, HasTheProcessorsThatWeMayRunOn) {
  put("proc/self/status", "Cpus_allowed_list:\t0,4\n");
  auto const host = look();

  EXPECT_EQ(host.processors, 2);
  EXPECT_EQ(host.cores, 1);
  EXPECT_EQ(host.sockets, 1);
}

TEST_F(HostTest, IsAsLargeAsItsShareOfTime) {
  put("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(look().processors, 2);
  EXPECT_EQ(look().cores, 2);
  put("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(look().processors, 8);
}

TEST_F(HostTest, CountsACorePerProcessorWhenTheKernelListsNone) {
  put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\nBogoMIPS\t: 50.00\n\n");
  auto const host = look();

  EXPECT_EQ(host.processors, 2);
  EXPECT_EQ(host.cores, 2);
  EXPECT_EQ(host.sockets, 1);
}

TEST_F(HostTest, WithoutAnyInformationIsTheSmallest) {
  fs::remove_all(folder_ / "proc");
  fs::remove_all(folder_ / "sys");
  auto const host = look();

  EXPECT_EQ(host.processors, 1);
  EXPECT_EQ(host.cores, 1);
  EXPECT_EQ(host.numa_nodes, 1);
  EXPECT_EQ(host.memory_mib, 0);
}

TEST_F(HostTest, AsksNvidiaSmiForGpusAndTheDriversCuda) {
  program("nvidia-smi", R"(case "$*" in
  *--query-gpu=name*) echo 'NVIDIA H200'; echo 'NVIDIA H200' ;;
  *) echo '| NVIDIA-SMI 580.65.06      Driver Version: 580.65.06      CUDA Version: 13.0     |' ;;
esac)");
  auto const host = look();

  EXPECT_THAT(host.gpus, ElementsAre("NVIDIA H200", "NVIDIA H200"));
  EXPECT_EQ(host.cuda, "13.0");
}

TEST_F(HostTest, FindsGpusByTheDriversFiles) {
  program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9");
  put("proc/driver/nvidia/gpus/0000:41:00.0/information",
      "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 123\n");
  EXPECT_THAT(look().gpus, ElementsAre("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(look().cuda, "");
}

TEST_F(HostTest, FindsGpusByTheirDevices) {
  for (auto const* const device : {"dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm"})
    put(device, "");
  EXPECT_THAT(look().gpus, ElementsAre("GPU"));
}

TEST_F(HostTest, HasACudaToolkitWhereItsHeadersAre) {
  put("usr/local/cuda-13.0/bin/nvcc", "");
  EXPECT_FALSE(look().has_cuda_toolkit);
  put("usr/local/cuda-13.0/include/crt/host_defines.h", "");
  EXPECT_TRUE(look().has_cuda_toolkit);
}

TEST_F(HostTest, HasDebiansCudaToolkit) {
  put("usr/include/crt/host_defines.h", "");
  EXPECT_TRUE(look().has_cuda_toolkit);
}

TEST_F(HostTest, HasSlurmWhereBothOfItsProgramsAre) {
  program("sinfo", "");
  EXPECT_FALSE(look().has_slurm);
  program("srun", "");
  EXPECT_TRUE(look().has_slurm);
}

TEST_F(HostTest, HasDockerWhereItCanBeStarted) {
  put("bin/docker", "no program");
  EXPECT_FALSE(look().has_docker);
  program("docker", "");
  EXPECT_TRUE(look().has_docker);
}

}  // namespace
}  // namespace torchwatch::setup
