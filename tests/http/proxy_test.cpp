#include "http/proxy.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>

#include <gmock/gmock.h>

#include "daemon/http/proxy.h"
#include "http/client.h"
#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/temporary_variable.h"

namespace torchwatch::http {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Removes the proxy variables for each test.
class ProxyVariablesTest : public testing::Test {
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

/// A host, a value of no_proxy, and whether the host is then reached without the proxy.
struct Exempt {
  std::string name;
  std::string except;
  std::string host;
  bool is_direct;
};

std::ostream& operator<<(std::ostream& stream, Exempt const& exempt) {
  return stream << exempt.name;
}

class NoProxy : public ProxyVariablesTest, public testing::WithParamInterface<Exempt> {};

TEST_P(NoProxy, NamesHostsThatAreReachedDirectly) {
  fakes::ProxyManners manners;
  manners.status = 403;
  fakes::ConnectProxy const proxy{manners};
  ::setenv("https_proxy", ("http://" + proxy.address()).c_str(), 1);
  ::setenv("no_proxy", GetParam().except.c_str(), 1);

  auto const answer = Client{}.send({"GET", "https://" + GetParam().host + ":1/", {}, {}}, {});

  EXPECT_FALSE(answer) << "nothing listens there, and the proxy refuses";
  EXPECT_EQ(proxy.requests().empty(), GetParam().is_direct);
}

// For libcurl, names below localhost are this machine. It needs no name server for them.
INSTANTIATE_TEST_SUITE_P(
    Forms,
    NoProxy,
    testing::Values(Exempt{"NoHost", "", "git.localhost", false},
                    Exempt{"Itself", "git.localhost", "git.localhost", true},
                    Exempt{"Below", "git.localhost", "api.git.localhost", true},
                    Exempt{"LeadingDot", ".git.localhost", "api.git.localhost", true},
                    Exempt{"LeadingDotAndItself", ".git.localhost", "git.localhost", true},
                    Exempt{"TrailingDot", "git.localhost.", "git.localhost", true},
                    Exempt{"EndOfAWord", "it.localhost", "git.localhost", false},
                    Exempt{"Above", "api.git.localhost", "git.localhost", false},
                    Exempt{"OtherCase", "Git.LocalHost", "git.localhost", true},
                    Exempt{"OneOfMany", "a.example, .corp,git.localhost,b", "git.localhost", true},
                    Exempt{"All", "*", "git.localhost", true},
                    Exempt{"StarIsNoPattern", "*.localhost", "git.localhost", false},
                    Exempt{"Address", "127.0.0.7", "127.0.0.7", true},
                    Exempt{"AddressIsNoSuffix", "0.0.7", "127.0.0.7", false},
                    Exempt{"Network", "127.0.0.0/8", "127.9.8.7", true},
                    Exempt{"OtherNetwork", "10.0.0.0/8", "127.9.8.7", false},
                    Exempt{"Version6", "::1", "[::1]", true},
                    Exempt{"OtherVersion6Network", "fd00::/8", "[::1]", false},
                    Exempt{"Nonsense", ",, :443 /8 [", "git.localhost", false}),
    [](auto const& exempt) { return exempt.param.name; });

TEST_F(ProxyVariablesTest, AreReadInTheOrderOfCurl) {
  EXPECT_EQ(proxy_variables("https").url, "");
  ::setenv("ALL_PROXY", "d", 1);
  ::setenv("NO_PROXY", "x", 1);
  EXPECT_EQ(proxy_variables("https").url, "d");
  EXPECT_EQ(proxy_variables("https").except, "x");
  ::setenv("all_proxy", "c", 1);
  EXPECT_EQ(proxy_variables("https").url, "c");
  ::setenv("HTTPS_PROXY", "b", 1);
  EXPECT_EQ(proxy_variables("https").url, "b");
  ::setenv("https_proxy", "a", 1);
  ::setenv("no_proxy", "y", 1);
  EXPECT_EQ(proxy_variables("https").url, "a");
  EXPECT_EQ(proxy_variables("https").except, "y");
  ::setenv("https_proxy", "", 1);
  EXPECT_EQ(proxy_variables("https").url, "b") << "an empty one is none";
  ::setenv("HTTP_PROXY", "e", 1);
  EXPECT_EQ(proxy_variables("http").url, "c");
}

TEST_F(ProxyVariablesTest, AreReplacedByTheConfiguredProxy) {
  ::setenv("HTTPS_PROXY", "http://other:1", 1);
  ::setenv("NO_PROXY", "*", 1);

  http::use_proxy({});
  EXPECT_EQ(proxy_variables("https").url, "http://other:1") << "no proxy is configured";

  http::use_proxy({"http://proxy:3128", {}});
  EXPECT_EQ(proxy_variables("https").url, "http://proxy:3128");
  EXPECT_EQ(proxy_variables("https").except, "");

  http::use_proxy({"http://proxy:3128", {"localhost", ".corp"}});
  EXPECT_EQ(proxy_variables("https").except, "localhost,.corp");
  EXPECT_STREQ(std::getenv("http_proxy"), "http://proxy:3128") << "for git and downloads";
  EXPECT_STREQ(std::getenv("HTTPS_PROXY"), "http://proxy:3128");
  EXPECT_STREQ(std::getenv("NO_PROXY"), "localhost,.corp");

  http::use_proxy({"http://proxy:3128", {"localhost", "*"}});
  EXPECT_EQ(proxy_variables("https").except, "*") << "libcurl wants it alone";
}

TEST(ProxyAddress, IsHostAndPort) {
  EXPECT_EQ(address_of_proxy("http://me:p%40ss@[fd00::1]:3128/"), "[fd00::1]:3128");
  EXPECT_EQ(address_of_proxy("http://me:sec/ret@proxy:1"), "proxy:1");
  EXPECT_EQ(address_of_proxy("cache.corp"), "cache.corp:1080");
  EXPECT_EQ(address_of_proxy("[fd00::1]"), "[fd00::1]:1080");
  EXPECT_EQ(address_of_proxy("https://cache.corp/"), "cache.corp:443");
}

TEST(ProxyAddress, CanBeConnectedToWhileTheProxyListens) {
  auto proxy = std::make_unique<fakes::ConnectProxy>();
  auto const url = "http://" + address_of_proxy("http://me:secret@" + proxy->address());
  Options options;
  options.proxy = "";

  EXPECT_TRUE(Client{}.connect(url, options));
  EXPECT_TRUE(proxy->requests().empty()) << "nothing is sent";
  proxy.reset();
  auto const gone = Client{}.connect(url, options);

  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("Connection refused"));
}

TEST_F(ProxyVariablesTest, AreShownWithoutPasswordWhenInvalid) {
  for (std::string const url : {"nothing://me:secret@proxy:1080",
                                "http://me:secret@proxy:port",
                                "http://me:sec/ret@proxy:1"}) {
    ::setenv("https_proxy", url.c_str(), 1);

    auto const answer = Client{}.send({"GET", "https://git.localhost:1/", {}, {}}, {});

    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
    EXPECT_THAT(answer.error().message, HasSubstr("'proxy:"));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("sec")));
  }
}

}  // namespace
}  // namespace torchwatch::http
