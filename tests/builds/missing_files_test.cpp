#include "daemon/builds/missing_files.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "tests/bisect/git_repository.h"
#include "tests/no_descriptors_left.h"
#include "tests/runner/run.h"

namespace torchwatch::builds {
namespace {

class MissingFiles : public testing::TestWithParam<char const*> {
 protected:
  MissingFiles() {
    upstream_.git("config uploadpack.allowFilter true");
    upstream_.git("config uploadpack.allowAnySHA1InWant true");
    upstream_.write("aten/add.cpp", "one\n");
    upstream_.write("README.md", "text\n");
    first_ = upstream_.commit("first");
    upstream_.write("aten/add.cpp", "two\n");
    upstream_.commit("second");
    source_.repository = upstream_.sibling("clone").string();
    source_.remote = "origin";
  }

  void make_clone(std::string const& how) const {
    upstream_.git("clone --quiet --bare " + how + " 'file://" + upstream_.path().string() + "' '" +
                  source_.repository + "'");
  }

  Result<> bring() {
    return tests::run(loop_, bring_missing_files(loop_.get_executor(), source_, first_));
  }

  /// Objects of the first commit that the clone lacks.
  bool lacks_some() const {
    auto const objects =
        upstream_.git("-C '" + source_.repository +
                      "' rev-list --objects --missing=print --no-walk " + first_.hex);
    return objects.find('?') != std::string::npos;
  }

  bisect::GitRepository upstream_;
  CommitSha first_;
  config::SourceOptions source_;
  boost::asio::io_context loop_{1};
};

TEST_P(MissingFiles, OfACommitAreBroughtFromTheRemoteThatPromisedThem) {
  make_clone(GetParam());
  ASSERT_TRUE(lacks_some());
  auto const brought = bring();
  ASSERT_TRUE(brought) << brought.error().message;
  EXPECT_FALSE(lacks_some());
}

TEST_P(MissingFiles, MayComeLaterWhereTheRemoteDoesNotAnswer) {
  make_clone(GetParam());
  std::filesystem::rename(upstream_.path(), upstream_.sibling("gone"));
  std::filesystem::create_directory(upstream_.path());
  EXPECT_EQ(bring().error().code, ErrorCode::unavailable);
}

TEST_P(MissingFiles, AreNotLookedForByAHostThatCannotStartGit) {
  make_clone(GetParam());
  Result<> brought;
  {
    tests::NoDescriptorsLeft const none;
    brought = bring();
  }
  ASSERT_FALSE(brought);
  EXPECT_TRUE(brought.error().is_of_host) << brought.error().message;
  EXPECT_TRUE(bring());
}

TEST_P(MissingFiles, DoNotComeWhereNothingIsFetched) {
  make_clone(GetParam());
  source_.remote.clear();
  EXPECT_EQ(bring().error().code, ErrorCode::not_found);
  EXPECT_TRUE(lacks_some());
}

INSTANTIATE_TEST_SUITE_P(MissingFiles,
                         MissingFiles,
                         testing::Values("--filter=blob:none", "--filter=tree:0"));

TEST_F(MissingFiles, AreNoneInAWholeClone) {
  make_clone("");
  source_.remote.clear();
  EXPECT_TRUE(bring());
}

}  // namespace
}  // namespace torchwatch::builds
