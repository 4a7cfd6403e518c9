#include "daemon/cli/config_check.h"

#include <chrono>
#include <iostream>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "config/load.h"
#include "daemon/api/json.h"
#include "daemon/async/run.h"
#include "daemon/cli/check_table.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/progress.h"
#include "daemon/net/proxy.h"
#include "daemon/setup/check.h"

namespace torchwatch::cli {
namespace {

int print_checks(std::vector<setup::Check> const& checks, bool as_json) {
  if (as_json)
    std::cout << api::text_of(json_of(checks)) << std::endl;
  else
    std::cout << table_of(checks) << std::flush;
  return are_good(checks) ? nothing_found : could_not_run;
}

setup::Check reading_of(std::string const& file, Result<config::Options> const& options) {
  setup::Check check;
  check.what = "configuration";
  check.is_good = options.has_value();
  check.found = options ? file : options.error().message;
  return check;
}

}  // namespace

int check_config(ConfigQuestion const& question, Place const& place) {
  auto const begun = std::chrono::steady_clock::now();
  auto options = config::load(question.file);
  std::vector<setup::Check> checks{reading_of(question.file, options)};
  checks.front().seconds = std::chrono::steady_clock::now() - begun;
  if (!options) {
    std::cerr << options.error().message << '\n';
    if (question.as_json) print_checks(checks, true);
    return could_not_run;
  }
  if (question.is_offline) {
    if (question.as_json) return print_checks(checks, true);
    std::cout << question.file << ": good\n";
    return nothing_found;
  }
  fill_worker(*options, place.executable);
  net::use_proxy(options->proxy);
  set_up_log(config::LogLevel::warning);
  print_fleeting_progress("asking everything that " + question.file + " names");
  boost::asio::io_context loop{1};
  auto const found = async::run_until_signal(
      loop, setup::check_world(loop.get_executor(), *options, place.executable));
  print_fleeting_progress("");
  checks.insert(checks.end(), found.begin(), found.end());
  return print_checks(checks, question.as_json);
}

}  // namespace torchwatch::cli
