#include "fetch/offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::fetch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<PageLink> links_to(std::vector<std::string> const& names) {
  std::vector<PageLink> links;
  for (auto const& name : names)
    links.push_back({"https://host/" + name, name, "", false});
  return links;
}

/// Returns the names of the files without their common parts.
std::vector<std::string> offered(std::vector<std::string> const& names,
                                 PackageFilter const& filter = {}) {
  std::vector<std::string> urls;
  for (auto const& offer : offers_in(links_to(names), filter))
    urls.push_back(offer.url.substr(std::string{"https://host/"}.size()));
  return urls;
}

std::string wheel_of(std::string const& version,
                     std::string const& python = "cp312",
                     std::string const& platform = "manylinux_2_28_x86_64") {
  auto const end_of_number = python.find_first_not_of("cp0123456789");
  return "torch-" + version + "-" + python.substr(0, end_of_number) + "-" + python + "-" +
         platform + ".whl";
}

auto const monday = std::string{"2.9.0.dev20250901+cpu"};
auto const tuesday = std::string{"2.9.0.dev20250902+cpu"};

TEST(Offers, AreOnePerDateOldestFirst) {
  EXPECT_THAT(offered({wheel_of(tuesday), wheel_of(monday)}),
              ElementsAre(wheel_of(monday), wheel_of(tuesday)));
}

TEST(Offers, HaveAddressAndDigest) {
  auto links = links_to({wheel_of(monday)});
  links[0].sha256 = std::string(64, 'a');
  auto const offers = offers_in(links, {});
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].url, "https://host/" + wheel_of(monday));
  EXPECT_EQ(offers[0].sha256, std::string(64, 'a'));
  EXPECT_EQ(offers[0].package.date, "2025-09-01");
}

TEST(Offers, AreForEachPythonOfAVersionTheNewestLast) {
  EXPECT_THAT(
      offered({wheel_of(monday, "cp310"), wheel_of(monday, "cp312"), wheel_of(monday, "cp39")}),
      ElementsAre(wheel_of(monday, "cp39"), wheel_of(monday, "cp310"), wheel_of(monday, "cp312")));
}

TEST(Offers, MatchThePythonOfTheFilter) {
  PackageFilter filter;
  filter.python = "cp310";
  EXPECT_THAT(
      offered({wheel_of(monday, "cp310"), wheel_of(monday, "cp312"), wheel_of(tuesday)}, filter),
      ElementsAre(wheel_of(monday, "cp310")));
}

TEST(Offers, ThatAreFreeThreadedComeBeforeOrdinaryOnes) {
  std::vector<std::string> const names{wheel_of(monday, "cp313t"), wheel_of(monday, "cp312")};
  EXPECT_THAT(offered(names), ElementsAre(names[0], names[1]));
  PackageFilter filter;
  filter.abi = "cp313t";
  EXPECT_THAT(offered(names, filter), ElementsAre(wheel_of(monday, "cp313t")));
}

TEST(Offers, MatchTheVariantOfTheFilter) {
  PackageFilter filter;
  filter.variant = "cu130";
  auto const cuda = wheel_of("2.9.0.dev20250901+cu130");
  EXPECT_THAT(offered({wheel_of(monday), cuda, wheel_of("2.9.0.dev20250901")}, filter),
              ElementsAre(cuda));
}

TEST(Offers, AreForTheMachine) {
  PackageFilter filter;
  filter.machine = "x86_64";
  auto const older = wheel_of(tuesday, "cp312", "linux_x86_64");
  EXPECT_THAT(offered({wheel_of(monday, "cp312", "manylinux_2_28_aarch64"),
                       wheel_of(monday, "cp312", "win_amd64"),
                       wheel_of(monday, "cp312", "macosx_11_0_arm64"),
                       older},
                      filter),
              ElementsAre(older));
}

/// Calls why_none_fits() for a page of wheels.
std::string why_none(std::vector<std::string> const& names, PackageFilter const& filter) {
  return why_none_fits(links_to(names), filter);
}

PackageFilter cuda_filter() {
  PackageFilter filter;
  filter.variant = "cu126";
  filter.machine = "x86_64";
  return filter;
}

