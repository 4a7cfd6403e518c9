#include "github/url.h"

#include <gtest/gtest.h>

namespace torchwatch::github {
namespace {

/// "host|port|target", or "bad".
std::string parts_of(std::string_view text) {
  auto const url = parse_url(text);
  if (!url) return url.error().code == ErrorCode::invalid_argument ? "bad" : "other";
  return url->host + "|" + url->port + "|" + url->target;
}

TEST(Url, IsTakenApart) {
  EXPECT_EQ(parts_of("https://api.github.com/repos/o/r/issues?page=2"),
            "api.github.com|443|/repos/o/r/issues?page=2");
  EXPECT_EQ(parts_of("https://127.0.0.1:8443"), "127.0.0.1|8443|/");
  EXPECT_EQ(parts_of("https://[::1]:8443/x"), "::1|8443|/x");
  EXPECT_EQ(parts_of("https://Example.ORG?q=1#part"), "example.org|443|/?q=1");
}

TEST(Url, RefusesWhatIsNotPlainHttps) {
  EXPECT_EQ(parts_of(""), "bad");
  EXPECT_EQ(parts_of("http://api.github.com/"), "bad");
  EXPECT_EQ(parts_of("https://"), "bad");
  EXPECT_EQ(parts_of("https:///path"), "bad");
  EXPECT_EQ(parts_of("https://user@host/"), "bad");
  EXPECT_EQ(parts_of("https://host:0/"), "bad");
  EXPECT_EQ(parts_of("https://host:70000/"), "bad");
  EXPECT_EQ(parts_of("https://host:/"), "bad");
  EXPECT_EQ(parts_of("https://[::1/"), "bad");
  EXPECT_EQ(parts_of("https://host/a b"), "bad");
  EXPECT_EQ(parts_of("https://host/\r\nX: y"), "bad");
}

TEST(Url, OriginIsHostAndPort) {
  auto const api = parse_url("https://api.github.com/repos").value();
  EXPECT_TRUE(same_origin(api, parse_url("https://API.github.com:443/other").value()));
  EXPECT_FALSE(same_origin(api, parse_url("https://api.github.com:444/repos").value()));
  EXPECT_FALSE(same_origin(api, parse_url("https://github.com/repos").value()));
}

TEST(Url, EncodesWhatWouldEndAComponent) {
  EXPECT_EQ(percent_encode("module: cpu/perf&x=1"), "module%3A%20cpu%2Fperf%26x%3D1");
  EXPECT_EQ(percent_encode("\xC3\xBC-._~9"), "%C3%BC-._~9");
}

}  // namespace
}  // namespace torchwatch::github
