#include "fetch/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/downloads/download_host.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using End = Downloaded::End;

constexpr auto listing = "/libtorch/nightly/cpu/";

class IndexTest : public testing::Test {
 protected:
  IndexTest() {
    request_.page.url = host_.url() + listing;
    request_.page.pause = std::chrono::milliseconds{1};
    request_.file = folder_ / "page";
    request_.filter.kind = PackageKind::libtorch;
  }

  static std::string link_to(std::string const& version) {
    return "<a href=\"" + std::string{listing} + "libtorch-shared-with-deps-" + version +
           ".zip\">x</a><br/>\n";
  }

  fakes::DownloadHost host_;
  tests::TemporaryFolder folder_;
  IndexRequest request_;
};

TEST_F(IndexTest, HasTheNightliesOfItsPage) {
  host_.host(listing,
             {.content = link_to("2.9.0.dev20250903%2Bcpu") + link_to("2.9.0.dev20250902%2Bcpu"),
              .etag = "\"1\""});
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value()) << index.error().message;
  EXPECT_EQ(index->end, End::whole);
  EXPECT_EQ(index->validators.etag, "\"1\"");
  ASSERT_THAT(index->offers, SizeIs(2));
  EXPECT_EQ(index->offers[0].package.date, "2025-09-02");
  EXPECT_EQ(index->offers[1].package.date, "2025-09-03");
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(IndexTest, IsNotReadAgainWhenItIsUnchanged) {
  host_.host(listing, {.content = link_to("2.9.0.dev20250902%2Bcpu"), .etag = "\"1\""});
  request_.page.known.etag = "\"1\"";
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->end, End::unchanged);
  EXPECT_THAT(index->offers, IsEmpty());
}

TEST_F(IndexTest, IsReadWhenItIsCompressed) {
  host_.host(listing,
             {.content = link_to("2.9.0.dev20250902%2Bcpu"), .etag = "\"1\"", .is_gzipped = true});
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value()) << index.error().message;
  EXPECT_EQ(index->validators.etag, "\"1\"");
  EXPECT_THAT(index->offers, SizeIs(1));
}

TEST_F(IndexTest, NamesTheReasonWhenNothingFits) {
  host_.host(listing, {.content = link_to("2.9.0.dev20250902%2Bcpu")});
  request_.filter.variant = "cu126";
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value()) << index.error().message;
  EXPECT_THAT(index->offers, IsEmpty());
  EXPECT_EQ(index->misfit, "channel is \"cu126\", found: cpu");
}

TEST_F(IndexTest, IsAbsentWhenThePageIsMissing) {
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->end, End::absent);
}

TEST_F(IndexTest, OfAnIncompletePageIsRefusedAndLeavesNoFile) {
  host_.host(listing, {.content = link_to("2.9.0.dev20250902%2Bcpu") + "<a href=\"/lib"});
  auto const index = look_into(request_);
  ASSERT_FALSE(index.has_value());
  EXPECT_EQ(index.error().code, ErrorCode::corrupt);
  EXPECT_THAT(index.error().message, HasSubstr(request_.page.url));
  EXPECT_EQ(folder_.entries(), 0);
}

TEST_F(IndexTest, OfTooManyFilesHasTheNewest) {
  std::string page;
  for (int year = 1100; year < 1700; ++year)
    for (int month = 1; month < 10; ++month)
      page +=
          link_to("2.9.0.dev" + std::to_string(year) + "0" + std::to_string(month) + "01%2Bcpu");
  host_.host(listing, {.content = page});
  auto const index = look_into(request_);
  ASSERT_TRUE(index.has_value()) << index.error().message;
  ASSERT_THAT(index->offers, SizeIs(most_offers));
  EXPECT_EQ(index->offers.front().package.date, "1144-05-01");
  EXPECT_EQ(index->offers.back().package.date, "1699-09-01");
}

}  // namespace
}  // namespace torchwatch::fetch
