#include "daemon/cli/api_client.h"

#include <memory>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include "config/load.h"
#include "daemon/api/routes.h"
#include "daemon/cli/remote.h"
#include "daemon/service/open_store.h"

namespace torchwatch::cli {
namespace {

using nlohmann::ordered_json;

/// The API without a socket, on the configured database.
class OwnApi {
 public:
  OwnApi(storage::Store store, config::Options const& options)
      : store_{std::move(store)},
        api_{store_, clock_, health_, counters_, {}, options_of(options)} {}

  Result<std::string> get(std::string const& path) {
    boost::asio::io_context loop{1};
    http::HttpRequest request{"GET", path, {}, ""};
    auto answer =
        boost::asio::co_spawn(loop, api_.handle(std::move(request)), boost::asio::use_future);
    loop.run();
    return body_of(answer.get());
  }

 private:
  static api::ApiOptions options_of(config::Options const& options) {
    api::ApiOptions result;
    result.decide = options.decide;
    result.retention = builds::retention_policy_of(options);
    result.fleets = options.fleets;
    return result;
  }

  storage::Store store_;
  SystemClock clock_;
  api::SharedHealth health_;
  metrics::Counters counters_;
  api::Api api_;
};

}  // namespace

Result<ApiClient> ApiClient::of(std::string const& server,
                                std::string const& token_file,
                                Invocation const& invocation) {
  if (!server.empty()) {
    auto const there = Server::at(server, token_file);
    if (!there) return there.error();
    return ApiClient{[there = *there](std::string const& path) {
      return there.get_text(path);
    }};
  }
  auto const options = config::load(invocation.config_file);
  if (!options) return options.error();
  auto store = storage::Store::open_reader(service::store_file(*options));
  if (!store) return store.error();
  auto const own = std::make_shared<OwnApi>(std::move(*store), *options);
  return ApiClient{[own](std::string const& path) {
    return own->get(path);
  }};
}

Result<std::string> ApiClient::get_text(std::string const& path) const {
  return ask_(path);
}

Result<ordered_json> ApiClient::get(std::string const& path) const {
  return parsed(ask_(path));
}

Result<ordered_json> ApiClient::get_all(std::string const& path) const {
  constexpr int page = 500;
  auto const separator = path.find('?') == std::string::npos ? "?" : "&";
  auto items = ordered_json::array();
  for (std::size_t total = 1; items.size() < total;) {
    auto const answer = get(path + separator + "limit=" + std::to_string(page) +
                            "&offset=" + std::to_string(items.size()));
    if (!answer) return answer.error();
    total = answer->at("total").get<std::size_t>();
    if (answer->at("items").empty()) break;
    items.insert(items.end(), answer->at("items").begin(), answer->at("items").end());
  }
  return Result<ordered_json>{boost::system::in_place_value, std::move(items)};
}

}  // namespace torchwatch::cli
