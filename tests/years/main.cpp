#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "storage/base/date.h"
#include "tests/years/write.h"

namespace {

namespace fs = std::filesystem;
using torchwatch::Error;
using torchwatch::ErrorCode;
using torchwatch::Result;
using torchwatch::years::Request;

Result<std::vector<torchwatch::lab::Person>> read_people() {
  std::ifstream stream{TORCHWATCH_PEOPLE};
  auto const json = nlohmann::json::parse(stream, nullptr, false);
  if (json.is_discarded())
    return Error{ErrorCode::not_found,
                 std::string{TORCHWATCH_PEOPLE} +
                     ": cannot be read as JSON; it is in the source tree that built this program"};
  std::vector<torchwatch::lab::Person> people;
  for (auto const& person : json.at("people"))
    people.push_back({person.at("name"), person.at("email"), person.at("login")});
  return people;
}

/// Prints the progress on one line of a terminal; prints nothing elsewhere.
void show_progress(std::size_t done, std::size_t all) {
  static bool const is_shown = ::isatty(STDERR_FILENO) == 1;
  if (is_shown) std::cerr << fmt::format("\r{} of {} days", done, all) << std::flush;
  if (is_shown && done == all) std::cerr << '\n';
}

/// Writes the history. Returns a summary for the terminal.
Result<std::string> write_all(Request request, fs::path const& out) {
  auto const began = std::chrono::steady_clock::now();
  auto people = read_people();
  if (!people) return people.error();
  request.people = std::move(*people);
  auto const written = write_history(request, out, show_progress);
  if (!written) return written.error();
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - began;
  return fmt::format(
      "{}: {} nightlies of {} series, {:.1f} MiB in {:.1f} s; torchwatch --config {} serve",
      written->database.string(),
      written->nightlies,
      written->series,
      static_cast<double>(fs::file_size(written->database)) / (1U << 20U),
      seconds.count(),
      (out / "torchwatch.json").string());
}

/// Returns the date in `text`, or yesterday if it is empty; nullopt if it is not a date.
std::optional<std::chrono::sys_days> day_of_last_night(std::string const& text) {
  auto const now = std::chrono::system_clock::now();
  if (text.empty()) return std::chrono::floor<std::chrono::days>(now) - std::chrono::days{1};
  return torchwatch::day_of(text);
}

int fail(std::string const& message) {
  std::cerr << "torchwatch-years: " << message << '\n';
  return 1;
}

}  // namespace

/// torchwatch-years: writes databases of many nightlies, to show every page and to test load.
int main(int argc, char** argv) {
  CLI::App app{
      "Writes the state directory of a service that has watched for years, and a configuration to "
      "serve it. The pipeline is real, the measurements are scripted."};
  Request request;
  fs::path out;
  std::string last_night;
  app.add_option("--out", out, "Directory to write state/ and torchwatch.json to")->required();
  app.add_option("--nights", request.nights, "Days of the history: 30 to 365, or a multiple of 365")
      ->capture_default_str();
  app.add_option("--series",
                 request.series,
                 "Least number of series; models are added with all their series")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1400}))
      ->capture_default_str();
  app.add_option(
      "--last-night", last_night, "Date of the newest nightly, YYYY-MM-DD; default: yesterday");
  app.add_option("--seed", request.seed, "Seed; equal seeds give equal histories")
      ->capture_default_str();
  app.add_flag("--hostile", request.is_hostile, "Add texts that try to break out of pages");
  CLI11_PARSE(app, argc, argv);

  auto const day = day_of_last_night(last_night);
  if (!day) return fail("--last-night: found " + last_night + ", allowed YYYY-MM-DD");
  request.last_night = *day;
  // The log of each pass. Its results are in the database.
  spdlog::set_level(spdlog::level::off);
  auto const done = write_all(std::move(request), out);
  if (!done) return fail(done.error().message);
  std::cout << *done << '\n';
  return 0;
}
