#pragma once

#include <string>

#include "runner/protocol.h"

namespace torchwatch::fakes {

/// Does what `behaviour` says instead of answering `job`:
///
///     crash        dies of SIGSEGV                  garbage      prints a line that is not JSON
///     exit         says why, ends with status 3     binary       prints bytes that are not text
///     silent_exit  ends with status 0               huge_line    prints a line longer than 8 MiB
///     hang         never answers                    wrong_id     answers another job
///     hog          fills up to 2 GiB, then hangs    two_answers  answers twice
///     fork_hog     its grandchild does              unsupported  answers that it cannot
///     deep         answers 60,000 levels deep       long_text    says what it is in 5,000 bytes
///     no_metrics   answers without any              negative     took less than no time
///     other        answers of another benchmark     many         has 100,000 samples
///     mute         closes its output and hangs      flood        tells of its progress 1,000
///                                                                times, then answers
///     ecc          says that its GPU's memory is    no_room      finds no room on its GPU beside
///                  broken                                        others; alone it is "ok"
///
/// Returns false when `behaviour` is none of these, and true after those that leave the process as
/// it was.
bool misbehave(std::string const& behaviour, protocol::Job const& job);

/// Writes one message to standard output.
void say(protocol::Message const& message);

}  // namespace torchwatch::fakes
