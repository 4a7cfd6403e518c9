#pragma once

#include <filesystem>
#include <string>

#include <boost/asio/io_context.hpp>

#include "runner/process/sandbox.h"
#include "runner/protocol.h"

namespace torchwatch::tests {

/// A prefix whose script.json has one benchmark for each behaviour of the scripted worker. The
/// destructor removes it.
class Workplace {
 public:
  explicit Workplace(std::filesystem::path const& parent = std::filesystem::temp_directory_path());
  ~Workplace();
  Workplace(Workplace const&) = delete;
  Workplace& operator=(Workplace const&) = delete;

  std::string const& prefix() const { return prefix_; }

  /// Returns a job for the scripted worker, with limits for tests. Its id is `behaviour`.
  protocol::Job job(std::string const& behaviour) const;

  /// Writes a shell script `name` into the prefix.
  void write_program(std::string const& name, std::string const& script) const;

 private:
  std::string prefix_;
};

/// Returns the best isolation of this host, which must have one.
process::Isolation best_isolation(boost::asio::io_context& loop);

/// Returns "test_eval[BEHAVIOUR-cpu-eager]".
std::string benchmark_of(std::string const& behaviour);

}  // namespace torchwatch::tests
