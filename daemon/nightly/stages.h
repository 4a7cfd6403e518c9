#pragma once

#include <boost/asio/awaitable.hpp>

#include "daemon/nightly/investigation.h"
#include "daemon/nightly/preparation.h"
#include "daemon/nightly/rebuilds.h"
#include "daemon/nightly/slot_review.h"
#include "daemon/nightly/suite_profile.h"
#include "daemon/nightly/sweep.h"
#include "daemon/nightly/verdicts.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Moves one nightly from state to state:
///
///     announced -> prepared -> swept -> screened -> confirmed -> bisected
///
/// Every arrow is one durable state change. Every measurement on the way is stored under its own
/// key. So a step that was killed is repeated from stored results, and decides the same.
/// Single-threaded.
class Stages {
 public:
  /// All arguments must outlive it.
  Stages(storage::Store& store,
         Preparation& preparation,
         Sweep& sweep,
         SlotReview& slot_review,
         Verdicts& verdicts,
         Rebuilds& rebuilds,
         SuiteProfile& suite_profile,
         Investigation& investigation)
      : store_{store},
        preparation_{preparation},
        sweep_{sweep},
        slot_review_{slot_review},
        verdicts_{verdicts},
        rebuilds_{rebuilds},
        suite_profile_{suite_profile},
        investigation_{investigation} {}

  /// Judges a nightly: moves it on until it is bisected, done or failed. Also returns when it is
  /// confirmed, so that its incident can be reported; the next call investigates it. An Error means
  /// a temporary failure; the next call continues from there.
  boost::asio::awaitable<Result<>> judge(Nightly& nightly);

 private:
  boost::asio::awaitable<Result<NightlyState>> next_state(Nightly& nightly);
  boost::asio::awaitable<Result<NightlyState>> prepare(Nightly& nightly);
  boost::asio::awaitable<Result<NightlyState>> sweep(Nightly& nightly);
  NightlyState screen(Nightly const& nightly);
  boost::asio::awaitable<Result<NightlyState>> confirm(Nightly& nightly);
  boost::asio::awaitable<Result<NightlyState>> investigate(Nightly const& nightly);

  storage::Store& store_;
  Preparation& preparation_;
  Sweep& sweep_;
  SlotReview& slot_review_;
  Verdicts& verdicts_;
  Rebuilds& rebuilds_;
  SuiteProfile& suite_profile_;
  Investigation& investigation_;
};

/// True when a nightly in that state needs no more work.
bool has_ended(NightlyState state);

/// Stores the state of a nightly, and logs it.
void move_to(storage::Store& store, Nightly& nightly, NightlyState state);

}  // namespace torchwatch::nightly
