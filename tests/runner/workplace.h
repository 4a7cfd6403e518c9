#pragma once

#include <filesystem>
#include <string>

#include <boost/asio/io_context.hpp>

#include "runner/process/sandbox.h"
#include "runner/protocol.h"

namespace torchwatch::tests {

/// A prefix whose script.json holds one benchmark for each behaviour of the scripted worker; gone
/// with this.
class Workplace {
 public:
  explicit Workplace(std::filesystem::path const& parent = std::filesystem::temp_directory_path());
  ~Workplace();
  Workplace(Workplace const&) = delete;
  Workplace& operator=(Workplace const&) = delete;

  std::string const& prefix() const { return prefix_; }

  /// A job for the scripted worker, with limits that suit a test. `behaviour` becomes its id too.
  protocol::Job job(std::string const& behaviour) const;

  /// Puts a shell script under `name` into the prefix.
  void write_program(std::string const& name, std::string const& script) const;

 private:
  std::string prefix_;
};

/// Of this host, which must have some.
process::Isolation best_isolation(boost::asio::io_context& loop);

/// "test_eval[BEHAVIOUR-cpu-eager]"
std::string benchmark_of(std::string const& behaviour);

}  // namespace torchwatch::tests
