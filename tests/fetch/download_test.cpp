#include "fetch/download.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/digest.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using fakes::DownloadHost;
using fakes::HostedFile;
using fakes::HostFault;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using tests::text_of;
using End = Downloaded::End;

constexpr auto target = "/whl/torch.whl";
constexpr auto etag = "\"first\"";
constexpr auto date = "Tue, 02 Sep 2025 09:12:00 GMT";

/// Returns contents that are received in several pieces.
std::string contents() {
  std::string bytes;
  for (unsigned i = 0, x = 1; i < 3'000'000; ++i, x = x * 1'664'525 + 1'013'904'223)
    bytes += static_cast<char>(x >> 24);
  return bytes;
}

std::string sha256_of(std::string const& bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

class DownloadTest : public testing::Test {
 protected:
  DownloadTest() {
    host_.host(target, {.content = bytes_, .etag = etag, .last_modified = date});
    request_.url = host_.url() + target;
    request_.pause = std::chrono::milliseconds{1};
    request_.limit = std::chrono::seconds{20};
  }

  Result<Downloaded> run() { return download(request_, file()); }

  fs::path file() const { return folder_ / "torch.whl"; }

  void expect_whole() {
    auto const done = run();
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(done->end, End::whole);
    EXPECT_EQ(done->bytes, static_cast<std::int64_t>(bytes_.size()));
    EXPECT_TRUE(text_of(file()) == bytes_);
    EXPECT_EQ(folder_.entries(), 1) << "something is left next to the file";
  }

  /// Expects an error of one line, and no file.
  void expect_failed(ErrorCode code, std::string const& why) {
    auto const done = run();
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, code);
    EXPECT_THAT(done.error().message, StartsWith("download " + request_.url + ": "));
    EXPECT_THAT(done.error().message, HasSubstr(why));
    EXPECT_EQ(done.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(file()));
  }

  /// Writes the files that a download killed after `size` bytes leaves.
  void leave_part(std::size_t size, std::string const& its_etag = etag) {
    std::ofstream{folder_ / "torch.whl.part", std::ios::binary} << bytes_.substr(0, size);
    std::ofstream{folder_ / "torch.whl.part.version"} << request_.url << '\n' << its_etag << "\n\n";
  }

  std::string last_header(std::string const& name) const {
    auto const headers = host_.requests().back().headers;
    auto const found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }

  std::string bytes_ = contents();
  DownloadHost host_;
  tests::TemporaryFolder folder_;
  DownloadRequest request_;
};

TEST_F(DownloadTest, StoresTheWholeFile) {
  expect_whole();
}

TEST_F(DownloadTest, ReturnsTheVersionAndDoesNotDownloadItAgain) {
  auto const first = run();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->validators, (Validators{etag, date}));

  request_.known = first->validators;
  auto const second = run();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->end, End::unchanged);

  host_.host(target, {.content = "other", .etag = "\"second\""});
  auto const third = run();
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->end, End::whole);
  EXPECT_EQ(text_of(file()), "other");
}

TEST_F(DownloadTest, HasTheDigestOfTheFile) {
  auto const done = run();
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->sha256, sha256_of(bytes_));
}

TEST_F(DownloadTest, ChecksForAnotherVersionWithHeadOnly) {
  request_.is_asked_only = true;
  request_.known = {etag, date};
  auto const same = run();
  ASSERT_TRUE(same.has_value()) << same.error().message;
  EXPECT_EQ(same->end, End::unchanged);

  host_.host(target, {.content = bytes_, .etag = "\"second\"", .last_modified = date});
  auto const other = run();
  ASSERT_TRUE(other.has_value()) << other.error().message;
  EXPECT_EQ(other->end, End::whole);
  EXPECT_EQ(other->validators.etag, "\"second\"");
  EXPECT_EQ(other->bytes, std::ssize(bytes_)) << "as its head says";

  host_.remove(target);
  EXPECT_EQ(run()->end, End::absent);
  EXPECT_EQ(folder_.entries(), 0) << "nothing is downloaded";
  for (auto const& request : host_.requests())
    EXPECT_EQ(request.method, "HEAD");
}

TEST_F(DownloadTest, RecognizesAVersionByItsDateOnly) {
  host_.host(target, {.content = bytes_, .last_modified = date});
  request_.known.last_modified = date;
  auto const done = run();
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->end, End::unchanged);
}

