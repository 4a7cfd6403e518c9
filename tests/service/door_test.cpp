#include "daemon/service/door.h"

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "tests/fakes/github/certificates.h"
#include "tests/temporary_folder.h"

namespace torchwatch::service {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A door with TLS, and what opening it writes into the log.
class CredentialsOfADoor : public testing::Test {
 public:
  CredentialsOfADoor(CredentialsOfADoor const&) = delete;
  CredentialsOfADoor& operator=(CredentialsOfADoor const&) = delete;

 protected:
  CredentialsOfADoor() : before_{spdlog::default_logger()} {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
    http_.port = 0;
    http_.tls.certificate = identity_.certificate.string();
    http_.tls.key = identity_.key.string();
  }

  ~CredentialsOfADoor() override { spdlog::set_default_logger(before_); }

  /// What is logged when the key has these permissions.
  std::string log_with(fs::perms permissions) {
    fs::permissions(identity_.key, permissions);
    EXPECT_TRUE(open_door(loop_.get_executor(), http_));
    return log_.str();
  }

  static constexpr auto secret = fs::perms::owner_read | fs::perms::owner_write;

  tests::TemporaryFolder folder_;
  fakes::ServerIdentity identity_ = fakes::make_identity(folder_.path(), {"127.0.0.1"});
  config::HttpOptions http_;
  boost::asio::io_context loop_{1};
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_;
};

TEST_F(CredentialsOfADoor, AreWarnedOfWhereEveryUserReadsThem) {
  EXPECT_THAT(log_with(secret | fs::perms::others_read),
              AllOf(HasSubstr("[warning] key_exposed"),
                    HasSubstr("http.tls.key: private key " + http_.tls.key +
                              " can be read by every user; chmod 600")));
}

TEST_F(CredentialsOfADoor, AreOfNoInterestWhereTheyAreKept) {
  EXPECT_THAT(log_with(secret | fs::perms::group_read), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::service
