#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "storage/base/date.h"
#include "tests/years/calendar.h"
#include "tests/years/files.h"
#include "tests/years/write.h"

namespace {

namespace fs = std::filesystem;
using torchwatch::Error;
using torchwatch::ErrorCode;
using torchwatch::Result;
using torchwatch::years::Request;

using torchwatch::years::database_name;

Result<std::vector<std::string>> read_people() {
  std::ifstream stream{TORCHWATCH_PEOPLE};
  auto const json = nlohmann::json::parse(stream, nullptr, false);
  if (json.is_discarded())
    return Error{ErrorCode::not_found, std::string{TORCHWATCH_PEOPLE} + ": cannot be read"};
  std::vector<std::string> people;
  for (auto const& person : json.at("people"))
    people.push_back(fmt::format(
        "{} <{}>", person.at("name").get<std::string>(), person.at("email").get<std::string>()));
  return people;
}

/// One line, which the next one replaces; on a terminal only.
void show_progress(std::size_t done, std::size_t all) {
  static bool const is_shown = ::isatty(STDERR_FILENO) == 1;
  if (is_shown) std::cerr << fmt::format("\r{} of {} nights", done, all) << std::flush;
  if (is_shown && done == all) std::cerr << '\n';
}

/// The database is written in `scratch` and moved when it is whole.
struct Places {
  fs::path out;
  fs::path scratch;
};

Result<torchwatch::years::Written> write_database(Request const& request, Places const& places) {
  auto const state = fs::absolute(places.out) / "state";
  auto const written_at = places.scratch.empty() ? state : places.scratch;
  if (fs::exists(state / database_name) || fs::exists(written_at / database_name))
    return Error{ErrorCode::invalid_argument,
                 (state / database_name).string() + ": exists already"};
  fs::create_directories(state);
  fs::create_directories(written_at);
  auto store = torchwatch::storage::Store::open(written_at / database_name);
  if (!store) return store.error();
  return write_years(request, *store, state, show_progress);
}

/// With its seal, which says that it is whole.
void bring_home(Places const& places) {
  if (places.scratch.empty()) return;
  for (auto const& file : fs::directory_iterator{places.scratch})
    fs::copy_file(file.path(), places.out / "state" / file.path().filename());
  fs::remove_all(places.scratch);
}

Result<std::string> write_all(Request request, Places const& places) {
  auto const began = std::chrono::steady_clock::now();
  auto people = read_people();
  if (!people) return people.error();
  request.people = std::move(*people);
  auto const written = write_database(request, places);
  if (!written) return written.error();
  bring_home(places);
  auto const filed = torchwatch::years::write_files(places.out, written->models, written->fleets);
  if (!filed) return filed.error();
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - began;
  auto const file = places.out / "state" / database_name;
  return fmt::format(
      "{}: {} nightlies of {} series, {:.1f} MiB in {:.0f} s; torchwatch --config {} serve",
      file.string(),
      written->nightlies,
      written->series,
      static_cast<double>(fs::file_size(file)) / (1U << 20U),
      seconds.count(),
      (places.out / "torchwatch.json").string());
}

std::string yesterday() {
  auto const today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return torchwatch::years::date_of(today - std::chrono::days{1});
}

}  // namespace

/// torchwatch-years: writes databases of many nights, to look at and to load.
int main(int argc, char** argv) {
  CLI::App app{
      "Writes the database of a service that has watched for years, and a configuration "
      "to serve it with. Nothing in it was measured."};
  Request request;
  Places places;
  auto last_night = yesterday();
  app.add_option("--out", places.out, "Directory to write state/ and torchwatch.json to")
      ->required();
  app.add_option("--nights", request.nights, "Days that it spans")
      ->check(CLI::Range(torchwatch::years::least_nights, std::size_t{7300}))
      ->capture_default_str();
  app.add_option("--series", request.series, "At least so many; models come whole")
      ->check(CLI::Range(std::size_t{60}, std::size_t{1400}))
      ->capture_default_str();
  app.add_option("--last-night", last_night, "Date of the newest nightly")->capture_default_str();
  app.add_option("--seed", request.seed, "The same gives the same history")->capture_default_str();
  app.add_flag("--hostile", request.is_hostile, "Texts of others try to break out of pages");
  app.add_option("--scratch",
                 places.scratch,
                 "Directory to write the database in before it is moved to --out; one in memory "
                 "(/dev/shm/NAME) spares the disk a sync for each row");
  CLI11_PARSE(app, argc, argv);

  auto const day = torchwatch::day_of(last_night);
  if (!day) {
    std::cerr << "torchwatch-years: --last-night: found " << last_night << ", allowed YYYY-MM-DD\n";
    return 1;
  }
  request.last_night = *day;
  auto const told = write_all(std::move(request), places);
  if (!told) {
    std::cerr << "torchwatch-years: " << told.error().message << '\n';
    return 1;
  }
  std::cout << *told << '\n';
  return 0;
}
