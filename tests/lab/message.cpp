#include "tests/lab/message.h"

namespace torchwatch::lab {

namespace {

std::string const pull_requests = "https://github.com/pytorch/pytorch/pull/";

std::string mention(std::string const& login) {
  return "https://github.com/" + login;
}

std::string titled(Step const& step, Change const& change) {
  return change.subject + " (#" + std::to_string(step.pull_request) + ")";
}

std::string revert_body(Step const& step, CommitSha const& reverted) {
  return "This reverts commit " + reverted.hex + ".\n\nReverted " + pull_requests +
         std::to_string(step.pull_request) + " on behalf of " + mention(step.approved_by.front()) +
         " due to " + step.reason + "\n";
}

}  // namespace

std::string subject_of(Step const& step, Change const& change) {
  return step.reverts ? "Revert \"" + titled(step, change) + "\"" : titled(step, change);
}

std::string message_of(Step const& step, Change const& change, CommitSha const& reverted) {
  auto message = subject_of(step, change) + "\n\n";
  if (step.reverts) return message + revert_body(step, reverted);
  if (!change.body.empty()) message += change.body + "\n\n";
  if (!step.stack.empty()) message += "ghstack-source-id: " + step.stack + "\n";
  message += "Pull Request resolved: " + pull_requests + std::to_string(step.pull_request) + "\n";
  message += "Approved by: ";
  for (auto const& login : step.approved_by) {
    if (&login != &step.approved_by.front()) message += ", ";
    message += mention(login);
  }
  return message + "\n";
}

std::string nightly_message(std::chrono::sys_days day, CommitSha const& trunk) {
  return text_of(day) + " nightly release (" + trunk.hex + ")\n";
}

}  // namespace torchwatch::lab
