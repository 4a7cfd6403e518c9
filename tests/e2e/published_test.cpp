#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bisect/git/history.h"
#include "tests/e2e/dependencies.h"
#include "tests/e2e/expect.h"
#include "tests/fakes/downloads/download_host.h"

// Nightlies like those that PyTorch publishes: packed from this host's LibTorch and fetched over
// TLS. Each gets a worker that is compiled with its own headers.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds longest_published_check{1150};

WorldOptions with_kernels() {
  WorldOptions options;
  options.real = true;
  return options;
}

/// The names of one kind of package.
struct Shape {
  std::string kind;    ///< the first argument of make-package
  std::string feed;    ///< the option feed.kind
  std::string page;    ///< the path of the index
  std::string before;  ///< the part of a file's name before its version
  std::string after;   ///< the part after its version
};

Shape const wheels{"wheel",
                   "wheels",
                   "/whl/nightly/cpu/torch/",
                   "torch-",
                   "-cp312-cp312-manylinux_2_28_x86_64.whl"};
Shape const archives{
    "libtorch", "libtorch", "/libtorch/nightly/cpu/", "libtorch-shared-with-deps-", ".zip"};

/// Returns a name as PyTorch's index writes it.
std::string escaped(std::string name) {
  for (auto at = name.find('+'); at != std::string::npos; at = name.find('+', at))
    name.replace(at, 1, "%2B");
  return name;
}

class Published : public testing::TestWithParam<Shape> {
 protected:
  Published() {
    auto const history = bisect::GitHistory::open((world_.lab() / "repository").string());
    auto const releases = history.value().nightly_releases("nightly", 10).value();
    for (auto const& nightly : world_.truth().at("nightlies"))
      publish(nightly, releases);
    host_.host(GetParam().page, {.content = page_, .etag = "\"page\""});
    publish_companion();
    world_.configure({{"feed",
                       {{"kind", GetParam().feed},
                        {"path", ""},
                        {"url", host_.url()},
                        {"ca_file", identity_.ca.string()}}}});
  }

  /// Packs a nightly with the kernels of its commit and adds it to the page.
  void publish(json const& nightly, std::vector<bisect::NightlyRelease> const& releases) {
    auto const date = nightly.at("date").get<std::string>();
    auto const release = std::ranges::find(releases, date, &bisect::NightlyRelease::date);
    if (release == releases.end()) throw std::runtime_error("no release of " + date);
    auto const kernels = world_.directory() / ("kernels-" + date);
    build(world_, nightly, kernels);
    auto compact = date;
    std::erase(compact, '-');
    auto const version = "2.9.0.dev" + compact + "+cpu";
    auto const name = GetParam().before + version + GetParam().after;
    auto const file = world_.directory() / name;
    pack({GetParam().kind,
          version,
          release->release.hex,
          file.string(),
          (kernels / "lib/liblab.so").string()});
    auto const target = GetParam().page + escaped(name);
    host_.host(target, {.path = file, .etag = "\"" + date + "\""});
    page_ += "<a href=\"" + target + "\">" + name + "</a><br/>\n";
  }

  /// Publishes the companion that the METADATA of the wheels names.
  void publish_companion() {
    auto const* const name = "nvidia_lab-1.0-py3-none-manylinux_2_27_x86_64.whl";
    auto const file = world_.directory() / name;
    pack({"companion", "nvidia-lab", "1.0", file.string()});
    auto const page = std::string{"/whl/nightly/cpu/nvidia-lab/"};
    host_.host(page, {.content = std::string{"<a href=\""} + name + "\">x</a>", .etag = "\"1\""});
    host_.host(page + name, {.path = file, .etag = "\"1\""});
  }

  void pack(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MAKE_PACKAGE_PROGRAM);
    auto const packed = world_.start_program(arguments).wait();
    if (packed.status != 0) throw std::runtime_error("make-package: " + packed.err);
  }

  /// Expects that both nightlies share the companion's file, which was downloaded once.
  void expect_companion() {
    auto const library = fs::path{"nvidia/lab/lib/liblab.so.1"};
    auto const builds = world_.state() / "builds";
    EXPECT_TRUE(fs::equivalent(builds / "nightly-1" / library, builds / "nightly-2" / library));
    auto const is_companion = [](auto const& request) {
      return request.target.ends_with("x86_64.whl") &&
             request.target.find("nvidia_lab") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(host_.requests(), is_companion), 1);
    EXPECT_THAT(world_.run({"builds"}).out, HasSubstr("companion-nvidia-lab-1_0"));
  }

  World world_{with_kernels()};
  fakes::ServerIdentity identity_ = fakes::make_identity(world_.directory(), {"127.0.0.1"});
  fakes::DownloadHost host_{identity_};
  std::string page_;
};

TEST_P(Published, NightliesAreFetchedPreparedAndCompared) {
  world_.configure({{"source", {{"repository", ""}, {"recipe", ""}}}});

  auto const check = world_.start({"check", "--json"}).wait(longest_published_check);

  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  EXPECT_THAT(answer.moved, ElementsAre("test_eval[dcgan-cpu-eager]_latency"));
  auto const incident = json::parse(check.out).at("incidents").at(0);
  auto const report = text_of(incident.at("report").get<std::string>());
  EXPECT_THAT(report, HasSubstr("2.9.0.dev20250903+cpu"));
  EXPECT_THAT(report, HasSubstr("/compare/"));
  expect_no_process_left(world_);
  if (GetParam().kind == "wheel") expect_companion();

  auto const again = world_.run({"check", "--json"});
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_EQ(expect_answer(again), answer);
}

INSTANTIATE_TEST_SUITE_P(Real,
                         Published,
                         testing::Values(wheels, archives),
                         [](testing::TestParamInfo<Shape> const& test) { return test.param.kind; });

}  // namespace
}  // namespace torchwatch::e2e
