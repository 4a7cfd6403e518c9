#include "misbehaviour.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

namespace torchwatch::fakes {

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using protocol::Job;

void print(std::string const& text) {
  std::cout << text << std::flush;
}

[[noreturn]] void hang(Job const&) {
  for (;;)
    std::this_thread::sleep_for(1h);
}

void close_output(Job const& job) {
  ::close(STDOUT_FILENO);
  hang(job);
}

/// Allocates memory so slowly that a memory limit can stop it, and at most 2 GiB, so that a host
/// without a limit survives.
[[noreturn]] void hog(Job const& job) {
  constexpr std::size_t step = std::size_t{16} << 20;
  constexpr std::size_t most = std::size_t{2} << 30;
  std::vector<std::unique_ptr<char[]>> held;
  for (std::size_t total = 0; total < most; total += step) {
    held.push_back(std::make_unique_for_overwrite<char[]>(step));
    std::memset(held.back().get(), 1, step);
    std::this_thread::sleep_for(5ms);
  }
  hang(job);
}

void fork_hog(Job const& job) {
  if (::fork() == 0) hog(job);
  hang(job);
}

[[noreturn]] void crash(Job const&) {
  // A sanitizer would handle the signal and end with an exit status.
  std::signal(SIGSEGV, SIG_DFL);
  std::cerr << "about to dereference nothing" << std::endl;
  std::raise(SIGSEGV);
  std::abort();
}

void exit_with_reason(Job const&) {
  std::cerr << "out of luck\nreally" << std::endl;
  std::_Exit(3);
}

void exit_silently(Job const&) {
  std::_Exit(0);
}

void print_garbage(Job const&) {
  print("Downloading weights... 100%\n");
}

void print_binary(Job const&) {
  print("\x00\xff\x1b[31m\x07\n"s);
}

void print_huge_line(Job const&) {
  print(std::string(protocol::max_line_bytes + 2, 'x') + '\n');
}

protocol::Outcome good_outcome(Job const& job) {
  protocol::Outcome outcome;
  outcome.id = job.id;
  outcome.benchmark = job.benchmark;
  outcome.metrics["latency"] = {2, {2, 2}, {}};
  return outcome;
}

void answer(Job const& job, std::string const& id) {
  auto outcome = good_outcome(job);
  outcome.id = id;
  say(outcome);
}

void answer_deeply(Job const& job) {
  constexpr int depth = 60'000;
  print(R"({"type":"result","id":")" + job.id + R"(","fingerprint":)" + std::string(depth, '[') +
        std::string(depth, ']') + "}\n");
}

void answer_at_length(Job const& job) {
  auto outcome = good_outcome(job);
  outcome.pytorch_version = std::string(5000, '1');
  say(outcome);
}

void answer_nothing(Job const& job) {
  auto outcome = good_outcome(job);
  outcome.metrics.clear();
  say(outcome);
}

void answer_negatively(Job const& job) {
  auto outcome = good_outcome(job);
  outcome.metrics["latency"].value = -1;
  say(outcome);
}

void answer_for_other_benchmark(Job const& job) {
  auto outcome = good_outcome(job);
  outcome.benchmark = "test_eval[bert-cpu-eager]";
  say(outcome);
}

void answer_with_many_samples(Job const& job) {
  auto outcome = good_outcome(job);
  outcome.metrics["latency"].samples.assign(100'000, 2);
  say(outcome);
}

void flood(Job const& job) {
  for (int i = 0; i < 1000; ++i)
    say(protocol::Progress{job.id, std::string(1000, 'x'), i, 1000});
  answer(job, job.id);
}

void answer_other_job(Job const& job) {
  answer(job, "another");
}

void answer_twice(Job const& job) {
  answer(job, job.id);
  answer(job, job.id);
}

void refuse(Job const& job) {
  say(protocol::Failure{job.id, "unsupported", "the script says so"});
}

void report_broken_device(Job const& job) {
  say(protocol::Failure{job.id, "device", "CUDA error: uncorrectable ECC error encountered"});
}

void lack_device_memory(Job const& job) {
  say(protocol::Failure{job.id, "device_memory", "CUDA out of memory. Tried to allocate 2 GiB"});
}

std::map<std::string, void (*)(Job const&)> const behaviours{
    {"binary", print_binary},
    {"crash", crash},
    {"deep", answer_deeply},
    {"ecc", report_broken_device},
    {"exit", exit_with_reason},
    {"flood", flood},
    {"fork_hog", fork_hog},
    {"garbage", print_garbage},
    {"hang", hang},
    {"hog", hog},
    {"huge_line", print_huge_line},
    {"long_text", answer_at_length},
    {"many", answer_with_many_samples},
    {"mute", close_output},
    {"negative", answer_negatively},
    {"no_metrics", answer_nothing},
    {"no_room", lack_device_memory},
    {"other", answer_for_other_benchmark},
    {"silent_exit", exit_silently},
    {"two_answers", answer_twice},
    {"unsupported", refuse},
    {"wrong_id", answer_other_job},
};

}  // namespace

void say(protocol::Message const& message) {
  print(protocol::encode(message) + '\n');
}

bool misbehave(std::string const& behaviour, Job const& job) {
  auto const found = behaviours.find(behaviour);
  if (found == behaviours.end()) return false;
  found->second(job);
  return true;
}

}  // namespace torchwatch::fakes
