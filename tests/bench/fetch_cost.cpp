/// Measures the cost of a download by torchwatch-fetch, compared with `curl -o`: time and memory
/// for a large file from a server on this machine, in turns.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fetch/wire.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/temporary_folder.h"

namespace torchwatch::bench {
namespace {

namespace fs = std::filesystem;

struct Cost {
  double seconds = 0;
  double peak_mib = 0;
};

/// Runs a program with a file as its standard input. Throws std::runtime_error when it fails.
Cost run(std::vector<std::string> argv, fs::path const& input) {
  std::vector<char*> words;
  for (auto& word : argv)
    words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  auto const begun = std::chrono::steady_clock::now();
  pid_t child = 0;
  bool const is_started =
      ::posix_spawnp(&child, words.front(), &files, nullptr, words.data(), ::environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  rusage usage{};
  if (!is_started || ::wait4(child, &status, 0, &usage) != child || status != 0)
    throw std::runtime_error(argv.front() + " failed");
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begun;
  return {seconds.count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

Cost median(std::vector<Cost> costs) {
  auto const middle = costs.begin() + std::ssize(costs) / 2;
  std::ranges::nth_element(costs, middle, {}, &Cost::seconds);
  return *middle;
}

/// One way to download, with its costs in each round.
struct Subject {
  std::string name;
  std::vector<std::string> argv;
  fs::path input;
  std::vector<Cost> costs{};
};

void print(std::vector<Subject> const& subjects, double mib) {
  constexpr auto row = "{:<28} {:>9} {:>9} {:>10} {:>14}\n";
  auto const peer = median(subjects.front().costs);
  std::cout << fmt::format(row, "download", "seconds", "MiB/s", "to curl's", "peak memory MiB");
  for (auto const& subject : subjects) {
    auto const cost = median(subject.costs);
    std::cout << fmt::format(row,
                             subject.name,
                             fmt::format("{:.2f}", cost.seconds),
                             fmt::format("{:.0f}", mib / cost.seconds),
                             fmt::format("{:.2f}", cost.seconds / peer.seconds),
                             fmt::format("{:.1f}", cost.peak_mib));
  }
}

std::string digest_of(fs::path const& file) {
  auto const out = fs::path{file} += ".sha256";
  auto const command = "sha256sum '" + file.string() + "' > '" + out.string() + "'";
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
  return tests::text_of(out).substr(0, 64);
}

void compare(double gib, int rounds) {
  tests::TemporaryFolder const folder;
  auto const size = static_cast<std::uintmax_t>(gib * (1 << 30));
  std::ofstream{folder / "hosted"};
  fs::resize_file(folder / "hosted", size);
  fakes::DownloadHost host;
  fakes::HostedFile hosted;
  hosted.path = folder / "hosted";
  hosted.etag = "\"1\"";
  host.host("/file", hosted);
  fetch::FetchRequest request;
  request.download.url = host.url() + "/file";
  request.file = folder / "fetched";
  auto const write_request = [&](char const* name) {
    std::ofstream{folder / name} << fetch::encode(request) << '\n';
    return folder / name;
  };
  auto const durable = write_request("durable");
  request.download.is_durable = false;
  auto const plain = write_request("plain");
  request.download.sha256 = digest_of(hosted.path);
  auto const verified = write_request("verified");
  std::vector<Subject> subjects{
      {"curl -o", {"curl", "-s", "-o", request.file, request.download.url}, "/dev/null"},
      {"torchwatch-fetch", {FETCH_PROGRAM}, plain},
      {"torchwatch-fetch, verified", {FETCH_PROGRAM}, verified},
      {"curl -o, sha256sum",
       {"sh",
        "-c",
        R"(curl -s -o "$0" "$1" && sha256sum "$0")",
        request.file,
        request.download.url},
       "/dev/null"},
      {"torchwatch-fetch, flushed", {FETCH_PROGRAM}, durable}};
  for (int round = 0; round < rounds; ++round)
    for (auto& subject : subjects) {
      fs::remove(request.file);
      subject.costs.push_back(run(subject.argv, subject.input));
      if (fs::file_size(request.file) != size)
        throw std::runtime_error(subject.name + ": the file is too short");
    }
  print(subjects, gib * 1024);
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  CLI::App app{"Cost of a download, compared with curl"};
  double gib = 2;
  int rounds = 3;
  app.add_option("--gib", gib, "Size of the file in GiB");
  app.add_option("--rounds", rounds, "Number of downloads of each kind; the median is printed");
  CLI11_PARSE(app, argc, argv);
  torchwatch::bench::compare(gib, rounds);
}
