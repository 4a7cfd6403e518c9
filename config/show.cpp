#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/describe.h"
#include "config/load.h"
#include "config/value.h"

namespace torchwatch::config {
namespace {

/// The visitor that writes all fields as JSON.
struct Shower {
  Json json = Json::object();

  template <Scalar T>
  void operator()(char const* key, T& field, Rule const&) {
    json[key] = to_json(field);
  }

  template <class T>
  void operator()(char const* key, std::vector<T>& field, Rule const&) {
    auto& list = json[key] = Json::array();
    for (auto& element : field) {
      if constexpr (Scalar<T>)
        list.push_back(to_json(element));
      else
        list.push_back(object(element));
    }
  }

  template <class T>
  void operator()(char const* key, std::map<std::string, T>& field, Rule const&) {
    auto& members = json[key] = Json::object();
    for (auto& [name, element] : field) {
      if constexpr (Scalar<T>)
        members[name] = to_json(element);
      else
        members[name] = object(element);
    }
  }

  template <Section T>
  void operator()(char const* key, T& field, Rule const&) {
    json[key] = object(field);
  }

  template <Section T>
  static Json object(T& field) {
    Shower shower;
    describe(shower, field);
    return std::move(shower.json);
  }
};

}  // namespace

nlohmann::ordered_json show(Options options) {
  return Shower::object(options);
}

}  // namespace torchwatch::config
