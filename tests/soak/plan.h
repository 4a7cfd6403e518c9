#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/metric.h"

/// The soak test: a year of nightlies in a world with many faults.
namespace torchwatch::soak {

/// The way in which a nightly is published.
enum class Habit {
  on_time,
  missing,  ///< not at all
  broken,   ///< its file has another version than its name says
  late,     ///< on the day after, when the next nightly was judged
  twice,    ///< again with other contents, six hours later
};

/// One day: the habit of its nightly, and the faults of the world.
struct PlannedDay {
  Habit habit = Habit::on_time;
  std::size_t quiet_commits = 1;  ///< commits that change nothing
  bool is_github_down = false;
  bool is_disk_full = false;              ///< the database cannot be written
  bool has_no_space_for_a_build = false;  ///< in the morning
  std::string lost_model{};  ///< model whose processes are lost, on this nightly's build only
  std::optional<int> rounds_until_slots_die{};
};

/// A change that a commit makes, and that another commit takes back.
struct Planted {
  std::string model;
  Metric metric = Metric::latency;
  double ratio = 1;         ///< for a leak: 1 plus the KiB that each iteration keeps
  std::size_t begins = 0;   ///< day of its commit
  std::size_t ends = 0;     ///< day of the commit that takes it back
  bool is_reverted = true;  ///< false: the message of that commit names nothing
};

/// True when the service must file it: it is above the threshold of its metric.
bool is_to_be_filed(Planted const& planted);

/// All that happens in a soak test, drawn from a seed.
struct Plan {
  std::vector<PlannedDay> days;
  std::vector<Planted> planted;  ///< in the order of their first days
};

/// The models with planted changes.
std::vector<std::string> const& changing_models();

/// The model whose latency grows in small steps: no incident, but the alarm `drift`.
inline constexpr auto drifting_model = "drifting";

/// Days between two steps of the drift, and the ratio of a step.
inline constexpr std::size_t days_between_steps = 10;
inline constexpr double step_of_drift = 1.003;

/// True when the drift exceeds the threshold for long enough to be found.
bool is_drift_to_be_found(Plan const& plan);

/// The fewest days of a plan.
inline constexpr std::size_t fewest_days = 30;

/// Returns the plan of a seed. Its last days are without faults.
///
///     one of six models changes every fifth day, and back 4 to 12 days later
///       20%   its latency by 5 or 6%, which is below the threshold
///       40%   its latency by 8 to 50%
///       20%   its memory by 8 to 50%
///       20%   it leaks 1 to 4 KiB in each iteration
///     nightlies   missing for one to three days 2%, broken 3%, late 3%, published twice 4%
///     GitHub      is down for one to four days 3%
///     the disk    is full for one to three days 2%, lacks space for a build in the morning 3%
///     slots       die in a round 8%; lose all processes of a model on a nightly 4%
Plan draw_plan(std::uint64_t seed, std::size_t days);

/// Returns the first day from `day` on whose nightly can show a change of a model, after `skipped`
/// others that can show it, too.
std::size_t day_that_shows(Plan const& plan,
                           std::string const& model,
                           std::size_t day,
                           std::size_t skipped = 0);

}  // namespace torchwatch::soak
