#include "fetch/index_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto index_url = "https://download.pytorch.org/whl/nightly/cpu/torch/";
constexpr auto wheel = "torch-2.9.0.dev20250902+cpu-cp310-cp310-manylinux_2_28_x86_64.whl";
constexpr auto wheel_url =
    "https://download.pytorch.org/whl/nightly/cpu/"
    "torch-2.9.0.dev20250902%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl";
auto const digest = std::string(64, 'a');

/// A page of one anchor with these attributes.
std::string page_with(std::string const& attributes) {
  return "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n    <a " + attributes +
         ">torch</a><br/>\n  </body>\n</html>\n<!--TIMESTAMP 1756800000-->";
}

std::vector<PageLink> links_in(std::string const& page) {
  auto const links = links_of(page, index_url);
  EXPECT_TRUE(links.has_value()) << links.error().message;
  return links ? *links : std::vector<PageLink>{};
}

struct Form {
  std::string name;
  std::string attributes;
  std::string sha256{};
};

void PrintTo(Form const& form, std::ostream* stream) {
  *stream << form.name;
}

class IndexPageForms : public testing::TestWithParam<Form> {};

TEST_P(IndexPageForms, AreTheSameLink) {
  auto const links = links_in(page_with(GetParam().attributes));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].url, wheel_url);
  EXPECT_EQ(links[0].name, wheel);
  EXPECT_EQ(links[0].sha256, GetParam().sha256);
  EXPECT_FALSE(links[0].is_yanked);
}

std::string const wheel_file =
    "torch-2.9.0.dev20250902%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl";

INSTANTIATE_TEST_SUITE_P(
    Of,
    IndexPageForms,
    testing::Values(
        Form{"Rooted", "href=\"/whl/nightly/cpu/" + wheel_file + "\""},
        Form{"Relative", "href=\"../" + wheel_file + "\""},
        Form{"Absolute",
             "href=\"https://download.pytorch.org/whl/nightly/cpu/" + wheel_file + "\""},
        Form{"SameScheme", "href=\"//download.pytorch.org/whl/nightly/cpu/" + wheel_file + "\""},
        Form{"SingleQuotes", "href='/whl/nightly/cpu/" + wheel_file + "'"},
        Form{"NoQuotes", "href=/whl/nightly/cpu/" + wheel_file},
        Form{"UpperCase", "HREF=\"/whl/nightly/cpu/" + wheel_file + "\""},
        Form{
            "Digest", "href=\"/whl/nightly/cpu/" + wheel_file + "#sha256=" + digest + "\"", digest},
        Form{"DigestInCapitals",
             "href=\"../" + wheel_file + "#sha256=" + std::string(64, 'A') + "\"",
             digest},
        Form{"AnotherDigest", "href=\"../" + wheel_file + "#md5=0123\""},
        Form{"ShortDigest", "href=\"../" + wheel_file + "#sha256=0123\""},
        Form{"MetadataFirst",
             "data-core-metadata=\"sha256=00\" data-dist-info-metadata='true' "
             "data-upload-time=\"2025-09-02T09:12:00Z\" href=\"../" +
                 wheel_file + "\""},
        Form{"MetadataLast",
             "href=\"../" + wheel_file +
                 "\" data-core-metadata data-requires-python="
                 "\"&gt;=3.10\""}),
    [](auto const& test) { return test.param.name; });

TEST(IndexPage, KeepsAPlusSign) {
  auto const links = links_in(page_with("href=\"../torch-2.9.0.dev20250902+cpu.whl\""));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].name, "torch-2.9.0.dev20250902+cpu.whl");
}

TEST(IndexPage, ReadsAListingWithoutADocument) {
  auto const links = links_in(
      "<a href=\"/libtorch/nightly/cpu/libtorch-shared-with-deps-2.9.0.dev20250902%2Bcpu.zip\">"
      "libtorch-shared-with-deps-2.9.0.dev20250902%2Bcpu.zip</a><br/>\n"
      "<a href=\"/libtorch/nightly/cpu/libtorch-shared-with-deps-latest.zip\">"
      "libtorch-shared-with-deps-latest.zip</a><br/>");
  std::vector<std::string> names;
  for (auto const& link : links)
    names.push_back(link.name);
  EXPECT_THAT(names,
              ElementsAre("libtorch-shared-with-deps-2.9.0.dev20250902+cpu.zip",
                          "libtorch-shared-with-deps-latest.zip"));
  EXPECT_EQ(links[0].url,
            "https://download.pytorch.org/libtorch/nightly/cpu/"
            "libtorch-shared-with-deps-2.9.0.dev20250902%2Bcpu.zip");
}

TEST(IndexPage, ReadsYankedMarks) {
  auto const links = links_in(page_with("href=\"../a.whl\" data-yanked=\"broken\""));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_TRUE(links[0].is_yanked);
}

TEST(IndexPage, ObeysItsOwnBase) {
  auto const links = links_in(
      "<html><head><base href=\"https://cdn.example/x/\"></head>"
      "<body><a href=\"a.whl\">a</a></body></html>");
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].url, "https://cdn.example/x/a.whl");
}

