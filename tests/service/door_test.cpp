#include <filesystem>
#include <string>

#include <gmock/gmock.h>

#include "daemon/service/endpoints.h"
#include "tests/captured_log.h"
#include "tests/fakes/github/certificates.h"
#include "tests/temporary_folder.h"

namespace torchwatch::service {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// An endpoint with TLS, and the log of opening it.
class CredentialsOfAnEndpoint : public testing::Test {
 protected:
  CredentialsOfAnEndpoint() {
    http_.port = 0;
    http_.tls.certificate = identity_.certificate.string();
    http_.tls.key = identity_.key.string();
  }

  /// Returns the log when the key has these permissions.
  std::string log_with(fs::perms permissions) {
    fs::permissions(identity_.key, permissions);
    EXPECT_TRUE(open_tls(http_));
    warn_of_exposed_key(http_);
    return log_.text();
  }

  static constexpr auto secret = fs::perms::owner_read | fs::perms::owner_write;

  tests::TemporaryFolder folder_;
  fakes::ServerIdentity identity_ = fakes::make_identity(folder_.path(), {"127.0.0.1"});
  config::HttpOptions http_;
  tests::CapturedLog log_;
};

TEST_F(CredentialsOfAnEndpoint, AreWarnedOfWhereEveryUserReadsThem) {
  EXPECT_THAT(log_with(secret | fs::perms::others_read),
              AllOf(HasSubstr("[warning] key_exposed"),
                    HasSubstr("http.tls.key: private key " + http_.tls.key +
                              " can be read by every user; chmod 600")));
}

TEST_F(CredentialsOfAnEndpoint, AreOfNoInterestWhereTheyAreKept) {
  EXPECT_THAT(log_with(secret | fs::perms::group_read), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::service
