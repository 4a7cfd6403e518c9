#include "daemon/service/programs.h"

#include <filesystem>

namespace torchwatch::service {

std::string fetch_program(std::string const& executable) {
  return std::filesystem::path{executable}.replace_filename("torchwatch-fetch");
}

std::string worker_program(std::string const& executable) {
  auto const prefix = std::filesystem::path{executable}.parent_path().parent_path();
  return prefix / "share/torchwatch/worker/deploy/build-worker";
}

}  // namespace torchwatch::service