/// Calls newer_for_other_pythons() for a page of wheels.
std::string newer(std::vector<std::string> const& names, std::string const& python) {
  PackageFilter filter;
  filter.variant = "cpu";
  filter.machine = "x86_64";
  filter.python = python;
  return newer_for_other_pythons(links_to(names), filter);
}

std::string cpu_wheel(std::string const& day, std::string const& python) {
  return "torch-2.9.0.dev" + day + "+cpu-" + python + "-" + python + "-manylinux_2_28_x86_64.whl";
}

TEST(NewerForOtherPythons, NamesThePythonsOfTheNewestNightly) {
  std::vector<std::string> const names{cpu_wheel("20260101", "cp310"),
                                       cpu_wheel("20260101", "cp312"),
                                       cpu_wheel("20260102", "cp312"),
                                       cpu_wheel("20260102", "cp313"),
                                       wheel_of("2.9.0.dev20260103+cu130", "cp314")};
  EXPECT_EQ(newer(names, "cp310"), "cp312, cp313");
  EXPECT_EQ(newer(names, "cp312"), "");
  EXPECT_EQ(newer(names, ""), "");
  EXPECT_EQ(newer({}, "cp310"), "");
}

TEST(WhyNoneFits, NamesTheChannelWhenItDiffers) {
  EXPECT_EQ(why_none({wheel_of(monday), wheel_of("2.9.0.dev20250901+cu128")}, cuda_filter()),
            "channel is \"cu126\", found: cpu, cu128");
  EXPECT_EQ(why_none({wheel_of("2.9.0.dev20250901", "cp312", "macosx_11_0_arm64")}, cuda_filter()),
            "channel is \"cu126\", found: none");
}

TEST(WhyNoneFits, NamesTheFirstPartThatTheBestMiss) {
  auto filter = cuda_filter();
  auto const cuda = std::string{"2.9.0.dev20250901+cu126"};
  EXPECT_EQ(why_none({wheel_of(monday), wheel_of(cuda, "cp312", "manylinux_2_28_aarch64")}, filter),
            "machine is \"x86_64\", found: manylinux_2_28_aarch64");
  filter.python = "cp39";
  EXPECT_EQ(why_none({wheel_of(monday), wheel_of(cuda), wheel_of(cuda, "cp310")}, filter),
            "python is \"cp39\", found: cp310, cp312");
  filter.python = "cp312";
  filter.abi = "cp312t";
  EXPECT_EQ(why_none({wheel_of(cuda)}, filter), "abi is \"cp312t\", found: cp312");
}

TEST(WhyNoneFits, IsEmptyWhenOneFitsOrThereIsNoNightly) {
  EXPECT_EQ(why_none({wheel_of("2.9.0.dev20250901+cu126"), wheel_of(monday)}, cuda_filter()), "");
  EXPECT_EQ(why_none({"torch-2.9.0-cp312-cp312-manylinux_2_28_x86_64.whl"}, cuda_filter()), "");
}

TEST(Offers, IncludeBothVersionsOfADate) {
  auto const branched = wheel_of("2.9.0.dev20251103+cpu");
  auto const trunk = wheel_of("2.10.0.dev20251103+cpu");
  EXPECT_THAT(offered({trunk, branched}), ElementsAre(branched, trunk));
}

TEST(Offers, AreNeverYanked) {
  auto links = links_to({wheel_of(monday)});
  links[0].is_yanked = true;
  EXPECT_THAT(offers_in(links, {}), IsEmpty());
}

TEST(Offers, OfLibTorchIgnoreFiltersForWheels) {
  PackageFilter filter;
  filter.kind = PackageKind::libtorch;
  filter.variant = "cpu";
  filter.python = "cp312";  // LibTorch has no Python
  auto const libtorch = "libtorch-shared-with-deps-" + tuesday + ".zip";
  EXPECT_THAT(
      offered({"libtorch-shared-with-deps-latest.zip", libtorch, wheel_of(tuesday)}, filter),
      ElementsAre(libtorch));
}

}  // namespace
}  // namespace torchwatch::fetch
