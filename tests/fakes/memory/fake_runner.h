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

/// What a runner does when it is started, or given a round.
enum class Manner {
  good,          ///< answers each job
  ends_at_once,  ///< before its hello
  says_nothing,  ///< not even hello
  speaks_other,  ///< another version of the protocol
  is_odd,        ///< names its host by a number
  dies_in_round,
  hangs_in_round,
  talks_nonsense,
  waits_for_its_host,  ///< 0.2 seconds, and then answers
};

/// The runners of a fleet, in memory. Must outlive them.
class FakeRunners {
 public:
  explicit FakeRunners(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  /// How a fleet starts them.
  measure::StartRunner starter();

  /// What the next runner of a slot does; those after the last are good.
  std::vector<std::deque<Manner>> manners{4};
  /// How a job is answered.
  std::function<protocol::Message(protocol::Job const&)> answer;
  /// By slot, in the order started.
  std::vector<std::size_t> started;

  /// A round as it was begun: the ids of its jobs.
  struct Begun {
    std::vector<std::string> jobs;
    std::uint32_t seed = 0;
    bool one_by_one = false;
  };

  std::vector<Begun> rounds;

 private:
  class Runner;

  boost::asio::any_io_executor executor_;
};

}  // namespace torchwatch::fakes
