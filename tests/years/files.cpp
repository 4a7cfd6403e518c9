#include "tests/years/files.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/years/request.h"

namespace torchwatch::years {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Returns the configuration. Its paths are relative, so that the directory can be moved.
Json configuration(std::vector<std::string> const& models, std::vector<std::string> const& fleets) {
  auto of_fleets = Json::array();
  for (auto const& fleet : fleets)
    of_fleets.push_back({{"name", fleet}, {"device", fleet == "gpu" ? "cuda" : "cpu"}});
  return {{"state_dir", "state"},
          // Polls once a day, so that the log has the feed's errors only once a day.
          {"feed",
           {{"kind", "directory"},
            {"path", "feed"},
            {"poll_s", 86400},
            {"overdue_s", 0},
            {"stale_days", 0}}},
          {"source", {{"repository", "repository"}, {"remote", "origin"}}},
          // The files of builds are empty, so removing them frees nothing.
          {"builds", {{"quota_mib", 0}, {"keep_free_mib", 0}}},
          {"fleets", std::move(of_fleets)},
          {"suite", {{"models", models}}},
          {"decide", {{"anchor_nights", 30}}},
          {"http", {{"port", 0}}}};
}

bool is_hole(fs::directory_entry const& entry) {
  constexpr std::uintmax_t mib = 1 << 20;
  return entry.is_regular_file() && entry.file_size() > mib;
}

Result<> write_text(fs::path const& file, std::string const& text) {
  std::ofstream stream{file};
  stream << text;
  stream.close();
  if (!stream) return Error{ErrorCode::unavailable, file.string() + ": cannot be written"};
  return {};
}

/// Writes the least that git accepts as a repository, with an unreachable remote. A bisection that
/// cannot fetch its commits waits. Without a repository or a remote, it would fail.
Result<> write_repository(fs::path const& folder) {
  fs::create_directories(folder / "objects");
  fs::create_directories(folder / "refs");
  auto head = write_text(folder / "HEAD", "ref: refs/heads/main\n");
  if (!head) return head;
  return write_text(folder / "config",
                    "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
                    "[remote \"origin\"]\n\turl = /nowhere/pytorch.git\n");
}

}  // namespace

Result<> write_files(fs::path const& out,
                     std::vector<std::string> const& models,
                     std::vector<std::string> const& fleets) {
  std::error_code problem;
  fs::create_directories(out / "feed", problem);
  if (problem)
    return Error{ErrorCode::unavailable, (out / "feed").string() + ": " + problem.message()};
  auto repository = write_repository(out / "repository");
  if (!repository) return repository;
  return write_text(out / "torchwatch.json", configuration(models, fleets).dump(2) + '\n');
}

void copy_state(fs::path const& world, fs::path const& state) {
  fs::create_directories(state);
  for (auto const& entry : fs::recursive_directory_iterator{world / "state"}) {
    auto const place = state / entry.path().lexically_relative(world / "state");
    if (entry.is_directory())
      fs::create_directories(place);
    else if (is_hole(entry))
      std::ofstream{place};
    else
      fs::copy_file(entry.path(), place);
  }
  fs::copy_file(world / database_name, state / database_name);
}

}  // namespace torchwatch::years
