#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/builds/workers.h"

namespace torchwatch::fakes {

/// Workers that are only recorded, not compiled.
class FakeWorkers final : public builds::Workers {
 public:
  boost::asio::awaitable<Result<>> make(std::filesystem::path prefix) override {
    auto const trouble = troubles.find(prefix.parent_path().filename());
    if (trouble != troubles.end()) co_return trouble->second;
    made.insert(prefix);
    co_return Result<>{};
  }

  boost::asio::awaitable<Result<>> renew(std::filesystem::path prefix) override {
    renewed.push_back(prefix);
    if (renewal_trouble) co_return *renewal_trouble;
    co_return Result<>{};
  }

  boost::asio::awaitable<Result<>> compile_bytecode(std::filesystem::path directory) override {
    compiled.push_back(directory.filename().string());
    if (bytecode_trouble) co_return *bytecode_trouble;
    co_return Result<>{};
  }

  /// Errors of `make`, by the name of a nightly's directory: "nightly-2".
  std::map<std::string, Error> troubles;
  std::set<std::string> made;
  std::vector<std::string> renewed;       ///< prefixes, in order
  std::optional<Error> renewal_trouble;   ///< error of each `renew`
  std::vector<std::string> compiled;      ///< names of directories with bytecode, in order
  std::optional<Error> bytecode_trouble;  ///< error of each `compile_bytecode`
};

}  // namespace torchwatch::fakes