TEST_F(DownloadTest, ReportsAMissingFileAsAbsent) {
  for (int const status : {404, 410}) {
    host_.fail({{.status = status}});
    auto const done = run();
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->end, End::absent);
    EXPECT_EQ(folder_.entries(), 0);
  }
}

TEST_F(DownloadTest, StoresAnEmptyFile) {
  bytes_.clear();
  host_.host(target, {});
  expect_whole();
}

TEST_F(DownloadTest, ResumesAfterAnIncompleteResponse) {
  host_.fail({{.drop_after = 1'000'000}, {.drop_after = 1'500'000}});
  request_.sha256 = sha256_of(bytes_);
  expect_whole();
  EXPECT_EQ(host_.requests().size(), 3U);
  EXPECT_EQ(last_header("range"), "bytes=2500000-");
  EXPECT_EQ(last_header("if-range"), etag);
}

TEST_F(DownloadTest, ResumesAfterAnEarlierDownloadWasKilled) {
  leave_part(2'000'000);
  request_.sha256 = sha256_of(bytes_);
  auto const done = run();
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->resumed_from, 2'000'000);
  EXPECT_EQ(last_header("range"), "bytes=2000000-");
  EXPECT_TRUE(text_of(file()) == bytes_);
}

TEST_F(DownloadTest, DownloadsNothingWhenAllBytesAreStored) {
  leave_part(bytes_.size());
  request_.sha256 = sha256_of(bytes_);
  expect_whole();
  EXPECT_EQ(host_.requests().size(), 1U);
}

TEST_F(DownloadTest, StartsOverWhenTheServerHasAnotherVersion) {
  leave_part(1'000'000, "\"zeroth\"");
  expect_whole();
}

TEST_F(DownloadTest, StartsOverWhenTheServerIgnoresRanges) {
  host_.host(target, {.content = bytes_, .etag = etag, .has_ranges = false});
  leave_part(1'000'000);
  expect_whole();
}

TEST_F(DownloadTest, StartsOverWhenTheServerSendsNoVersion) {
  host_.host(target, {.content = bytes_});
  host_.fail({{.drop_after = 1'000'000}});
  expect_whole();
  EXPECT_EQ(last_header("range"), "");
}

TEST_F(DownloadTest, StartsOverWithAnotherAddress) {
  leave_part(1'000'000);
  host_.host("/other.whl", {.content = bytes_, .etag = etag});
  request_.url = host_.url() + "/other.whl";
  expect_whole();
  EXPECT_EQ(last_header("range"), "");
}

TEST_F(DownloadTest, RetriesTemporaryErrors) {
  host_.fail(
      {{.status = 503}, {.status = 429, .retry_after = "1"}, {.status = 500}, {.status = 408}});
  auto const begun = std::chrono::steady_clock::now();
  expect_whole();
  EXPECT_EQ(host_.requests().size(), 5U);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::seconds{1});
}

TEST_F(DownloadTest, FailsAfterTheLastAttempt) {
  host_.fail(std::vector<HostFault>(9, HostFault{.status = 503}));
  request_.attempts = 3;
  expect_failed(ErrorCode::unavailable, "the server responded with 503");
  EXPECT_EQ(host_.requests().size(), 3U);
}

