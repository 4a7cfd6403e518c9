#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace torchwatch::tests {

/// A logger that captures the log of this process while the object exists.
class CapturedLog {
 public:
  CapturedLog() : before_{spdlog::default_logger()} {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }

  CapturedLog(CapturedLog const&) = delete;
  CapturedLog& operator=(CapturedLog const&) = delete;

  ~CapturedLog() { spdlog::set_default_logger(before_); }

  /// Returns the whole log. No other thread may log during the call.
  std::string text() const { return text_.str(); }

  /// Returns the lines that contain `word`. No other thread may log during the call.
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
