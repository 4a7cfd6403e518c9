#include "daemon/api/description.h"

#include <string>

#include "daemon/api/pages.h"
#include "daemon/web/assets.h"

namespace torchwatch::api {

net::HttpResponse show_description(View const&, Call const&) {
  return text("application/json", std::string{web::find_asset("openapi.json")->bytes});
}

}  // namespace torchwatch::api
