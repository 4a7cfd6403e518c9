#pragma once

#include <string>

#include "tests/years/stage.h"

namespace torchwatch::years {

/// The actions of users: rulings, pins and requested bisections.
class People {
 public:
  explicit People(Stage& stage) : stage_{stage} {}

  /// Adds the actions to the agenda.
  void arrange();

  /// Ends the history with one running and one queued bisection. Call it last.
  void leave_bisections();

 private:
  void rule_on(Event const& event);
  void rule_on_incident(DaysAgo ago, RulingKind kind, std::string who, std::string why);
  void rule_on_series(RulingKind kind, Series const& series, std::string who, std::string why);
  void arrange_mutes();
  void arrange_drifts();
  void bisect_drift();
  void pin_newest();
  void give(Ruling ruling, std::string who, std::string why);
  std::optional<Incident> incident_of(DaysAgo ago);
  std::optional<Bisection> ask(BisectionOrder order);
  std::optional<BisectionRequest> request_between(DaysAgo from, DaysAgo to, Series const& series);
  Series drifting() const;

  Stage& stage_;
  Chance chance_{stage_.request.seed, "people"};
};

}  // namespace torchwatch::years
