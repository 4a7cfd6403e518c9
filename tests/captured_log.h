#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace torchwatch::tests {

/// Takes what this process logs while it lives.
class CapturedLog {
 public:
  CapturedLog() : before_{spdlog::default_logger()} {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }

  CapturedLog(CapturedLog const&) = delete;
  CapturedLog& operator=(CapturedLog const&) = delete;

  ~CapturedLog() { spdlog::set_default_logger(before_); }

  /// All of it. Not while another thread may log.
  std::string text() const { return text_.str(); }

  std::vector<std::string> lines_with(std::string const& word) const {
    std::vector<std::string> lines;
    std::istringstream stream{text_.str()};
    for (std::string line; std::getline(stream, line);)
      if (line.find(word) != std::string::npos) lines.push_back(line);
    return lines;
  }

 private:
  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream text_;
};

}  // namespace torchwatch::tests
