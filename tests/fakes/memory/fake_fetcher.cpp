#include "tests/fakes/memory/fake_fetcher.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fetch/carry_out.h"
#include "fetch/package.h"
#include "storage/base/digest.h"

namespace torchwatch::fakes {
namespace asio = boost::asio;
namespace fs = std::filesystem;

using End = fetch::Downloaded::End;

namespace {

void write(fs::path const& file, std::string const& line) {
  fs::create_directories(file.parent_path());
  std::ofstream{file} << line << '\n';
}

void write_hole(fs::path const& file, std::int64_t bytes) {
  write(file, "");
  fs::resize_file(file, static_cast<std::uintmax_t>(bytes));
}

void write_metadata(fs::path const& info,
                    std::string const& name,
                    std::string const& version,
                    std::string const& tag,
                    std::vector<std::string> const& needs) {
  auto text = "Name: " + name + "\nVersion: " + version;
  for (auto const& need : needs)
    text += "\nRequires-Dist: " + need;
  write(info / "METADATA", text);
  write(info / "WHEEL", "Tag: " + tag);
}

void write_torch(fs::path const& prefix, std::int64_t bytes) {
  write(prefix / "share/cmake/Torch/TorchConfig.cmake", "");
  write(prefix / "include/torch/csrc/api/include/torch/torch.h", "");
  write_hole(prefix / "lib/libtorch_cpu.so", bytes);
}

void unpack_archive(FakeFetcher::File const& file, fs::path const& directory) {
  auto const prefix = directory / "libtorch";
  write(prefix / "build-version", file.says.empty() ? file.version : file.says);
  write(prefix / "build-hash", file.release.hex);
  write_torch(prefix, file.bytes);
  if (!file.library.empty()) write(prefix / "lib" / file.library, "");
}

void unpack_wheel(FakeFetcher::File const& file, fs::path const& directory) {
  auto const version = file.says.empty() ? file.version : file.says;
  write_metadata(directory / "torch.dist-info",
                 "torch",
                 version,
                 "cp312-cp312-manylinux_2_28_x86_64",
                 file.needs);
  write(directory / "torch/version.py",
        "__version__ = '" + version + "'\ngit_version = '" + file.release.hex + "'");
  write_torch(directory / "torch", file.bytes);
}

/// Returns "py3-none-any" for the address of foo-1.0-py3-none-any.whl.
std::string tag_of(std::string const& url) {
  auto const end = url.rfind(".whl");
  auto start = end;
  for (int words = 0; words < 3; ++words)
    start = url.rfind('-', start - 1);
  return url.substr(start + 1, end - start - 1);
}

void unpack_companion(std::string const& url,
                      FakeFetcher::CompanionWheel const& wheel,
                      fs::path const& directory) {
  auto const info = directory / (wheel.name + ".dist-info");
  write_metadata(info, wheel.name, wheel.version, tag_of(url), wheel.needs);
  if (!wheel.requires_python.empty())
    std::ofstream{info / "METADATA", std::ios::app} << "Requires-Python: " << wheel.requires_python
                                                    << '\n';
  for (auto const& file : wheel.files)
    write(directory / file, file);
  if (wheel.library.empty()) return;
  write(directory / "nvidia/__init__.py", "");
  write_hole(directory / wheel.library, wheel.bytes);
}

/// Returns the digest of the contents that a download gets.
std::string digest_of(FakeFetcher::File const& file) {
  if (!file.sha256.empty()) return file.sha256;
  Sha256 digest;
  digest.add(file.cached_etag.empty() ? file.etag : file.cached_etag);
  return digest.hex();
}

fetch::Offer offer_of(std::string const& url, FakeFetcher::File const& file) {
  fetch::Offer offer;
  auto const package = fetch::parse_package(url.substr(url.rfind('/') + 1));
  offer.package = package.value_or(fetch::Package{});
  offer.package.version = file.version;
  offer.package.date = file.date;
  offer.url = url;
  offer.sha256 = file.listed_sha256;
  return offer;
}

}  // namespace

asio::awaitable<Result<fetch::Fetched>> FakeFetcher::fetch(fetch::FetchRequest request) {
  fetch::Fetched fetched;
  if (auto const wheel = companions.find(request.download.url); wheel != companions.end()) {
    ++wheel->second.downloads;
    if (wheel->second.trouble) co_return *wheel->second.trouble;
    unpack_companion(wheel->first, wheel->second, request.directory);
    fetched.download.end = End::whole;
    co_return fetched;
  }
  if (request.download.is_asked_only)
    longest_question = std::max(longest_question, request.download.limit);
  auto const found = files.find(request.download.url);
  fetched.download.end = found == files.end() ? End::absent : End::whole;
  if (found == files.end()) co_return fetched;
  auto& file = found->second;
  file.troubles += file.trouble ? 1 : 0;
  if (file.trouble) co_return *file.trouble;
  auto const& wanted = request.download.sha256;
  auto const contents = digest_of(file);
  if (!wanted.empty() && wanted != contents)
    co_return Error{ErrorCode::unavailable,
                    "download " + request.download.url + ": published with the SHA-256 " + wanted +
                        ", found " + contents};
  if (file.is_restless) file.etag += "+";
  fetched.download.validators.etag = file.etag;
  fetched.download.bytes = file.length;
  if (request.download.known.etag == file.etag && !file.etag.empty())
    fetched.download.end = End::unchanged;
  if (request.download.is_asked_only || fetched.download.end == End::unchanged) co_return fetched;
  if (!file.cached_etag.empty()) fetched.download.validators.etag = file.cached_etag;
  if (file.is_downloaded) fetched.download.validators = {};
  fetched.record_warning = file.record_warning;
  fetched.download.sha256 = contents;
  ++(request.directory.empty() ? file.comparisons : file.downloads);
  if (request.directory.empty()) co_return fetched;
  (request.is_wheel ? unpack_wheel : unpack_archive)(file, request.directory);
  fetch::keep_answer(request.directory, fetched);
  co_return fetched;
}

std::string FakeFetcher::page_version() const {
  std::string version;
  for (auto const& [url, file] : files)
    if (file.is_listed) version += url + file.listed_sha256;
  return version;
}

asio::awaitable<Result<fetch::Index>> FakeFetcher::look_into(fetch::IndexRequest request) {
  longest_question = std::max(longest_question, request.page.limit);
  if (trouble) co_return *trouble;
  fetch::Index index;
  index.validators.etag = page_version();
  bool const is_known = request.page.known == index.validators;
  index.end = is_known ? End::unchanged : End::whole;
  ++(is_known ? unchanged : pages);
  index.misfit = misfit;
  index.newer = newer;
  if (is_known || !misfit.empty()) co_return index;
  for (auto const& [url, file] : files)
    if (file.is_listed) index.offers.push_back(offer_of(url, file));
  co_return index;
}

asio::awaitable<Result<fetch::CompanionFile>> FakeFetcher::find(fetch::CompanionRequest request) {
  fetch::CompanionWish wish;
  wish.requirement = fetch::parse_requirement(request.requirement).value();
  wish.target = request.target;
  wish.version_end = request.version_end;
  wish.unsuited = request.unsuited;
  std::vector<fetch::PageLink> links;
  for (auto& [url, wheel] : companions) {
    auto const name = url.substr(url.rfind('/') + 1);
    links.push_back({url, name, "", false});
    if (wheel.name == wish.requirement.name) ++wheel.lookups;
  }
  auto const page = "index " + request.page.url + ": ";
  auto const file = fetch::companion_in(links, wish);
  if (!file) co_return Error{file.error().code, page + file.error().message};
  if (*file) co_return **file;
  co_return Error{ErrorCode::not_found, page + fetch::why_no_companion(links, wish)};
}

}  // namespace torchwatch::fakes
