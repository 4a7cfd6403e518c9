#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "storage/domain/job.h"
#include "tests/years/chance.h"
#include "tests/years/hosts.h"
#include "tests/years/suite.h"

namespace torchwatch::years {

/// A build of a round, and what it truly does.
struct Runner {
  Campaign campaign;
  CommitSha commit;
  std::string version;
  std::function<double(TrueSeries const&)> level;
  bool is_broken = false;  ///< it crashes
};

/// When a round is measured.
struct Occasion {
  Timestamp at{};
  bool is_brief = false;  ///< one run a process, of what is soon forgotten
};

/// Worker processes of one night that are made up: the true level, the pace of the host and noise.
class Processes {
 public:
  Processes(Suite const& suite, Hosts const& hosts, std::size_t night);

  Suite const& suite() const { return suite_; }

  /// One round of a benchmark: a process of each build, in their order.
  std::vector<JobOutcome> round(Measured const& benchmark,
                                std::vector<Runner> const& builds,
                                int number,
                                Occasion const& when,
                                Chance& chance) const;

 private:
  struct Host {
    std::string fingerprint;
    double pace = 1;
  };

  Suite const& suite_;
  std::map<std::string, Host> hosts_;  // by fleet
};

}  // namespace torchwatch::years
