#include "github/jwt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/github/certificates.h"

namespace torchwatch::github {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr Timestamp now_of_test{seconds{1'800'000'000}};

/// The claims {"exp":1800000540,"iat":1799999940,"iss":"Iv1.ab"}, encoded by Python's base64.
constexpr auto claims = "eyJleHAiOjE4MDAwMDA1NDAsImlhdCI6MTc5OTk5OTk0MCwiaXNzIjoiSXYxLmFiIn0";

TEST(Jwt, BeginsAMinuteAgoAndEndsInNineMinutes) {
  auto const key = fakes::make_app_key();

  auto const jwt = app_jwt("Iv1.ab", key.private_key, now_of_test);

  ASSERT_TRUE(jwt) << jwt.error().message;
  EXPECT_THAT(
      *jwt,
      testing::StartsWith("eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9." + std::string{claims} + "."));
  constexpr std::size_t length_of_signature = 342;  // 256 bytes
  EXPECT_EQ(jwt->size() - jwt->rfind('.') - 1, length_of_signature);
}

TEST(Jwt, NeedsAnRsaKeyAndNeverShowsIt) {
  for (std::string const text : {"", "no key", "-----BEGIN RSA PRIVATE KEY-----\nsecret\n"}) {
    auto const jwt = app_jwt("Iv1.ab", text, now_of_test);
    ASSERT_FALSE(jwt) << text;
    EXPECT_EQ(jwt.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(jwt.error().message, HasSubstr("allowed is an RSA key in PEM format"));
    EXPECT_THAT(jwt.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(app_jwt("Iv1.ab", fakes::make_app_key().public_key, now_of_test));
}

}  // namespace
}  // namespace torchwatch::github
