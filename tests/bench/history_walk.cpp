/// Measures the time to read a day's commits from a long history, compared with the git program.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "bisect/git/history.h"

namespace torchwatch::bench {
namespace {

namespace fs = std::filesystem;

constexpr int repeats = 11;

/// A temporary bare repository with `commits` commits on its trunk. Each commit changes one of a
/// thousand files.
class Trunk {
 public:
  explicit Trunk(int commits) {
    auto form = (fs::temp_directory_path() / "history_XXXXXX").string();
    if (::mkdtemp(form.data()) == nullptr)
      throw std::runtime_error{form + ": the directory cannot be created"};
    path_ = form;
    run("git init --quiet --bare --initial-branch=main '" + form + "'");
    auto const command = "git -C '" + form + "' fast-import --quiet";
    std::FILE* const import = ::popen(command.c_str(), "w");
    if (import == nullptr) throw std::runtime_error{command + ": cannot be started"};
    for (int i = 0; i < commits; ++i)
      fmt::print(import, "{}", commit(i));
    if (::pclose(import) != 0) throw std::runtime_error{command + " failed"};
  }

  Trunk(Trunk const&) = delete;
  Trunk& operator=(Trunk const&) = delete;

  ~Trunk() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string const& path() const { return path_; }

  static void run(std::string const& command) {
    if (std::system((command + " > /dev/null").c_str()) != 0)
      throw std::runtime_error{command + " failed"};
  }

 private:
  static std::string commit(int number) {
    auto const message = fmt::format(
        "Change {0} (#{0})\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/{0}\n",
        number);
    auto const content = fmt::format("{}\n", number);
    return fmt::format(
        "commit refs/heads/main\ncommitter Ada <ada@example.org> {} +0000\ndata {}\n{}\n"
        "M 100644 inline aten/{}/{}.cpp\ndata {}\n{}\n",
        1'000'000'000 + number,
        message.size(),
        message,
        number % 10,
        number % 1000,
        content.size(),
        content);
  }

  std::string path_;
};

/// Returns the median milliseconds of repeated calls.
double time(std::function<void()> const& work) {
  std::vector<double> all;
  for (int i = 0; i < repeats; ++i) {
    auto const start = std::chrono::steady_clock::now();
    work();
    std::chrono::duration<double, std::milli> const spent =
        std::chrono::steady_clock::now() - start;
    all.push_back(spent.count());
  }
  std::ranges::sort(all);
  return all[repeats / 2];
}

void print_row(std::string const& what, double ours, double peer) {
  fmt::print("{:<44} {:>9.2f} ms {:>9.2f} ms {:>7.2f}\n", what, ours, peer, ours / peer);
}

void compare(Trunk const& trunk, int day) {
  auto const range = fmt::format("main~{}..main", day);
  auto const git = "git -C '" + trunk.path() + "' log --first-parent ";
  auto const read_day = [&] {
    auto const history = bisect::GitHistory::open(trunk.path()).value();
    auto const start = history.resolve(fmt::format("main~{}", day)).value();
    auto const commits = history.commits_between(start, history.resolve("main").value()).value();
    if (std::ssize(commits) != day) throw std::runtime_error{"the number of commits is wrong"};
    return commits;
  };
  print_row(fmt::format("{} commits, oldest first", day), time(read_day), time([&] {
              Trunk::run(git + "--reverse " + range);
            }));
  auto const read_paths = [&] {
    auto const history = bisect::GitHistory::open(trunk.path()).value();
    for (auto const& commit : read_day())
      if (history.changes_of(commit.sha).value().paths.size() != 1)
        throw std::runtime_error{"the number of changed paths is wrong"};
  };
  print_row(fmt::format("with the paths that they changed"), time(read_paths), time([&] {
              Trunk::run(git + "--name-only " + range);
            }));
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  int commits = 100'000;
  CLI::App app{"Time to read a day's commits from a long history, compared with git log"};
  app.add_option("--commits", commits, "Number of commits on the trunk")
      ->check(CLI::Range(1000, 10'000'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    Trunk const trunk{commits};
    fmt::print("{} commits on the trunk; medians of {}\n\n", commits, repeats);
    fmt::print("{:<44} {:>12} {:>12} {:>7}\n", "reads", "torchwatch", "git log", "ratio");
    for (int const day : {60, 400})
      compare(trunk, day);
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << "history_walk: " << problem.what() << '\n';
    return 2;
  }
}
