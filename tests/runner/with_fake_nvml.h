#pragma once

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "runner/nvml.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::tests {

/// A host with GPUs that a test defines, see fake_nvml.cpp.
class WithFakeNvml : public testing::Test {
 protected:
  void say(std::string const& script) { std::ofstream{file_} << script; }

  static runner::Nvml load() { return runner::Nvml::load(FAKE_NVML).value(); }

 private:
  TemporaryFolder const folder_;
  std::string const file_ = (folder_.path() / "nvml.json").string();
  TemporaryVariable const variable_{"TORCHWATCH_FAKE_NVML", file_};
};

}  // namespace torchwatch::tests
