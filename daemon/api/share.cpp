#include "daemon/api/share.h"

#include <boost/math/distributions/binomial.hpp>

namespace torchwatch::api {

Json share_of(std::int64_t false_alarms, std::int64_t of) {
  using Binomial = boost::math::binomial_distribution<double>;
  constexpr double one_side = 0.025;
  auto const trials = static_cast<double>(of);
  auto const seen = static_cast<double>(false_alarms);
  bool const any = of > 0;
  Json json;
  json["of"] = of;
  json["false_alarms"] = false_alarms;
  json["share"] = any ? Json(seen / trials) : Json(nullptr);
  json["low"] = any ? Json(Binomial::find_lower_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  json["high"] =
      any ? Json(Binomial::find_upper_bound_on_p(trials, seen, one_side)) : Json(nullptr);
  return json;
}

}  // namespace torchwatch::api
