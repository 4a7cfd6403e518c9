#pragma once

#include <string_view>

/// What reads bytes that strangers made, or judges what their builds give, one function each. It
/// takes any input, and throws when a property does not hold, Broken or whatever our code let
/// through; crashes and leaks are the sanitizers' to see. Not thread-safe: each keeps what is dear
/// to make.
namespace torchwatch::fuzz {

/// A line of this list and a file of the same name make a target; CMakeLists.txt has the names,
/// too.
using Target = void (*)(std::string_view input);

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
