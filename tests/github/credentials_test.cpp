#include "github/credentials.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace torchwatch::github {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Credentials : public testing::Test {
 protected:
  config::GithubOptions with_file(std::string const& text, fs::perms permissions) {
    auto const path = fs::path{testing::TempDir()} /
                      testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ofstream{path} << text;
    fs::permissions(path, permissions);
    config::GithubOptions options;
    options.token_file = path.string();
    return options;
  }

  static constexpr auto secret = fs::perms::owner_read | fs::perms::owner_write;
};

TEST_F(Credentials, FileIsTrimmed) {
  auto const token = find_token(with_file("  ghp_abc\n\n", secret), "from-environment");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->value, "ghp_abc");
  EXPECT_EQ(token->warning, "");
}

TEST_F(Credentials, FileOpenToEveryoneIsWarnedOf) {
  auto const token = find_token(with_file("ghp_abc", secret | fs::perms::others_read), {});
  ASSERT_TRUE(token);
  EXPECT_THAT(token->warning, HasSubstr("can be read by every user"));
}

TEST_F(Credentials, AreExposedWhereOthersReadThem) {
  auto const group = secret | fs::perms::group_read;
  EXPECT_EQ(exposure_of(with_file("key", group).token_file, "private key"), "");
  auto const open = with_file("key", group | fs::perms::others_read).token_file;
  EXPECT_EQ(exposure_of(open, "private key"),
            "private key " + open + " can be read by every user; chmod 600");
  EXPECT_EQ(exposure_of("/nonexistent/key", "private key"), "");
  EXPECT_EQ(exposure_of("", "private key"), "");
}

TEST_F(Credentials, BadContentsAreRefusedWithoutBeingShown) {
  for (std::string const text : {"", " \n", "gh p", "ghp\nX-Evil: 1", "gh\xC3\xBC"}) {
    auto const token = find_token(with_file(text, secret), {});
    ASSERT_FALSE(token) << text;
    EXPECT_EQ(token.error().code, ErrorCode::invalid_argument);
    if (text.size() > 2) {
      EXPECT_THAT(token.error().message, Not(HasSubstr(text)));
    }
  }
  EXPECT_FALSE(find_token(with_file(std::string(20'000, 'x'), secret), {}));
}

TEST_F(Credentials, BearerTokensHaveSixteenCharacters) {
  auto const file = [&](std::string const& text) {
    return with_file(text, secret).token_file;
  };
  auto const short_token = read_bearer_token(file("fifteen-letters\n"), "token");
  ASSERT_FALSE(short_token);
  EXPECT_EQ(short_token.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(short_token.error().message,
              HasSubstr("found 15 characters, allowed are 16 or more"));
  EXPECT_THAT(short_token.error().message, Not(HasSubstr("fifteen")));
  EXPECT_EQ(read_bearer_token(file("sixteen--letters\n"), "token")->value, "sixteen--letters");
  EXPECT_THAT(read_bearer_token(file("two words"), "token").error().message, HasSubstr("blanks"));
}

TEST_F(Credentials, LongTokensAreTaken) {
  auto const token = find_token(with_file("ghs_" + std::string(2000, 'x'), secret), {});
  ASSERT_TRUE(token);
  EXPECT_EQ(token->value.size(), 2004U);
}

TEST_F(Credentials, MissingFileIsNotReplacedByTheEnvironment) {
  config::GithubOptions options;
  options.token_file = "/nonexistent/token";
  auto const token = find_token(options, "from-environment");
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::not_found);
  options.token_file = testing::TempDir();
  EXPECT_EQ(find_token(options, {}).error().code, ErrorCode::invalid_argument);
}

TEST_F(Credentials, OfSystemdAreUsedWithoutAFileAndAVariable) {
  tests::TemporaryFolder const systemd;
  std::ofstream{systemd / "github-token"} << "ghp_systemd\n";
  config::GithubOptions const options;
  EXPECT_EQ(find_token(options, std::nullopt, systemd.path())->value, "ghp_systemd");
  EXPECT_EQ(find_token(options, "ghp_env", systemd.path())->value, "ghp_env");
  EXPECT_EQ(find_token(with_file("ghp_file", secret), {}, systemd.path())->value, "ghp_file");
  EXPECT_EQ(find_token(options, std::nullopt, "/nonexistent").error().code, ErrorCode::not_found);
}

TEST_F(Credentials, KeyOfAnAppIsAFileOrACredentialOfSystemd) {
  tests::TemporaryFolder const systemd;
  config::GithubOptions options;
  EXPECT_THAT(find_app_key(options, systemd.path()).error().message,
              HasSubstr("no github.app.private_key_file is configured"));
  std::ofstream{systemd / "github-app-key"} << "key";
  EXPECT_EQ(find_app_key(options, systemd.path()).value(), systemd / "github-app-key");
  options.app.private_key_file = "/etc/app.pem";
  EXPECT_EQ(find_app_key(options, systemd.path()).value(), "/etc/app.pem");
}

TEST_F(Credentials, EnvironmentIsUsedWithoutAFile) {
  config::GithubOptions const options;
  EXPECT_EQ(find_token(options, "ghp_env\n")->value, "ghp_env");
  EXPECT_EQ(find_token(options, "").error().code, ErrorCode::invalid_argument);
  auto const none = find_token(options, std::nullopt);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().message, HasSubstr("GITHUB_TOKEN"));
}

}  // namespace
}  // namespace torchwatch::github
