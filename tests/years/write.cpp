#include "tests/years/write.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "daemon/nightly/trust_figures.h"
#include "storage/store.h"
#include "tests/years/copies.h"
#include "tests/years/files.h"
#include "tests/years/year.h"

namespace torchwatch::years {
namespace {

namespace fs = std::filesystem;

/// Appends the name unless it is there already.
void add(std::vector<std::string>& names, std::string const& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Result<> write_configuration(Suite const& suite,
                             std::vector<FleetModel> const& copies,
                             fs::path const& out) {
  auto models = suite.measured();
  std::vector<std::string> fleets{"cpu", "gpu"};
  for (auto const& copy : copies) {
    add(models, copy.model);
    add(fleets, copy.fleet);
  }
  return write_files(out, models, fleets);
}

/// Checks the length: up to one year, or whole years.
Result<> check_nights(std::size_t nights) {
  bool const is_part = nights >= least_nights && nights <= days_of_year;
  if (is_part || (nights > 0 && nights % days_of_year == 0)) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("--nights: found {}, allowed {} to {} and multiples of {}",
                           nights,
                           least_nights,
                           days_of_year,
                           days_of_year)};
}

/// Computes the figures of the page Trust. The service does this when it has judged a nightly, but
/// copies are not judged.
void work_out_trust_figures(fs::path const& database) {
  auto store = storage::Store::open(database).value();
  nightly::keep_trust_figures(store);
}

/// Adds the copies to the database in its temporary folder, then writes everything to `out`.
Result<Written> write_home(Year& year, Request const& request, fs::path const& out) {
  auto const state = fs::absolute(out) / "state";
  auto const database = year.folder() / database_name;
  int const rounds = year.options().decide.sweep_pairs;
  year.close();
  auto const copies = copy_series(database, year.suite(), request.series, rounds);
  copy_years(database, (request.nights + days_of_year - 1) / days_of_year);
  work_out_trust_figures(database);
  move_paths(database, "./state/", "./");  // the database moves into the state directory
  copy_state(year.folder(), state);
  if (auto const filed = write_configuration(year.suite(), copies, out); !filed)
    return filed.error();
  return Written{
      state / database_name, count_rows(database, "nightly"), count_rows(database, "series")};
}

}  // namespace

Result<Written> write_history(Request const& request,
                              fs::path const& out,
                              std::function<void(std::size_t, std::size_t)> const& progress) {
  if (auto const allowed = check_nights(request.nights); !allowed) return allowed.error();
  auto const file = out / "state" / database_name;
  if (fs::exists(file))
    return Error{ErrorCode::invalid_argument, file.string() + ": exists already"};
  try {
    auto newest = request;
    newest.nights = std::min(request.nights, days_of_year);
    Year year{newest};
    year.live(progress);
    return write_home(year, request, out);
  } catch (std::invalid_argument const& refusal) {
    return Error{ErrorCode::invalid_argument, refusal.what()};
  } catch (fs::filesystem_error const& problem) {
    return Error{ErrorCode::unavailable, problem.what()};
  }
}

}  // namespace torchwatch::years
