#pragma once

#include <string>

#include "runner/protocol.h"

namespace torchwatch::fakes {

/// Misbehaves instead of answering `job`. `behaviour`:
///
///     crash        dies of SIGSEGV                  garbage      prints a line that is not JSON
///     exit         prints why, ends with status 3   binary       prints bytes that are not text
///     silent_exit  ends with status 0               huge_line    prints a line longer than 8 MiB
///     hang         never answers                    wrong_id     answers another job
///     hog          fills up to 2 GiB, then hangs    two_answers  answers twice
///     fork_hog     its child does this              unsupported  answers that it is unsupported
///     deep         answers 60,000 levels deep       long_text    has a version of 5,000 bytes
///     no_metrics   answers without any              negative     reports a negative latency
///     other        answers for another benchmark    many         has 100,000 samples
///     mute         closes its output and hangs      flood        reports progress 1,000 times,
///                                                                then answers
///     ecc          reports broken GPU memory        no_room      reports too little GPU memory;
///                                                                works if it is alone
///
/// Returns false when `behaviour` is not in this list. Returns true if the process can go on.
bool misbehave(std::string const& behaviour, protocol::Job const& job);

/// Writes one message to standard output.
void say(protocol::Message const& message);

}  // namespace torchwatch::fakes
