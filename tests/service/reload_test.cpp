#include "daemon/service/reload.h"

#include <string>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "tests/temporary_folder.h"

namespace torchwatch::service {
namespace {

using testing::HasSubstr;

/// A configuration that a service uses, and another one that replaces it.
class ReloadTest : public testing::Test {
 protected:
  ReloadTest() {
    current_.state_dir = folder_.path();
    current_.http.port = 0;
    next_ = current_;
  }

  Result<CheckedConfiguration> check() {
    return check_changed_configuration(next_, current_, loop_.get_executor());
  }

  void expect_refused(std::string const& why) {
    auto const checked = check();
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr(why));
  }

  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
  config::Options current_;
  config::Options next_;
};

TEST_F(ReloadTest, KeepsTheListenerOfAnUnchangedAddress) {
  next_.decide.threshold = 0.1;
  auto const checked = check();
  ASSERT_TRUE(checked);
  EXPECT_FALSE(checked->listener);
  EXPECT_EQ(checked->options.decide.threshold, 0.1);
}

TEST_F(ReloadTest, ListensAtAChangedAddressBeforeTheOldOneIsGivenUp) {
  next_.http.address = "unix:" + (folder_.path() / "socket").string();
  auto const checked = check();
  ASSERT_TRUE(checked);
  EXPECT_TRUE(checked->listener);
}

TEST_F(ReloadTest, IsRefusedWhenTheNewAddressIsInUse) {
  auto taken = check_configuration(current_, loop_.get_executor());
  ASSERT_TRUE(taken);
  next_.http.port = taken->listener->port();
  expect_refused("http.address");
}

TEST_F(ReloadTest, IsRefusedWhenATokenCannotBeRead) {
  next_.http.token_file = folder_.path() / "missing";
  expect_refused("http.token_file");
}

TEST_F(ReloadTest, IsRefusedWhenTheCertificateCannotBeRead) {
  next_.http.tls.certificate = folder_.path() / "missing";
  next_.http.tls.key = folder_.path() / "missing";
  expect_refused("http.tls");
}

TEST_F(ReloadTest, IsRefusedForKeysThatNeedARestart) {
  next_.state_dir = folder_.path() / "another";
  expect_refused("state_dir changed: restart the service");
  next_ = current_;
  next_.proxy.url = "http://proxy.example:3128";
  expect_refused("proxy changed: restart the service");
}

}  // namespace
}  // namespace torchwatch::service
