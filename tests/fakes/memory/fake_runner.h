#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "daemon/measure/runner.h"
#include "runner/protocol.h"

namespace torchwatch::fakes {

/// The behavior of a runner when it starts or gets a round.
enum class Manner {
  good,          ///< answers each job
  ends_at_once,  ///< without a hello
  says_nothing,  ///< not even its hello
  speaks_other,  ///< its hello has another version of the protocol
  is_odd,        ///< its hello names its host by a number
  dies_in_round,
  dies_after_an_answer,  ///< answers only the first job of a round
  hangs_in_round,
  talks_nonsense,      ///< answers a round with a line that is not a message
  waits_for_its_host,  ///< waits 0.2 seconds, then answers
  waits_in_queue,      ///< reports that its launcher is queued, and says hello after 0.2 seconds
  stays_in_queue,      ///< reports that its launcher is queued, and says nothing
  ends_when_idle,      ///< after its first round
};

/// The runners of a fleet, in memory. Must outlive the runners it starts.
class FakeRunners {
 public:
  explicit FakeRunners(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  /// Returns the function with which a fleet starts its runners.
  measure::StartRunner starter();

  /// The behavior of the next runners of each slot. Runners after the last entry are good.
  std::vector<std::deque<Manner>> manners{4};
  /// Returns the answer to a job.
  std::function<protocol::Message(protocol::Job const&)> answer;
  /// The slots of all started runners, in the order of the starts.
  std::vector<std::size_t> started;
  /// The slots of all runners that no longer exist, in the order of their ends.
  std::shared_ptr<std::vector<std::size_t>> ended = std::make_shared<std::vector<std::size_t>>();
  /// The error output of runners that are dead, and of their launchers.
  std::string last_words = "node failure";

  /// A round that a runner got: the ids of its jobs, its seed and its mode.
  struct Begun {
    std::vector<std::string> jobs;
    std::uint32_t seed = 0;
    bool one_by_one = false;
  };

  /// All rounds, in the order in which runners got them.
  std::vector<Begun> rounds;

 private:
  class Runner;

  boost::asio::any_io_executor executor_;
};

}  // namespace torchwatch::fakes
