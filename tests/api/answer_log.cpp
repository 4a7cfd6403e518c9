#include "tests/api/answer_log.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace torchwatch::tests {

void log_answer(std::string_view request, Answer const& answer) {
  auto const* const directory = std::getenv("TORCHWATCH_ANSWERS");
  if (directory == nullptr || answer.status == 0) return;
  auto const take_word = [&request] {
    auto const end = std::min(request.find(' '), request.size());
    std::string word{request.substr(0, end)};
    request.remove_prefix(std::min(end + 1, request.size()));
    return word;
  };
  nlohmann::json line;
  line["method"] = take_word();
  line["target"] = take_word();
  line["status"] = answer.status;
  line["headers"] = answer.headers;
  line["body"] = answer.body;
  std::ofstream file{directory + ("/" + std::to_string(::getpid()) + ".jsonl"), std::ios::app};
  file << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace torchwatch::tests
