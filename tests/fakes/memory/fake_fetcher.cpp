#include "tests/fakes/memory/fake_fetcher.h"

#include <filesystem>
#include <fstream>

namespace torchwatch::fakes {
namespace asio = boost::asio;
namespace fs = std::filesystem;

using End = fetch::Downloaded::End;

namespace {

void write(fs::path const& file, std::string const& line) {
  fs::create_directories(file.parent_path());
  std::ofstream{file} << line << '\n';
}

void unpack(FakeFetcher::File const& file, fs::path const& directory) {
  auto const prefix = directory / "libtorch";
  write(prefix / "build-version", file.says.empty() ? file.version : file.says);
  write(prefix / "build-hash", file.release.hex);
  write(prefix / "share/cmake/Torch/TorchConfig.cmake", "");
  write(prefix / "include/torch/csrc/api/include/torch/torch.h", "");
  write(prefix / "lib/libtorch_cpu.so", "");
  fs::resize_file(prefix / "lib/libtorch_cpu.so", static_cast<std::uintmax_t>(file.bytes));
}

fetch::Offer offer_of(std::string const& url, FakeFetcher::File const& file) {
  fetch::Offer offer;
  offer.package.kind = fetch::PackageKind::libtorch;
  offer.package.version = file.version;
  offer.package.date = file.date;
  offer.url = url;
  return offer;
}

}  // namespace

asio::awaitable<Result<fetch::Fetched>> FakeFetcher::fetch(fetch::FetchOrder order) {
  fetch::Fetched fetched;
  auto const found = files.find(order.download.url);
  fetched.download.end = found == files.end() ? End::absent : End::whole;
  if (found == files.end()) co_return fetched;
  auto& file = found->second;
  if (file.trouble) co_return *file.trouble;
  fetched.download.validators.etag = file.etag;
  if (order.download.known.etag == file.etag && !file.etag.empty())
    fetched.download.end = End::unchanged;
  if (order.download.is_asked_only || fetched.download.end == End::unchanged) co_return fetched;
  ++file.downloads;
  unpack(file, order.directory);
  co_return fetched;
}

std::string FakeFetcher::page_version() const {
  std::string version;
  for (auto const& [url, file] : files)
    if (file.is_listed) version += url;
  return version;
}

asio::awaitable<Result<fetch::Index>> FakeFetcher::look_into(fetch::IndexOrder order) {
  if (trouble) co_return *trouble;
  fetch::Index index;
  index.validators.etag = page_version();
  bool const is_known = order.page.known == index.validators;
  index.end = is_known ? End::unchanged : End::whole;
  ++(is_known ? unchanged : pages);
  if (is_known) co_return index;
  for (auto const& [url, file] : files)
    if (file.is_listed) index.offers.push_back(offer_of(url, file));
  co_return index;
}

}  // namespace torchwatch::fakes
