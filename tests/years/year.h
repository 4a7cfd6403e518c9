#pragma once

#include <filesystem>
#include <functional>

#include "tests/years/people.h"
#include "tests/years/plots.h"
#include "tests/years/stage.h"

namespace torchwatch::years {

/// A year of the service in memory: its real pipeline watches scripted nightlies.
class Year {
 public:
  /// `request` is for at most one year.
  explicit Year(Request const& request);

  /// Runs all days. Calls `progress` after each with the numbers of days done and in all. Throws
  /// when a pass fails.
  void live(std::function<void(std::size_t, std::size_t)> const& progress);

  /// Closes the database.
  void close() { stage_.world.parts.reset(); }

  storage::Store& store() { return stage_.store(); }

  Suite const& suite() const { return stage_.suite; }

  config::Options const& options() const { return stage_.world.options; }

  /// The folder of the database and of the service's state directory.
  std::filesystem::path folder() const { return stage_.world.folder.path(); }

 private:
  void live_day();
  void land_commits();
  bool is_missing(DaysAgo ago) const;
  void publish();
  void pass();
  void judge_falsely();

  Stage stage_;
  Plots plots_{stage_};
  People people_{stage_};
};

}  // namespace torchwatch::years
