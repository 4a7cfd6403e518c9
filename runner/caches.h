#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "runner/process/scratch_directory.h"
#include "runner/protocol.h"
#include "runner/round.h"
#include "storage/base/result.h"

/// Compile caches of builds. A job of its own fills the caches of a build, benchmark, kind of host
/// and number of threads, twice ("a" and "b"). Filled caches never change: each process gets a
/// private copy, and no process of another build sees it.
namespace torchwatch::runner {

/// The directory of a worker's private caches in its sandbox.
inline constexpr auto caches_in_sandbox = "/tmp/torchwatch-caches";

/// True when the service keeps caches for the job.
bool keeps_caches(protocol::Job const& job);

/// Returns the job that fills the caches of `job`. It has one run, alone, and few iterations for
/// the leak, because its result is discarded.
protocol::Job filling(protocol::Job job);

/// Returns the directory of the job's filled caches, which may not exist:
/// `DIRECTORY/BENCHMARK/KIND-FILL`. KIND is a digest of the host's kind and of what the job sets:
/// threads, precision, variables. The host's kind is the model and the features of its CPUs, and
/// the model and the driver of its GPUs.
std::filesystem::path filled_caches_of(protocol::Job const& job,
                                       WorkerEnvironment const& surroundings);

/// Returns a new directory with a subdirectory for each of the job's variables: a copy of the
/// caches in `filled`, or empty ones if the job fills them. Fails with unavailable without a place
/// for them, and with internal when they cannot be copied.
boost::asio::awaitable<Result<process::ScratchDirectory>> private_caches(
    protocol::Job job, std::filesystem::path filled);

/// Stores the caches in the directory `from` as `filled`, all or nothing, also after a power
/// failure. Keeps the stored ones if another runner was faster. Its worker must be dead. Fails with
/// refused when they have more than `most_bytes`, and with internal when the disk fails.
boost::asio::awaitable<Result<>> store_caches(std::filesystem::path from,
                                              std::filesystem::path filled,
                                              std::int64_t most_bytes);

/// Deletes filled caches, so that the next job fills them again.
void discard_caches(std::filesystem::path const& filled);

}  // namespace torchwatch::runner
