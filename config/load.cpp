#include "config/load.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "config/address.h"
#include "config/check_suites.h"
#include "config/needs.h"
#include "config/reader.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

void check_decide(DecideOptions const& decide, Complaints& complaints) {
  if (decide.min_pairs > decide.max_pairs) {
    complaints.add("decide.min_pairs",
                   found(decide.min_pairs),
                   "at most decide.max_pairs, " + found(decide.max_pairs));
  }
  if (decide.max_pairs < decide.sign_test_pairs()) {
    complaints.add("decide.max_pairs",
                   found(decide.max_pairs),
                   "at least " + found(decide.sign_test_pairs()) +
                       ": fewer cannot show a change at decide.error, " + found(decide.error));
  }
}

bool is_published(FeedKind kind) {
  return kind == FeedKind::wheels || kind == FeedKind::libtorch;
}

void check_feed(FeedOptions const& feed, Complaints& complaints) {
  if (is_published(feed.kind) == feed.path.empty()) return;
  if (feed.path.empty())
    complaints.add("feed.path", "nothing", "an existing directory");
  else
    complaints.add("feed.path",
                   found(feed.path) + " with kind " + found(to_json(feed.kind)),
                   "no path: published files are downloaded");
}

/// LibTorch archives have no Python packages.
void check_python_feed(Options const& options, Complaints& complaints) {
  if (options.feed.kind == FeedKind::libtorch && needs_python(options))
    complaints.add("feed.kind",
                   found(to_json(options.feed.kind)) + " with a suite that needs Python builds",
                   "\"wheels\", or fleets that do not run this suite");
}

void check_source(FeedOptions const& feed, SourceOptions const& source, Complaints& complaints) {
  if (source.repository.empty() && !source.recipe.empty())
    complaints.add("source", "recipe without repository", "both, repository alone, or none");
  if (source.repository.empty() && !source.remote.empty())
    complaints.add(
        "source.remote", found(source.remote) + " without source.repository", "both or no remote");
  if (feed.kind == FeedKind::git && source.recipe.empty()) {
    complaints.add("feed.kind",
                   "\"git\" without source.recipe",
                   "\"directory\", or a recipe that builds what the branch names");
  }
}

void check_rebuilds(DecideOptions const& decide,
                    SourceOptions const& source,
                    Complaints& complaints) {
  if (decide.aa_rebuilds > 0 && source.recipe.empty())
    complaints.add("decide.aa_rebuilds",
                   found(decide.aa_rebuilds) + " without source.recipe",
                   "0, or a recipe that builds commits");
}

/// True when others could change the files of `place` on their way: http from another host.
bool is_open_to_others(std::string const& place) {
  static std::regex const this_host{
      R"(http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?/.*)"};
  return place.starts_with("http://") && !std::regex_match(place, this_host);
}

void check_artifacts(SourceOptions const& source, Complaints& complaints) {
  auto const& digests = source.artifacts_sha256;
  if (!digests.empty() && !source.artifacts.starts_with("http"))
    complaints.add("source.artifacts_sha256",
                   found(digests) + " without an archive in source.artifacts",
                   "both or no SHA-256");
  if (is_open_to_others(source.artifacts) && (digests.empty() || is_open_to_others(digests)))
    complaints.add("source.artifacts",
                   found(source.artifacts) + ", which others can change on the way",
                   "https, or source.artifacts_sha256 by https or as a path");
}

/// Recipes and workers run code of others, so they must not get the token.
void check_environment(std::string const& path,
                       std::vector<std::string> const& names,
                       std::string const& secret,
                       Complaints& complaints) {
  if (std::ranges::count(names, secret) > 0)
    complaints.add(
        path, found(secret) + ", which is github.token_env", "variables that hold no token");
}

/// Checks that each slot of a fleet has its own host or device.
void check_slots(FleetOptions const& fleet, std::string const& path, Complaints& complaints) {
  auto const& devices = fleet.devices;
  bool const has_all = std::ranges::count(devices, all_devices) > 0;
  auto const slots = static_cast<std::size_t>(fleet.slots);
  if (!devices.empty() && fleet.device == Device::cpu)
    complaints.add(
        path + ".devices", found(devices.front()) + " with device cpu", "none, or device cuda");
  else if (has_all && devices.size() > 1)
    complaints.add(path + ".devices",
                   found(std::string{all_devices}) + " and other devices",
                   "one or the other");
  else if (!devices.empty() && !has_all && slots != devices.size())
    complaints.add(path + ".devices",
                   found(devices.size()) + " of them for slots " + found(fleet.slots),
                   "one for each slot");
  else if (slots > 1 && fleet.launcher.empty() && devices.empty())
    complaints.add(path + ".slots",
                   found(fleet.slots),
                   "1, or a launcher that spreads the runners over hosts, or devices");
}

void check_fleets(std::vector<FleetOptions> const& fleets, Complaints& complaints) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < fleets.size(); ++i) {
    auto const path = "fleets[" + std::to_string(i) + "]";
    if (!names.insert(fleets[i].name).second) {
      complaints.add(
          path + ".name", found(fleets[i].name) + " again", "a name that no other fleet has");
    }
    check_slots(fleets[i], path, complaints);
  }
}

/// Checks that each earlier name belongs to one fleet, and to none that still exists.
void check_earlier_names(std::vector<FleetOptions> const& fleets, Complaints& complaints) {
  std::set<std::string> names;
  for (auto const& fleet : fleets)
    names.insert(fleet.name);
  for (std::size_t i = 0; i < fleets.size(); ++i)
    for (auto const& earlier : fleets[i].formerly)
      if (!names.insert(earlier).second)
        complaints.add("fleets[" + std::to_string(i) + "].formerly",
                       found(earlier) + ", which another fleet has",
                       "a name that no fleet has any more");
}

