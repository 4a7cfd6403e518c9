#include "bisect/search/priors.h"

#include <string>

#include "git_repository.h"
#include <gmock/gmock.h>

#include "bisect/git/history.h"

namespace torchwatch::bisect {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr double little = 0.05;

std::vector<Series> series_on(std::vector<Device> const& devices) {
  std::vector<Series> series;
  for (auto const device : devices)
    series.push_back({"fleet", {"dlrm", Test::eval, device, "eager"}, Metric::latency});
  return series;
}

/// Prior weights of commits that touched one file each.
std::vector<double> weights_of(std::vector<std::string> const& paths,
                               std::vector<Device> const& devices = {Device::cpu}) {
  std::vector<CommitChanges> changes;
  for (auto const& path : paths)
    changes.push_back({{path}, {}});
  return prior_by_paths(changes, series_on(devices));
}

TEST(Prior, IsSmallOnEveryDeviceForFilesThatRarelyAffectABenchmark) {
  std::vector<std::string> const paths{"README.md",
                                       "aten/src/README.md",
                                       "docs/source/notes/cuda.rst",
                                       "docs/cpp/source/conf.py",
                                       "test/cpp/api/nn.cpp",
                                       "test/test_cuda.py",
                                       "aten/src/ATen/test/basic.cpp",
                                       "c10/test/util/half_test.cpp",
                                       ".github/workflows/pull.yml",
                                       ".ci/pytorch/build.sh",
                                       ".lintrunner.toml",
                                       "benchmarks/dynamo/common.py",
                                       "scripts/release/apply-release-changes.sh",
                                       "tools/stats/upload_metrics.py",
                                       "torch/nn/modules/conv.py",
                                       "torch/cuda/__init__.py",
                                       "torch/_C/__init__.pyi.in",
                                       "android/build.gradle",
                                       "ios/TestApp/README.md",
                                       "c10/macros/build.bzl",
                                       "aten/src/ATen/native/mps/operations/Linear.mm",
                                       "aten/src/ATen/native/mkldnn/xpu/Conv.cpp",
                                       "third_party/xpu.txt",
                                       "aten/src/ATen/native/vulkan/ops/Convolution.cpp"};
  EXPECT_THAT(weights_of(paths, {Device::cpu}), Each(little));
  EXPECT_THAT(weights_of(paths, {Device::cuda}), Each(little));
}

TEST(Prior, IsOneOnEveryDeviceForTheSourcesOfLibTorch) {
  std::vector<std::string> const paths{"aten/src/ATen/native/Convolution.cpp",
                                       "aten/src/ATen/native/native_functions.yaml",
                                       "c10/core/TensorImpl.h",
                                       "torch/csrc/autograd/engine.cpp",
                                       "torch/csrc/api/include/torch/nn/modules/conv.h",
                                       "torch/headeronly/util/Half.h",
                                       "torchgen/gen.py",
                                       "tools/autograd/derivatives.yaml",
                                       "tools/setup_helpers/cmake.py",
                                       "build_variables.bzl",
                                       "cmake/Dependencies.cmake",
                                       "CMakeLists.txt",
                                       "caffe2/CMakeLists.txt",
                                       "third_party/mkl-dnn.BUILD",
                                       "setup.py",
                                       "version.txt"};
  EXPECT_THAT(weights_of(paths, {Device::cpu}), Each(1));
  EXPECT_THAT(weights_of(paths, {Device::cuda}), Each(1));
}

TEST(Prior, KernelsOfAnotherDeviceWeighLittle) {
  std::vector<std::string> const paths{"aten/src/ATen/native/cuda/Loss.cu",
                                       "aten/src/ATen/native/transformers/cuda/attention.cu",
                                       "aten/src/ATen/native/cudnn/ConvShared.cpp",
                                       "aten/src/ATen/cuda/CUDABlas.cpp",
                                       "aten/src/THC/THCBlas.h",
                                       "c10/cuda/CUDACachingAllocator.cpp",
                                       "torch/csrc/cuda/Module.cpp",
                                       "cmake/public/cuda.cmake"};
  EXPECT_THAT(weights_of(paths, {Device::cpu}), Each(little));
  EXPECT_THAT(weights_of(paths, {Device::cuda}), Each(1));
  EXPECT_THAT(weights_of({"c10/hip/HIPStream.h"}, {Device::cpu}), Each(little));
  EXPECT_THAT(weights_of({"c10/hip/HIPStream.h"}, {Device::cuda}),
              Each(testing::AllOf(testing::Gt(little), testing::Lt(1))));
}

TEST(Prior, OfSeveralDevicesTheHeaviestCounts) {
  std::vector<std::string> const paths{"c10/cuda/CUDAStream.cpp", "README.md"};
  EXPECT_THAT(weights_of(paths, {Device::cpu, Device::cuda}), ElementsAre(1, little));
}

TEST(Prior, IsBetweenForFilesThatAreNotInTheTable) {
  EXPECT_THAT(weights_of({"a_new_folder/kernel.cpp", "caffe2/core/common.cc", "pyproject.toml"}),
              Each(testing::AllOf(testing::Gt(little), testing::Lt(1))));
}

TEST(Prior, ACommitWeighsWhatItsHeaviestFileDoes) {
  CommitChanges const nothing;
  std::vector<CommitChanges> const changes{
      {{"README.md", "aten/src/ATen/native/Loss.cpp", "test/test_nn.py"}, {}},
      {{"README.md", "test/test_nn.py"}, {}},
      nothing};
  EXPECT_THAT(prior_by_paths(changes, series_on({Device::cpu})), ElementsAre(1, little, little));
}

TEST(Prior, SubmodulesWeighAsTheirPaths) {
  std::vector<CommitChanges> const changes{{{}, {{"third_party/ideep", "a", "b"}}},
                                           {{}, {{"third_party/cutlass", "a", "b"}}},
                                           {{"README.md"}, {{"third_party/eigen", "", "b"}}}};
  EXPECT_THAT(prior_by_paths(changes, series_on({Device::cpu})), ElementsAre(1, little, 1));
  EXPECT_THAT(prior_by_paths(changes, series_on({Device::cuda})), ElementsAre(1, 1, 1));
}

TEST(Prior, UsesTheChangesFromGit) {
  GitRepository repository;
  repository.write("aten/src/ATen/add.cpp", "1");
  auto const kernel = repository.commit("Add add");
  repository.write("docs/add.rst", "add");
  auto const documented = repository.commit("Document add");
  std::filesystem::rename(repository.path() / "aten/src/ATen/add.cpp",
                          repository.path() / "docs/add.cpp");
  auto const moved = repository.commit("Keep add as an example");
  auto const empty = repository.commit("Nothing");
  auto const history = GitHistory::open(repository.path()).value();
  std::vector<CommitChanges> changes;
  for (auto const& sha : {kernel, documented, moved, empty})
    changes.push_back(history.changes_of(sha).value());
  EXPECT_THAT(prior_by_paths(changes, series_on({Device::cpu})), ElementsAre(1, little, 1, little));
}

}  // namespace
}  // namespace torchwatch::bisect
