#include "daemon/net/proxy.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/fakes/github/run.h"
#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/temporary_variable.h"

namespace torchwatch::net {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A host, and what no_proxy says.
struct Exempt {
  std::string name;
  std::string except;
  std::string host;
  bool is_direct;
};

std::ostream& operator<<(std::ostream& stream, Exempt const& exempt) {
  return stream << exempt.name;
}

class NoProxy : public testing::TestWithParam<Exempt> {};

TEST_P(NoProxy, NamesWhoIsAskedDirectly) {
  ProxyRules const rules{"http://proxy:3128", GetParam().except};

  auto const proxy = proxy_for(rules, GetParam().host, "443");

  ASSERT_TRUE(proxy) << proxy.error().message;
  EXPECT_EQ(!proxy->has_value(), GetParam().is_direct);
}

INSTANTIATE_TEST_SUITE_P(
    Forms,
    NoProxy,
    testing::Values(Exempt{"Nobody", "", "github.com", false},
                    Exempt{"Itself", "github.com", "github.com", true},
                    Exempt{"Below", "github.com", "api.github.com", true},
                    Exempt{"LeadingDot", ".github.com", "api.github.com", true},
                    Exempt{"LeadingDotAndItself", ".github.com", "github.com", true},
                    Exempt{"TrailingDot", "github.com.", "github.com", true},
                    Exempt{"EndOfAWord", "hub.com", "github.com", false},
                    Exempt{"Above", "api.github.com", "github.com", false},
                    Exempt{"OtherCase", "GitHub.com", "github.com", true},
                    Exempt{"OneOfMany", "a.example, .corp  github.com,b", "github.com", true},
                    Exempt{"All", "*", "github.com", true},
                    Exempt{"AllAmongOthers", "a,*", "github.com", true},
                    Exempt{"StarIsNoPattern", "*.com", "github.com", false},
                    Exempt{"Port", "github.com:443", "github.com", true},
                    Exempt{"OtherPort", "github.com:8443", "github.com", false},
                    Exempt{"Address", "10.0.0.7", "10.0.0.7", true},
                    Exempt{"AddressIsNoSuffix", "0.0.7", "10.0.0.7", false},
                    Exempt{"AddressWithPort", "10.0.0.7:443", "10.0.0.7", true},
                    Exempt{"Network", "10.0.0.0/8", "10.9.8.7", true},
                    Exempt{"OtherNetwork", "10.0.0.0/8", "11.9.8.7", false},
                    Exempt{"Version6", "::1", "::1", true},
                    Exempt{"Version6InBrackets", "[::1]:443", "::1", true},
                    Exempt{"Version6Network", "fd00::/8", "fd12::7", true},
                    Exempt{"Nonsense", ",, :443 /8 [", "github.com", false}),
    [](auto const& exempt) { return exempt.param.name; });

std::optional<Proxy> proxy_of(std::string const& url) {
  return proxy_for({url, ""}, "github.com", "443").value();
}

TEST(ProxyFor, IsNoneWhereNoneIsNamed) {
  EXPECT_FALSE(proxy_of(""));
}

TEST(ProxyFor, ReadsHostPortAndCredentials) {
  auto const proxy = proxy_of("http://me:p%40ss%2Fword@[fd00::1]:3128/");
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->host, "fd00::1");
  EXPECT_EQ(proxy->port, "3128");
  EXPECT_EQ(proxy->credentials, "me:p@ss/word");
  EXPECT_EQ(proxy->name(), "proxy [fd00::1]:3128");
}

TEST(ProxyFor, TakesCurlsShortForms) {
  auto const proxy = proxy_of("cache.corp");
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->name(), "proxy cache.corp:1080");
  EXPECT_EQ(proxy->credentials, "");
}

TEST(ProxyFor, RefusesOthersWithoutTellingThePassword) {
  for (std::string const url : {"socks5://me:secret@proxy:1080",
                                "https://me:secret@proxy:443",
                                "http://me:secret@proxy:port",
                                "http://me:sec/ret@proxy:1"}) {
    auto const proxy = proxy_for({url, ""}, "github.com", "443");
    ASSERT_FALSE(proxy) << url;
    EXPECT_EQ(proxy.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(proxy.error().message, HasSubstr("proxy (https_proxy, all_proxy): found \"proxy:"));
    EXPECT_THAT(proxy.error().message, Not(HasSubstr("sec")));
  }
}

TEST(KnockAt, TellsWhetherSomebodyListens) {
  auto proxy = std::make_unique<fakes::ConnectProxy>();
  auto const place = proxy_of("http://me:secret@" + proxy->address()).value();

  EXPECT_TRUE(fakes::run(knock_at(place, std::chrono::seconds{2})));
  proxy.reset();
  auto const gone = fakes::run(knock_at(place, std::chrono::seconds{2}));

  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, place.name() + ": Connection refused");
}

/// None names a proxy, to begin with.
class ProxyVariables : public testing::Test {
 private:
  tests::TemporaryVariable http_{"http_proxy", std::nullopt};
  tests::TemporaryVariable https_{"https_proxy", std::nullopt};
  tests::TemporaryVariable all_{"all_proxy", std::nullopt};
  tests::TemporaryVariable no_{"no_proxy", std::nullopt};
  tests::TemporaryVariable capital_http_{"HTTP_PROXY", std::nullopt};
  tests::TemporaryVariable capital_https_{"HTTPS_PROXY", std::nullopt};
  tests::TemporaryVariable capital_all_{"ALL_PROXY", std::nullopt};
  tests::TemporaryVariable capital_no_{"NO_PROXY", std::nullopt};
};

TEST_F(ProxyVariables, CountInTheOrderOfCurl) {
  EXPECT_EQ(proxy_rules().url, "");
  ::setenv("ALL_PROXY", "d", 1);
  ::setenv("NO_PROXY", "x", 1);
  EXPECT_EQ(proxy_rules().url, "d");
  EXPECT_EQ(proxy_rules().except, "x");
  ::setenv("all_proxy", "c", 1);
  EXPECT_EQ(proxy_rules().url, "c");
  ::setenv("HTTPS_PROXY", "b", 1);
  EXPECT_EQ(proxy_rules().url, "b");
  ::setenv("https_proxy", "a", 1);
  ::setenv("no_proxy", "y", 1);
  EXPECT_EQ(proxy_rules().url, "a");
  EXPECT_EQ(proxy_rules().except, "y");
  ::setenv("https_proxy", "", 1);
  EXPECT_EQ(proxy_rules().url, "b") << "an empty one is none";
}

TEST_F(ProxyVariables, AreWhatIsConfigured) {
  ::setenv("HTTPS_PROXY", "http://other:1", 1);
  ::setenv("NO_PROXY", "*", 1);

  use_proxy({});
  EXPECT_EQ(proxy_rules().url, "http://other:1") << "nothing is configured";

  use_proxy({"http://proxy:3128", {}});
  EXPECT_EQ(proxy_rules().url, "http://proxy:3128");
  EXPECT_EQ(proxy_rules().except, "");

  use_proxy({"http://proxy:3128", {"localhost", ".corp"}});
  EXPECT_EQ(proxy_rules().except, "localhost,.corp");
  EXPECT_STREQ(std::getenv("http_proxy"), "http://proxy:3128") << "of git and downloads, too";
}

}  // namespace
}  // namespace torchwatch::net
