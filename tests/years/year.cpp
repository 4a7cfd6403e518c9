#include "tests/years/year.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

/// The day whose self-comparison gives a false alarm.
constexpr DaysAgo false_alarm_day = 37;

/// The day from which on commits are built with another compiler.
constexpr DaysAgo compiler_day = 200;

/// The quota of builds in the last week, so that builds that are not in use are removed.
constexpr std::int64_t quota_mib = 100L * 1024;

std::string recipe_with(std::string const& compiler) {
  return "recipe 7c1f0e2b9a4d5c6e8f00112233445566778899aa\ncmake 3.31.6\ngcc " + compiler +
         "\nninja 1.12.1\n";
}

std::int64_t bytes_of_nightly(Chance& chance) {
  return static_cast<std::int64_t>(chance.between(0.9, 1.3) * (1U << 30U));
}

}  // namespace

Year::Year(Request const& request) : stage_{request} {
  stage_.library = "libgomp-3b1f2c9d.so.1";
  stage_.world.parts->builder.contents = recipe_with("11.4.0");
  stage_.mornings.on(std::min(compiler_day, request.nights - 1),
                     [this] { stage_.world.parts->builder.contents = recipe_with("12.2.0"); });
  stage_.mornings.on(7, [this] { stage_.world.options.builds.quota_mib = quota_mib; });
  plots_.arrange_background();
  people_.arrange();
  judge_falsely();
}

/// Slows the second of two processes of one build, which gives a false alarm.
void Year::judge_falsely() {
  auto const is_second = [is_there = stage_.is_published(false_alarm_day, false_alarm_day)](
                             JobOutcome const& outcome, Build const& build) {
    return outcome.key.fleet == "gpu" && outcome.key.campaign.name.starts_with("aa/") &&
           outcome.key.campaign.name.ends_with("/again") && is_there(build);
  };
  stage_.processes.disturb({is_second, 1.12});
}

void Year::live(std::function<void(std::size_t, std::size_t)> const& progress) {
  auto const nights = stage_.request.nights;
  for (stage_.today = nights; stage_.today-- > 0;) {
    live_day();
    progress(nights - stage_.today, nights);
  }
  stage_.today = 0;
  people_.leave_bisections();
}

void Year::live_day() {
  auto& clock = stage_.world.clock;
  auto const today = stage_.today;
  auto const day = stage_.request.last_night - std::chrono::days{today};
  Chance chance{stage_.request.seed, "hour", today};
  clock.time = std::max(clock.time, day + 10h + std::chrono::seconds{chance.below(3 * 3600)});
  land_commits();
  if (is_missing(today + 1)) pass();  // the alarm comes before the nightly
  bool const is_published = !is_missing(today);
  if (is_published) publish();
  if (is_published) pass();
  stage_.interruption.reset();
  clock.time = std::max(clock.time, Timestamp{day + 21h});
  stage_.evenings.run(today);
  if (!is_published) pass();
}

bool Year::is_missing(DaysAgo ago) const {
  return ago < stage_.request.nights && stage_.script.fate_of(ago) == NightlyFate::missing;
}

void Year::land_commits() {
  auto& trunk = stage_.world.trunk;
  auto commits = stage_.landing.commits_of(stage_.today);
  stage_.first_commit = trunk.size();
  stage_.last_commit = trunk.size() + commits.size() - 1;
  Chance chance{stage_.request.seed, "why", stage_.today};
  auto& builder = stage_.world.parts->builder;
  builder.reverts_apply = true;
  builder.why_broken = stage_.texts.of(
      "recipe: exit status 125: aten/src/ATen/native/cpu/Activation.cpp:214: error: 'Vectorized' "
      "was not declared in this scope",
      chance);
  stage_.mornings.run(stage_.today);
  for (auto const& event : stage_.script.events())
    if (event.ago == stage_.today) plots_.play(event, commits);
  trunk.land(commits);
  plots_.landed();
}

void Year::publish() {
  constexpr DaysAgo listed = 60;
  auto& world = stage_.world;
  auto const today = stage_.today;
  Chance chance{stage_.request.seed, "published", today};
  auto const date = stage_.date_of(today);
  std::erase_if(world.index.files, [oldest = stage_.date_of(today + listed)](auto const& file) {
    return file.second.date < oldest;
  });
  auto& file = world.publish(date, stage_.last_commit);
  file.bytes = bytes_of_nightly(chance);
  file.library = stage_.library;
  auto const fate = stage_.script.fate_of(today);
  if (fate == NightlyFate::cut_off)
    file.trouble = Error{
        ErrorCode::corrupt,
        stage_.texts.of(
            "the archive of " + date + " was cut off after 201326592 of 211812352 bytes", chance)};
  if (fate != NightlyFate::crashes) return;
  auto const is_there = stage_.is_published(today, today);
  auto message = stage_.texts.of(
      "worker ended by signal 11 (segmentation fault) while it loaded libtorch_cpu.so", chance);
  stage_.processes.disturb(
      {[is_there](JobOutcome const&, Build const& build) { return is_there(build); },
       1,
       JobError::crashed,
       std::move(message)});
}

void Year::pass() {
  auto const passed = stage_.world.run(stage_.world.parts->pass());
  if (!passed)
    throw std::runtime_error(stage_.date_of(stage_.today) + ": " + passed.error().message);
}

}  // namespace torchwatch::years