TEST_F(DownloadTest, RetriesWhileItMakesProgress) {
  host_.fail(std::vector<HostFault>(9, HostFault{.drop_after = 300'000}));
  request_.attempts = 2;
  expect_whole();
}

TEST_F(DownloadTest, FailsAtItsTimeLimit) {
  host_.fail({{.status = 503, .retry_after = "3600"}});
  expect_failed(ErrorCode::unavailable, "it exceeded its time limit");
}

TEST_F(DownloadTest, FailsWhenTheServerStalls) {
  host_.fail({{.delay = std::chrono::seconds{30}}});
  request_.stall = std::chrono::seconds{1};
  request_.attempts = 1;
  expect_failed(ErrorCode::unavailable, "");
}

TEST_F(DownloadTest, FailsWhenTheServerIsTooSlow) {
  using namespace std::chrono_literals;
  host_.host(target, {.content = bytes_, .etag = etag, .piece = 100, .pause = 100ms});
  request_.stall = 1s;
  request_.attempts = 2;
  expect_failed(ErrorCode::unavailable, "Less than 10240 bytes/sec transferred the last 1 seconds");
  EXPECT_EQ(host_.requests().size(), 2U) << "what an attempt brought was not worth its time";
}

TEST_F(DownloadTest, FailsWhenTheServerHangsUpAfterAFewBytes) {
  host_.fail(std::vector<HostFault>(9, HostFault{.drop_after = 100}));
  request_.attempts = 3;
  expect_failed(ErrorCode::unavailable, "");
  EXPECT_EQ(host_.requests().size(), 3U);
}

TEST_F(DownloadTest, WaitsForAServerThatIsFastEnough) {
  using namespace std::chrono_literals;
  bytes_.resize(100'000);
  host_.host(target, {.content = bytes_, .etag = etag, .piece = 4096, .pause = 100ms});
  request_.stall = 1s;
  request_.attempts = 1;
  expect_whole();
}

TEST_F(DownloadTest, IsRefusedWithTheStatusOfTheServer) {
  host_.fail({{.status = 403}});
  expect_failed(ErrorCode::refused, "the server responded with 403");
  EXPECT_EQ(host_.requests().size(), 1U);
}

TEST_F(DownloadTest, FailsUntilTheContentsHaveThePublishedDigest) {
  auto const second = bytes_ + "second";
  request_.sha256 = sha256_of(second);
  expect_failed(ErrorCode::unavailable,
                "published with the SHA-256 " + request_.sha256 + ", found " + sha256_of(bytes_));
  EXPECT_EQ(folder_.entries(), 0);

  bytes_ = second;
  host_.host(target, {.content = second, .etag = "\"second\""});
  expect_whole();
}

TEST_F(DownloadTest, FailsWithStatus403) {
  host_.deny_missing();
  host_.remove(target);
  expect_failed(ErrorCode::refused, "the server responded with 403");
}

TEST_F(DownloadTest, ResumesAfterABodyShorterThanItsLength) {
  host_.host(target, {.content = bytes_.substr(0, 2'000'000), .etag = etag});
  host_.fail({{.length = 3'000'000}});
  request_.attempts = 1;
  expect_failed(ErrorCode::unavailable, "");

  host_.host(target, {.content = bytes_, .etag = etag});
  auto const done = run();
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->resumed_from, 2'000'000);
  EXPECT_TRUE(text_of(file()) == bytes_);
}

TEST_F(DownloadTest, StoresAFileAsItIsSentAndAPageDecoded) {
  host_.host(target, {.content = bytes_, .etag = etag, .is_gzipped = true});
  ASSERT_TRUE(run().has_value());
  EXPECT_TRUE(text_of(file()).starts_with("\x1f\x8b"));
  EXPECT_EQ(last_header("accept-encoding"), "");

  request_.may_be_encoded = true;
  expect_whole();
  EXPECT_THAT(last_header("accept-encoding"), HasSubstr("gzip"));
}

TEST_F(DownloadTest, StartsACompressedPageOverAfterAnInterruption) {
  host_.host(target, {.content = bytes_, .etag = etag, .is_gzipped = true});
  host_.fail({{.drop_after = 1'000'000}});
  request_.may_be_encoded = true;
  expect_whole();
  EXPECT_EQ(host_.requests().size(), 2U);
  EXPECT_EQ(last_header("range"), "");
}

TEST_F(DownloadTest, RefusesFilesThatAreTooLarge) {
  request_.most_bytes = static_cast<std::int64_t>(bytes_.size()) - 1;
  expect_failed(ErrorCode::corrupt, "it has more than 2999999 bytes");
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(DownloadTest, RefusesInvalidUrls) {
  for (auto const* const url : {"", "file:///etc/passwd", "ftp://127.0.0.1/a", "torch.whl"}) {
    request_.url = url;
    expect_failed(ErrorCode::invalid_argument, "it is not an http or https URL");
  }
}

TEST_F(DownloadTest, FollowsRedirectsOnItsHost) {
  host_.host("/latest", {.redirect = "/newest"});
  host_.host("/newest", {.redirect = host_.url() + target});
  request_.url = host_.url() + "/latest";
  expect_whole();
}

TEST_F(DownloadTest, FollowsRedirectsOnlyToAllowedHosts) {
  auto const port = host_.url().substr(host_.url().rfind(':'));
  host_.host("/latest", {.redirect = "http://localhost" + port + target});
  request_.url = host_.url() + "/latest";
  expect_failed(
      ErrorCode::refused,
      "it is redirected to \"http://localhost" + port + target + "\", which is not allowed");
  request_.hosts = {"elsewhere.example"};
  expect_failed(ErrorCode::refused, "which is not allowed");
  request_.hosts = {"localhost"};
  expect_whole();
}

TEST_F(DownloadTest, FollowsNoRedirectToOtherSchemes) {
  host_.host("/latest", {.redirect = "file:///etc/passwd"});
  request_.url = host_.url() + "/latest";
  expect_failed(ErrorCode::refused, "file:///etc/passwd");
}

TEST_F(DownloadTest, FollowsAtMostFiveRedirects) {
  host_.host("/round", {.redirect = "/round"});
  request_.url = host_.url() + "/round";
  expect_failed(ErrorCode::refused, "it is redirected more than 5 times");
  EXPECT_EQ(host_.requests().size(), 6U);
}

TEST_F(DownloadTest, ReportsProgress) {
  std::int64_t reported = 0;
  std::optional<std::int64_t> of;
  auto const on_progress = [&](std::int64_t bytes, std::optional<std::int64_t> whole) {
    reported = bytes;
    of = whole;
  };
  ASSERT_TRUE(download(request_, file(), on_progress).has_value());
  EXPECT_GT(reported, 0);
  EXPECT_EQ(of, static_cast<std::int64_t>(bytes_.size()));
}

TEST_F(DownloadTest, NamesAMissingFolder) {
  auto const done = download(request_, folder_ / "missing/torch.whl");
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  EXPECT_THAT(done.error().message, HasSubstr("missing/torch.whl.part"));
}

TEST(DownloadOverTls, TrustsTheConfiguredCertificates) {
  tests::TemporaryFolder folder;
  auto const identity = fakes::make_identity(folder.path(), {"127.0.0.1"});
  DownloadHost host{identity};
  host.host(target, {.content = "torch"});
  DownloadRequest request;
  request.url = host.url() + target;
  request.attempts = 1;
  auto const distrusted = download(request, folder / "torch.whl");
  ASSERT_FALSE(distrusted.has_value());
  EXPECT_EQ(distrusted.error().code, ErrorCode::unavailable);
  EXPECT_THAT(distrusted.error().message, HasSubstr("certificate"));

  request.ca_file = identity.ca.string();
  auto const trusted = download(request, folder / "torch.whl");
  ASSERT_TRUE(trusted.has_value()) << trusted.error().message;
  EXPECT_EQ(text_of(folder / "torch.whl"), "torch");
}

TEST(DownloadOverTls, UsesTheProxyOfTheVariables) {
  tests::TemporaryFolder folder;
  auto const identity = fakes::make_identity(folder.path(), {"127.0.0.1"});
  DownloadHost host{identity};
  host.host(target, {.content = "torch"});
  fakes::ConnectProxy const proxy;
  tests::TemporaryVariable const by{"https_proxy", "http://me:secret@" + proxy.address()};
  tests::TemporaryVariable const except{"no_proxy", "localhost"};
  tests::TemporaryVariable const capital{"NO_PROXY", std::nullopt};
  DownloadRequest request;
  request.url = host.url() + target;
  request.ca_file = identity.ca.string();

  auto const done = download(request, folder / "torch.whl");

  ASSERT_TRUE(done.has_value()) << done.error().message;
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_EQ("https://" + proxy.requests().front().target, host.url());
  EXPECT_EQ(proxy.requests().front().authorization, "Basic bWU6c2VjcmV0");
}

TEST(DownloadOverTls, ReportsThatAProxyRefuses) {
  fakes::ProxyManners manners;
  manners.status = 407;
  fakes::ConnectProxy const proxy{manners};
  tests::TemporaryVariable const by{"https_proxy", "http://me:secret@" + proxy.address()};
  tests::TemporaryVariable const except{"no_proxy", "localhost"};
  tests::TemporaryVariable const capital{"NO_PROXY", std::nullopt};
  tests::TemporaryFolder folder;
  DownloadRequest request;
  request.url = "https://127.0.0.1:1/torch.whl";
  request.attempts = 1;

  auto const done = download(request, folder / "torch.whl");

  ASSERT_FALSE(done.has_value());
  EXPECT_THAT(done.error().message, HasSubstr("407"));
  EXPECT_EQ(done.error().message.find("secret"), std::string::npos);
}

TEST(DownloadOverTls, IsNotRedirectedToPlainHttp) {
  tests::TemporaryFolder folder;
  auto const identity = fakes::make_identity(folder.path(), {"127.0.0.1"});
  DownloadHost host{identity};
  host.host(target, {.redirect = "http://127.0.0.1:1/torch.whl"});
  DownloadRequest request;
  request.url = host.url() + target;
  request.ca_file = identity.ca.string();
  auto const done = download(request, folder / "torch.whl");
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace torchwatch::fetch
