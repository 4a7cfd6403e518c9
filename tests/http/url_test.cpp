#include "http/url.h"

#include <gtest/gtest.h>

namespace torchwatch::http {
namespace {

/// "origin|target", or "bad".
std::string parts_of(std::string const& text) {
  auto const url = Url::parse(text);
  return url ? url->origin() + "|" + url->target() : "bad";
}

TEST(Url, ParseFindsOriginAndTarget) {
  EXPECT_EQ(parts_of("https://api.github.com/repos/o/r/issues?page=2"),
            "https://api.github.com:443|/repos/o/r/issues?page=2");
  EXPECT_EQ(parts_of("http://127.0.0.1"), "http://127.0.0.1:80|/");
  EXPECT_EQ(parts_of("https://[::1]:8443/x"), "https://[::1]:8443|/x");
  EXPECT_EQ(parts_of("https://Example.ORG?q=1#part"), "https://example.org:443|/?q=1");
}

TEST(Url, ParseRejectsOtherText) {
  for (std::string const text : {"",
                                 "host",
                                 "https://",
                                 "nothing://host/",
                                 "https://host:70000/",
                                 "https://[::1/",
                                 "https://host/a b",
                                 "https://host/\r\nX: y",
                                 "https:/33%3333338"})
    EXPECT_EQ(parts_of(text), "bad") << text;
  EXPECT_EQ(parts_of(std::string{"https://host/\0.example", 22}), "bad");
}

TEST(Url, OriginIsSchemeHostAndPort) {
  auto const origin = [](std::string const& text) {
    return Url::parse(text).value().origin();
  };
  auto const api = origin("https://api.github.com/repos");
  EXPECT_EQ(api, origin("https://API.github.com:443/other"));
  EXPECT_NE(api, origin("https://api.github.com:444/repos"));
  EXPECT_NE(api, origin("http://api.github.com:443/repos"));
  EXPECT_NE(api, origin("https://github.com/repos"));
}

TEST(Url, HasCredentialsFindsUserNames) {
  EXPECT_FALSE(Url::parse("https://github.com/@me").value().has_credentials());
  EXPECT_TRUE(Url::parse("https://me@github.com/").value().has_credentials());
  EXPECT_TRUE(Url::parse("https://github.com\\@evil.example/").value().has_credentials());
}

TEST(Url, ResolvesReferences) {
  auto const page = Url::parse("https://api.github.com/repos/o/r").value();
  EXPECT_EQ(page.resolve("/repositories/1").value().text(),
            "https://api.github.com/repositories/1");
  EXPECT_EQ(page.resolve("//evil.example/x").value().origin(), "https://evil.example:443");
}

TEST(Url, PercentEncodeEncodesSeparators) {
  EXPECT_EQ(percent_encode("module: cpu/perf&x=1"), "module%3A%20cpu%2Fperf%26x%3D1");
  EXPECT_EQ(percent_encode("\xC3\xBC-._~9"), "%C3%BC-._~9");
  EXPECT_EQ(percent_encode(""), "");
}

}  // namespace
}  // namespace torchwatch::http