void check_tls(HttpOptions const& http, Complaints& complaints) {
  auto const& tls = http.tls;
  if (tls.certificate.empty() != tls.key.empty())
    complaints.add("http.tls",
                   tls.key.empty() ? "certificate without key" : "key without certificate",
                   "both or none");
  if (tls.is_on() && !socket_path(http.address).empty())
    complaints.add("http.tls",
                   "files, and http.address " + found(http.address),
                   "none: connections to a Unix socket stay on this machine");
}

void check_app(GithubOptions const& github, Complaints& complaints) {
  auto const& app = github.app;
  if (!app.is_on() && (!app.private_key_file.empty() || app.installation_id != 0))
    complaints.add("github.app", "no client_id", "the client ID of the App next to its key");
  if (app.is_on() && !github.token_file.empty())
    complaints.add("github.app", "an App, and github.token_file", "one of them");
}

/// Checks that a service for other machines has a token and HTTPS, unless the operator allows
/// otherwise.
void check_openness(HttpOptions const& http, Complaints& complaints) {
  if (http.insecure || is_on_this_machine(http.address)) return;
  std::string lacking;
  if (http.read_token_file.empty()) lacking = "http.read_token_file";
  if (!http.tls.is_on()) lacking += lacking.empty() ? "http.tls" : " and http.tls";
  if (lacking.empty()) return;
  complaints.add("http.address",
                 found(http.address) + ", which other machines reach, without " + lacking,
                 "an address that only this machine reaches (127.0.0.1, ::1, unix:/PATH), both "
                 "http.read_token_file and http.tls, or \"insecure\": true");
}

void check_publish(Options const& options, Complaints& complaints) {
  auto const& [webhook, email, comments] = options.publish;
  if (!webhook.url.empty() && webhook.secret_file.empty())
    complaints.add("publish.webhook",
                   "url without secret_file",
                   "both or none: receivers check the signature of each body");
  if (!email.to.empty() && email.from.empty())
    complaints.add("publish.email", "to without from", "both or none");
  std::error_code problem;
  if (!email.to.empty() && !fs::exists(email.sendmail, problem))
    complaints.add("publish.email.sendmail", found(email.sendmail), "an existing program");
  if (comments && options.github.repository.empty())
    complaints.add("publish.pull_request_comment",
                   "true without github.repository",
                   "false, or the repository whose token comments");
}

/// Checks the rules for several fields. Skips fields that have a complaint already.
void check_together(Options const& options, Complaints& complaints) {
  if (!complaints.about("decide")) check_decide(options.decide, complaints);
  if (!complaints.about("feed")) check_feed(options.feed, complaints);
  bool const has_suites =
      !complaints.about("suite") && !complaints.about("suites") && !complaints.about("fleets");
  if (has_suites && !complaints.about("feed")) check_python_feed(options, complaints);
  if (!complaints.about("source") && !complaints.about("feed.kind"))
    check_source(options.feed, options.source, complaints);
  if (!complaints.about("source") && !complaints.about("decide"))
    check_rebuilds(options.decide, options.source, complaints);
  if (!complaints.about("source")) check_artifacts(options.source, complaints);
  auto const& secret = options.github.token_env;
  if (!complaints.about("source") && !complaints.about("github"))
    check_environment("source.environment", options.source.environment, secret, complaints);
  if (!complaints.about("fleets") && !complaints.about("github"))
    for (std::size_t i = 0; i < options.fleets.size(); ++i)
      check_environment("fleets[" + std::to_string(i) + "].environment",
                        options.fleets[i].environment,
                        secret,
                        complaints);
  if (!complaints.about("suite") && !complaints.about("suites")) check_suites(options, complaints);
  if (!complaints.about("publish") && !complaints.about("github"))
    check_publish(options, complaints);
  if (!complaints.about("github")) check_app(options.github, complaints);
  if (!complaints.about("http")) check_tls(options.http, complaints);
  if (!complaints.about("http")) check_openness(options.http, complaints);
  if (!complaints.about("fleets")) check_earlier_names(options.fleets, complaints);
  if (!complaints.about("fleets")) check_fleets(options.fleets, complaints);
}

}  // namespace

Result<Options> load(fs::path const& file) {
  std::ifstream stream{file};
  std::error_code problem;
  if (!stream || fs::is_directory(file, problem))
    return Error{ErrorCode::not_found, file.string() + ": cannot be read"};
  std::string const text{std::istreambuf_iterator<char>{stream}, {}};

  if (text.empty())
    return Error{ErrorCode::invalid_argument,
                 file.string() + ":1:1: found an empty file, allowed is an object"};

  auto const locations = locate(file.string(), text);
  if (!locations) return locations.error();
  Complaints complaints{file.string(), *locations};
  auto const json = Json::parse(text, nullptr, true, true);
  if (!json.is_object()) {
    complaints.add("", found(json), "an object");
    return complaints.error();
  }

  for (auto const& path : locations->duplicates)
    complaints.add(path, "a key for the second time", "once");

  Options options;
  auto const directory = fs::absolute(file, problem).parent_path();
  Reader reader{json, "", directory, complaints};
  describe(reader, options);
  reader.finish();
  if (!complaints.about("suites")) complete_suites(json, directory, options);
  check_together(options, complaints);
  if (!complaints.empty()) return complaints.error();
  return options;
}

}  // namespace torchwatch::config
