#pragma once

#include <string>

#include "tests/years/stage.h"

namespace torchwatch::years {

/// What people do: rulings, pins, and bisections of their own.
class People {
 public:
  explicit People(Stage& stage) : stage_{stage} {}

  /// Puts it on the agenda.
  void arrange();

  /// The last that happens: one bisection is running and another waits when the service ends.
  void leave_bisections();

 private:
  void rule_on(Event const& event);
  void rule_on_incident(DaysAgo ago, RulingKind kind, std::string who, std::string why);
  void rule_on_series(RulingKind kind, Series const& series, std::string who, std::string why);
  void arrange_mutes();
  void arrange_drifts();
  void search_drift();
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
