#include "storage/domain/benchmark.h"

namespace torchwatch {

std::string_view to_string(Device device) {
  switch (device) {
    case Device::cpu:
      return "cpu";
    case Device::cuda:
      return "cuda";
  }
  return "unknown";
}

std::optional<Device> parse_device(std::string_view text) {
  for (auto const device : {Device::cpu, Device::cuda})
    if (text == to_string(device)) return device;
  return std::nullopt;
}

std::string name_of(Benchmark const& benchmark) {
  std::string name = "test_";
  name.append(to_string(benchmark.test)).append("[").append(benchmark.model).append("-");
  name.append(to_string(benchmark.device)).append("-").append(benchmark.backend).append("]");
  return name;
}

std::optional<Benchmark> parse_benchmark(std::string_view name) {
  constexpr std::string_view prefix = "test_";
  auto const open = name.find('[');
  if (!name.starts_with(prefix) || !name.ends_with(']') || open == std::string_view::npos)
    return std::nullopt;
  auto const test = parse_test(name.substr(prefix.size(), open - prefix.size()));
  auto const inside = name.substr(open + 1, name.size() - open - 2);
  auto const first = inside.find('-');
  auto const second = first == std::string_view::npos ? first : inside.find('-', first + 1);
  if (!test || first == 0 || second == std::string_view::npos) return std::nullopt;
  auto const device = parse_device(inside.substr(first + 1, second - first - 1));
  auto const backend = inside.substr(second + 1);
  if (!device || backend.empty() || backend.find('-') != std::string_view::npos)
    return std::nullopt;
  return Benchmark{std::string{inside.substr(0, first)}, *test, *device, std::string{backend}};
}

std::string name_of(Series const& series) {
  return name_of(series.benchmark).append("_").append(to_string(series.metric));
}

}  // namespace torchwatch
