#include "runner/worker/failure.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <c10/util/Exception.h>

#include "runner/suite/description/description.h"

namespace torchwatch::worker {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Returns the error text without LibTorch's backtrace, which follows in more lines.
std::string first_line_of(std::exception const& problem) {
  std::string const text = problem.what();
  return text.substr(0, text.find('\n'));
}

/// True for errors that PyTorch or a model has only with precisions other than fp32: mixed types,
/// values out of the range of 16 bits, training that ends in NaN.
bool is_about_precision(std::string_view text, protocol::Job const& job) {
  return job.measure.precision != "fp32" && has_any(text,
                                                    {"not implemented for",
                                                     "expected scalar type",
                                                     "same dtype",
                                                     "to have the same type as",
                                                     "unsafe to autocast",
                                                     "without overflow",
                                                     "is no distribution",
                                                     "device-side assert triggered"});
}

/// True when an operator does not exist for tensors on a GPU. For a CPU benchmark the same error is
/// a defect of the build.
bool is_about_device(c10::Error const& problem, protocol::Job const& job) {
  return job.benchmark.find("-cpu-") == std::string::npos &&
         dynamic_cast<c10::NotImplementedError const*>(&problem) != nullptr;
}

/// True for texts of cudaGetErrorString that mean a fault of the device (CUDA Runtime API, "Data
/// types used by CUDA Runtime"). Faults of the program are excluded, such as an illegal address or
/// a stack that is too small.
bool is_trouble_of_device(std::string_view text) {
  return has_any(text,
                 {"uncorrectable ECC error encountered",
                  "uncorrectable NVLink error detected",
                  "is/are busy or unavailable",
                  "the launch timed out and was terminated",
                  "driver shutting down",
                  "system not yet initialized",
                  "GPU is lost"});
}

/// Returns advice for the owner of the host; empty when there is none.
std::string remedy_for(std::string_view text) {
  return has_any(text, {"is/are busy or unavailable"})
             ? "; its compute mode must be Default: two workers share it"
             : "";
}

std::string code_of(c10::Error const& problem, protocol::Job const& job) {
  std::string const text = problem.what_without_backtrace();
  if (dynamic_cast<c10::OutOfMemoryError const*>(&problem) != nullptr ||
      has_any(text, {"CUDA out of memory", "CUDA error: out of memory"}))
    return "device_memory";
  if (is_about_precision(text, job) || is_about_device(problem, job)) return "unsupported";
  return is_trouble_of_device(text) ? "device" : "failed";
}

}  // namespace

protocol::Failure failure_of(protocol::Job const& job, std::exception const& problem) {
  if (dynamic_cast<Unsupported const*>(&problem) != nullptr)
    return {job.id, "unsupported", problem.what()};
  if (dynamic_cast<NoDevice const*>(&problem) != nullptr) return {job.id, "device", problem.what()};
  auto text = job.benchmark + ": " + first_line_of(problem);
  if (dynamic_cast<suite::BadDescription const*>(&problem) != nullptr)
    return {job.id, "unsupported", std::move(text)};
  auto const* const of_torch = dynamic_cast<c10::Error const*>(&problem);
  if (of_torch == nullptr) return {job.id, "failed", std::move(text)};
  auto code = code_of(*of_torch, job);
  if (code == "unsupported") text += " (precision " + job.measure.precision + ")";
  text += remedy_for(text);
  return {job.id, std::move(code), std::move(text)};
}

}  // namespace torchwatch::worker
