#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/bisection/bisector.h"
#include "daemon/bisection/queue.h"
#include "daemon/builds/build_store.h"
#include "daemon/builds/builder.h"
#include "daemon/builds/fetcher.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/builds/packages.h"
#include "daemon/builds/patient_builder.h"
#include "daemon/builds/prepared_rounds.h"
#include "daemon/builds/workers.h"
#include "daemon/feed/announcer.h"
#include "daemon/measure/raw_data_cleanup.h"
#include "daemon/measure/rounds.h"
#include "daemon/nightly/alarms.h"
#include "daemon/nightly/investigation.h"
#include "daemon/nightly/life.h"
#include "daemon/nightly/lost_builds.h"
#include "daemon/nightly/pipeline.h"
#include "daemon/nightly/preparation.h"
#include "daemon/nightly/rebuilds.h"
#include "daemon/nightly/silence.h"
#include "daemon/nightly/slot_review.h"
#include "daemon/nightly/stages.h"
#include "daemon/nightly/suite_profile.h"
#include "daemon/nightly/sweep.h"
#include "daemon/nightly/verdicts.h"
#include "daemon/nightly/wanted_builds.h"
#include "daemon/report/answers.h"
#include "daemon/report/sender.h"
#include "storage/store.h"

namespace torchwatch::service {

/// The services of the outside world: the real ones, or a test's fakes.
struct ExternalServices {
  storage::Store& store;
  Clock const& clock;
  builds::BuildStore& kept;              ///< builds on disk
  measure::Rounds& rounds;               ///< measures builds
  builds::Builder& builder;              ///< builds commits
  builds::Workers& workers;              ///< compiles workers for builds
  builds::Fetcher& fetcher;              ///< downloads published builds
  report::OpenTransport open_transport;  ///< connects to GitHub
  /// Waits between requests to GitHub.
  github::Sleeper sleep = report::sleep_for;
};

/// All parts of the service, wired. Built top to bottom, destroyed bottom to top; a part uses only
/// parts above it. Single-threaded, on `executor`.
struct ServiceParts {
  /// `options` and what `services` refers to must outlive it.
  ServiceParts(boost::asio::any_io_executor const& executor,
               config::Options const& options,
               ExternalServices const& services);

  /// One pass over the feed. Makes disk space, gets lost builds again, starts bisections that users
  /// requested, judges new nightlies, and publishes. Then restores requested builds, deletes raw
  /// samples, and reads the labels of issues, checks that nightlies are judged, and sends what
  /// follows. Fails as LostBuilds::bring and Pipeline::pass do.
  boost::asio::awaitable<Result<>> pass();

  /// Answers people on GitHub, stores the events that follow, checks that nightlies are judged, and
  /// sends all messages that are due.
  /// Fails as report::Answers::poll and report::Sender::send_due do.
  boost::asio::awaitable<Result<>> answer();

  /// Does what bisection::Queue::ask does, and starts the bisection.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order);

  builds::BuildStore& kept;
  builds::PreparedRounds prepared_rounds;
  builds::GitFetch git_fetch;
  builds::PatientBuilder patient_builder;
  bisection::Bisector bisector;
  bisection::Queue queue;
  nightly::Alarms alarms;
  feed::Announcer announcer;
  builds::Packages packages;
  nightly::Preparation preparation;
  nightly::LostBuilds lost_builds;
  nightly::WantedBuilds wanted_builds;
  measure::RawDataCleanup raw_data_cleanup;
  nightly::Sweep sweep;
  nightly::SlotReview slot_review;
  nightly::Verdicts verdicts;
  nightly::Rebuilds rebuilds;
  nightly::SuiteProfile suite_profile;
  nightly::Investigation investigation;
  nightly::Stages stages;
  nightly::Life life;
  nightly::SilenceAlarm silence;
  report::Network network;  ///< one for all parts, so that they share an App's token
  report::Sender sender;
  report::Answers answers;
  nightly::Pipeline pipeline;
};

}  // namespace torchwatch::service