TEST(IndexPage, SkipsLinksOtherThanHttp) {
  EXPECT_THAT(links_in("<html><body><a name=\"top\">top</a><a href=\"#top\">up</a>"
                       "<a href=\"javascript:alert(1)\">x</a><a href=\"file:///etc/passwd\">x</a>"
                       "<a href=\"mailto:a@b\">x</a><a href=\"http://[\">x</a></body></html>"),
              testing::Each(testing::Field(&PageLink::url, index_url)));
}

TEST(IndexPage, MayBeEmpty) {
  EXPECT_THAT(links_in("<!DOCTYPE html><html><body></body></html>"), IsEmpty());
}

TEST(IndexPage, ReadsTwentyThousandFiles) {
  std::string page = "<html><body>";
  for (int i = 0; i < 20'000; ++i)
    page += "<a href=\"/whl/nightly/cpu/torch-2.9.0.dev" + std::to_string(i) +
            "%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl\" data-core-metadata=\"sha256=" + digest +
            "\">torch</a><br/>\n";
  auto const links = links_in(page + "</body></html>");
  ASSERT_EQ(links.size(), 20'000U);
  EXPECT_THAT(links.back().name, HasSubstr("dev19999+cpu"));
}

TEST(IndexPage, ReadsTextOfAnyEncoding) {
  auto const page = [](std::string const& head, std::string const& text) {
    return "<html><head>" + head + "</head><body><h1>" + text + "</h1><a href=\"a.whl\">" + text +
           "</a></body></html>";
  };
  for (auto const& one : {page("<meta charset=\"utf-8\">", "caf\xe9 \xff\xfe"),
                          page("", "\xc3\xa9"),
                          page("<meta charset=\"nonsense-17\">", "\xe9"),
                          page("<meta charset=\"iso-8859-1\">", "\xc3\xa9")}) {
    auto const links = links_in(one);
    ASSERT_EQ(links.size(), 1U) << one;
    EXPECT_EQ(links[0].name, "a.whl");
  }
}

TEST(IndexPage, SurvivesElementsInsideElements) {
  std::string page = "<html><body>";
  for (int i = 0; i < 100'000; ++i)
    page += "<div>";
  EXPECT_EQ(links_in(page + "<a href=\"a.whl\">a</a></body></html>").size(), 1U);
}

TEST(IndexPage, HasThePythonsThatAFileRequires) {
  auto const links = links_in(page_with("href=\"a.whl\" data-requires-python=\"&gt;=3.10\""));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].requires_python, ">=3.10");
  EXPECT_EQ(links_in(page_with("href=\"a.whl\""))[0].requires_python, "");
}

TEST(IndexPage, IsRefusedWhenItIsIncomplete) {
  auto const page = page_with("href=\"../" + wheel_file + "\"");
  for (std::size_t size = 0; size < page.find("</html>"); ++size) {
    auto const links = links_of(page.substr(0, size), index_url);
    ASSERT_FALSE(links.has_value()) << page.substr(0, size);
    EXPECT_EQ(links.error().code, ErrorCode::corrupt);
  }
}

TEST(IndexPage, IsRefusedWhenAListingIsIncomplete) {
  std::string const listing = "<a href=\"a.zip\">a.zip</a><br/>\n<a href=\"b.zip\">b.zip</a><br/>";
  for (auto const* const end : {"b.zip\">", "\"b.zip", "b.zip</a"}) {
    auto const cut = listing.substr(0, listing.rfind(end) + std::string{end}.size() - 1);
    EXPECT_FALSE(links_of(cut, index_url).has_value()) << cut;
  }
}

struct Bad {
  std::string name;
  std::string page;
  std::string why;
};

void PrintTo(Bad const& bad, std::ostream* stream) {
  *stream << bad.name;
}

class BadIndexPage : public testing::TestWithParam<Bad> {};

TEST_P(BadIndexPage, IsRefusedInOneLine) {
  auto const links = links_of(GetParam().page, index_url);
  ASSERT_FALSE(links.has_value());
  EXPECT_EQ(links.error().code, ErrorCode::corrupt);
  EXPECT_EQ(links.error().message, std::string{"index "} + index_url + ": " + GetParam().why);
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    BadIndexPage,
    testing::Values(
        Bad{"Nothing", "", "it is not an HTML page"},
        Bad{"Spaces", " \n\n ", "it is not an HTML page"},
        Bad{"Json", R"({"message": "not here"})", "it is not an HTML page"},
        Bad{"Zeros", std::string(1000, '\0'), "it is not an HTML page"},
        Bad{"Archive", std::string{"PK\x03\x04\x14\x00\x00", 7}, "it is not an HTML page"},
        Bad{"OpenComment",
            "<html><body></body></html><!-- <a href=\"a.whl\">a</a>",
            "it is incomplete"}),
    [](auto const& test) { return test.param.name; });

// No parameter of the test above: each process of these tests would copy 64 MiB several times.
TEST(IndexPage, IsRefusedWhenItIsTooLarge) {
  auto const links = links_of(std::string(largest_page + 1, ' '), index_url);
  ASSERT_FALSE(links.has_value());
  EXPECT_EQ(links.error().code, ErrorCode::corrupt);
  EXPECT_EQ(links.error().message,
            std::string{"index "} + index_url + ": it has 67108865 bytes, allowed are 67108864");
}

}  // namespace
}  // namespace torchwatch::fetch
