/// Companions for Python, from a server with pages and wheels like those of PyTorch.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/builds/companions.h"
#include "storage/base/digest.h"
#include "tests/fakes/downloads/download_host.h"
#include "tests/fakes/memory/scripted_budget.h"
#include "tests/fetch/archive_writer.h"
#include "tests/runner/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr auto torch_metadata = R"(Metadata-Version: 2.4
Name: torch
Version: 2.12.0.dev20260408+cu130
Requires-Dist: filelock
Requires-Dist: setuptools<82; python_version >= "3.12"
Requires-Dist: sympy>=1.13.3
Requires-Dist: jinja2
Requires-Dist: triton==3.7.0+git282c8251; platform_system == "Linux"
Provides-Extra: optree
Requires-Dist: optree>=0.13.0; extra == "optree"
)";

constexpr auto for_cp312 = "cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64";
constexpr auto for_cp313 = "cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64";
constexpr auto for_any = "py3-none-any";

/// Returns the name of a project in the name of its wheel.
std::string escaped_name(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

class PublishedCompanions : public testing::Test {
 protected:
  PublishedCompanions() {
    options_.state_dir = folder_ / "state";
    options_.feed.kind = config::FeedKind::wheels;
    options_.feed.url = host_.url();
    options_.feed.channel = "cu130";
    options_.suite.needs = config::BuildNeeds::python;
    write("torch-2.12.0.dev20260408+cu130.dist-info/METADATA", torch_metadata);
    write("torch-2.12.0.dev20260408+cu130.dist-info/WHEEL",
          "Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_28_x86_64\n");
    write("torch/__init__.py", "");
    publish("filelock", "3.20.0", for_any, "");
    publish("sympy", "1.14.0", for_any, "Requires-Dist: mpmath<1.4,>=1.1.0\n");
    publish("mpmath", "1.3.0", for_any, "Requires-Dist: pytest>=4.6; extra == 'tests'\n");
    publish("jinja2", "3.1.6", for_any, "Requires-Dist: MarkupSafe>=2.0\n");
    publish("markupsafe", "3.0.3", "cp312-cp312-musllinux_1_2_x86_64", "");
    publish("markupsafe", "3.0.3", for_cp312, "");
    publish("triton", "3.7.0+git282c8251", for_cp313, "");
    publish("triton", "3.7.0+git282c8251", for_cp312, "Requires-Python: <3.15,>=3.10\n");
  }

  fs::path directory() const { return folder_ / "state/builds/nightly-1"; }

  void write(std::string const& file, std::string const& text) const {
    fs::create_directories((directory() / file).parent_path());
    std::ofstream{directory() / file} << text;
  }

  /// Adds a wheel with one module to the host, and to the page of its project.
  void publish(std::string const& name,
               std::string const& version,
               std::string const& tag,
               std::string const& fields) {
    auto const file = escaped_name(name) + "-" + version + "-" + tag + ".whl";
    auto const packed = wheel(name, version, tag, fields);
    Sha256 digest;
    digest.add(packed);
    link(name, file, digest.hex());
    auto target = file;
    if (auto const plus = target.find('+'); plus != std::string::npos)
      target.replace(plus, 1, "%2B");
    host_.host("/whl/nightly/" + target, {.content = packed, .etag = "\"" + file + "\""});
  }

  /// Adds a link to the page of a project.
  void link(std::string const& name, std::string const& file, std::string const& sha256) {
    auto target = file;
    if (auto const plus = target.find('+'); plus != std::string::npos)
      target.replace(plus, 1, "%2B");
    auto& links = links_[name];
    links +=
        "    <a href=\"/whl/nightly/" + target + "#sha256=" + sha256 + "\">" + file + "</a><br/>\n";
    host_.host("/whl/nightly/cu130/" + name + "/",
               {.content = "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for " + name +
                           "</h1>\n" + links + "  </body>\n</html>\n<!--TIMESTAMP 1775692800-->",
                .etag = "\"" + std::to_string(links.size()) + "\""});
  }

  std::string wheel(std::string const& name,
                    std::string const& version,
                    std::string const& tag,
                    std::string const& fields) const {
    auto const archive = folder_ / "made.whl";
    auto const info = escaped_name(name) + "-" + version + ".dist-info/";
    fetch::ArchiveWriter writer{archive, fetch::ArchiveWriter::Format::zip};
    writer.add_file(escaped_name(name) + "/__init__.py", "tag = '" + tag + "'\n");
    writer.add_file(
        info + "METADATA",
        "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + fields);
    writer.add_file(info + "WHEEL", "Wheel-Version: 1.0\nTag: " + tag + "\n");
    writer.add_file(info + "RECORD", "");
    writer.close();
    auto packed = tests::text_of(archive);
    fs::remove(archive);
    return packed;
  }

  Result<> bring() {
    FetchProgram fetcher{loop_.get_executor(), FETCH_PROGRAM};
    Companions companions{loop_.get_executor(), options_, fetcher, budget_};
    return tests::run(loop_, companions.bring(directory()));
  }

  std::string module_of(std::string const& name) const {
    return tests::text_of(directory() / name / "__init__.py");
  }

  tests::TemporaryFolder folder_;
  fakes::DownloadHost host_;
  fakes::ScriptedBudget budget_;
  config::Options options_;
  std::map<std::string, std::string> links_;
  boost::asio::io_context loop_{1};
};

TEST_F(PublishedCompanions, AreTheFilesForThisPython) {
  auto const brought = bring();
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_EQ(module_of("triton"), "tag = '" + std::string{for_cp312} + "'\n");
  EXPECT_EQ(module_of("markupsafe"), "tag = '" + std::string{for_cp312} + "'\n");
  for (auto const* const name : {"filelock", "sympy", "mpmath", "jinja2"})
    EXPECT_EQ(module_of(name), "tag = 'py3-none-any'\n") << name;
  EXPECT_TRUE(fs::exists(directory() / "triton-3.7.0+git282c8251.dist-info/METADATA"));
}

TEST_F(PublishedCompanions, AreDownloadedOnce) {
  ASSERT_TRUE(bring());
  auto const before = host_.requests().size();
  ASSERT_TRUE(bring());
  auto const requests = host_.requests();
  for (auto request = requests.begin() + static_cast<std::ptrdiff_t>(before);
       request != requests.end();
       ++request)
    EXPECT_THAT(request->target, testing::MatchesRegex(".*/(torchvision|torchaudio)/"));
}

TEST_F(PublishedCompanions, OfTheSameDateAreAdded) {
  publish("torchvision",
          "0.27.0.dev20260408+cu130",
          for_cp312,
          "Requires-Dist: numpy\nRequires-Dist: torch==2.12.0.dev20260408\n"
          "Requires-Dist: pillow!=8.3.*,>=5.3.0\n");
  publish("torchaudio",
          "2.11.0.dev20260407+cu130",
          for_cp312,
          "Requires-Dist: torch==2.12.0.dev20260407\n");
  auto const brought = bring();
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_TRUE(fs::exists(directory() / "torchvision/__init__.py"));
  EXPECT_FALSE(fs::exists(directory() / "torchaudio"));
}

TEST_F(PublishedCompanions, WithoutAPageAreNamed) {
  host_.remove("/whl/nightly/cu130/mpmath/");
  auto const brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, ErrorCode::unavailable);
  EXPECT_EQ(brought.error().message,
            "index " + host_.url() +
                "/whl/nightly/cu130/mpmath/: there is no such page, so no mpmath<1.4,>=1.1.0 for "
                "cp312 on x86_64; sympy 1.14.0 requires it");
}

TEST_F(PublishedCompanions, WithAnotherDigestThanThePageAreRejected) {
  links_.erase("filelock");
  link("filelock", "filelock-3.20.0-py3-none-any.whl", std::string(64, 'a'));
  auto const brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_THAT(brought.error().message, HasSubstr(std::string(64, 'a')));
  EXPECT_FALSE(fs::exists(directory() / "filelock"));
}

TEST_F(PublishedCompanions, ThatThePageLinksButTheServerLacksAreNamed) {
  host_.remove("/whl/nightly/filelock-3.20.0-py3-none-any.whl");
  auto const brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, ErrorCode::unavailable);
  EXPECT_THAT(brought.error().message,
              HasSubstr("filelock-3.20.0-py3-none-any.whl: the server has no such file; torch "
                        "2.12.0.dev20260408+cu130 requires it"));
}

TEST_F(PublishedCompanions, OfAWheelForNoPythonAreNone) {
  write("torch-2.12.0.dev20260408+cu130.dist-info/WHEEL", "Tag: py3-none-manylinux_2_28_x86_64\n");
  auto const brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().code, ErrorCode::corrupt);
  EXPECT_THAT(brought.error().message, HasSubstr("found the Python tag py3"));
}

}  // namespace
}  // namespace torchwatch::builds
