#pragma once

#include <string_view>

/// Targets: one function for each reader of untrusted input or judge of untrusted measurements. A
/// target accepts any input. It throws Broken when a property does not hold, or any exception that
/// our code does not catch. Sanitizers find crashes and leaks. Not thread-safe, because targets
/// cache objects that are slow to create.
namespace torchwatch::fuzz {

/// A target is a line of this list and a file with its name. CMakeLists.txt lists the names, too.
using Target = void (*)(std::string_view input);

void comment(std::string_view input);
void commit_message(std::string_view input);
void comparison(std::string_view input);
void configuration(std::string_view input);
void description(std::string_view input);
void fetch_line(std::string_view input);
void github_answer(std::string_view input);
void http_request(std::string_view input);
void index_page(std::string_view input);
void manifest(std::string_view input);
void markdown(std::string_view input);
void package(std::string_view input);
void printable_text(std::string_view input);
void runner_line(std::string_view input);
void search(std::string_view input);
void time_text(std::string_view input);
void unpack(std::string_view input);
void url(std::string_view input);
void version(std::string_view input);
void wheel(std::string_view input);
void worker_line(std::string_view input);

}  // namespace torchwatch::fuzz
