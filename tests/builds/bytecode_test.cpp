#include "daemon/builds/bytecode.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/run.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::builds {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr auto system_python = "/usr/bin/python3";

/// Returns what a shell command prints.
std::string output_of(std::string const& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"popen " + command};
  std::string output;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    output.push_back(static_cast<char>(c));
  pclose(pipe);
  return output;
}

/// An unpacked wheel of torch in a state directory, with a companion.
class BytecodeTest : public testing::Test {
 protected:
  BytecodeTest() {
    options_.state_dir = folder_ / "state";
    options_.source.readable = {folder_.path().string()};
    write("torch-2.dist-info/METADATA", "Name: torch\nVersion: 2\n");
    write("sympy-1.dist-info/METADATA", "Name: sympy\nVersion: 1\n");
    write("torch/__init__.py", "answer = 42\n");
    write("torch/nn/__init__.py", "");
    write("torch/later.py", "def (:\n");
    write("sympy/core.py", "zero = 0\n");
    wheel_is_for("cp312");
  }

  fs::path wheel() const { return folder_ / "state/builds/nightly-1"; }

  void write(std::string const& file, std::string const& text) const {
    fs::create_directories((wheel() / file).parent_path());
    std::ofstream{wheel() / file} << text;
  }

  void wheel_is_for(std::string const& python) const {
    write("torch-2.dist-info/WHEEL", "Tag: " + python + "-" + python + "-linux_x86_64\n");
  }

  /// Makes the interpreter a script that is Python 3.12 and counts its compilations.
  void use_script(std::string const& compiling) {
    auto const script = folder_ / "python3";
    std::ofstream{script} << "#!/bin/sh\n"
                             "[ \"$2\" != -c ] || exec echo 3.12\n"
                             "out=${3#pycache_prefix=}\n"
                          << compiling << '\n';
    fs::permissions(script, fs::perms::owner_all);
    options_.builds.python = script;
  }

  Result<> compile() { return tests::run(loop_, bytecode_.compile(wheel())); }

  bool is_noted() const { return fs::exists(wheel() / ".torchwatch-bytecode"); }

  tests::TemporaryFolder folder_;
  boost::asio::io_context loop_{1};
  config::Options options_;
  Workshop workshop_{loop_.get_executor(), options_};
  Bytecode bytecode_{loop_.get_executor(), workshop_};
};

constexpr auto compile_one =
    "mkdir -p \"$out$7/torch\" && echo code > \"$out$7/torch/__init__.cpython-312.pyc\"";

TEST_F(BytecodeTest, OfTheWheelAndItsCompanionsIsWhatPythonImports) {
  std::string const asking = "import sys; print('%d%d' % sys.version_info[:2], end='')";
  auto const version = output_of(std::string{system_python} + " -c \"" + asking + "\"");
  wheel_is_for("cp" + version);
  options_.builds.python = system_python;

  auto const compiled = compile();

  ASSERT_TRUE(compiled) << compiled.error().message;
  auto const end = ".cpython-" + version + ".pyc";
  for (auto const* const file :
       {"torch/__pycache__/__init__", "torch/nn/__pycache__/__init__", "sympy/__pycache__/core"})
    EXPECT_TRUE(fs::exists(wheel() / (file + end))) << file;
  EXPECT_FALSE(fs::exists(wheel() / ("torch/__pycache__/later" + end))) << "it has an error";
  EXPECT_TRUE(is_noted());
  EXPECT_FALSE(fs::exists(folder_ / "state/bytecode/nightly-1"));
  EXPECT_THAT(output_of("PYTHONPATH='" + wheel().string() + "' " + system_python +
                        " -B -v -c 'import torch; print(torch.answer)' 2>&1"),
              testing::AllOf(HasSubstr("torch/__pycache__/__init__" + end + " matches"),
                             HasSubstr("\n42\n")));
}

TEST_F(BytecodeTest, IsCompiledOnce) {
  use_script(compile_one);
  ASSERT_TRUE(compile());
  auto const place = wheel() / "torch/__pycache__/__init__.cpython-312.pyc";
  EXPECT_EQ(tests::text_of(place), "code\n");
  fs::remove(place);
  ASSERT_TRUE(compile());
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(BytecodeTest, IsCompiledAgainAfterAKill) {
  use_script(compile_one);
  auto const half = folder_ / "state/bytecode/nightly-1";
  fs::create_directories(half);
  std::ofstream{half / "stale.pyc"} << "half";
  ASSERT_TRUE(compile());
  EXPECT_TRUE(is_noted());
  EXPECT_FALSE(fs::exists(half));
}

TEST_F(BytecodeTest, IsCompiledByThePython3OfPathIfNoneIsConfigured) {
  use_script(compile_one);
  options_.builds.python.clear();
  tests::TemporaryVariable const path{"PATH", folder_.path().string() + ":/usr/bin:/bin"};
  ASSERT_TRUE(compile());
  EXPECT_EQ(tests::text_of(wheel() / "torch/__pycache__/__init__.cpython-312.pyc"), "code\n");
}

TEST_F(BytecodeTest, IsSkippedForAnotherPython) {
  use_script(compile_one);
  wheel_is_for("cp311");
  ASSERT_TRUE(compile());
  EXPECT_FALSE(is_noted());
  EXPECT_FALSE(fs::exists(wheel() / "torch/__pycache__"));
}

TEST_F(BytecodeTest, IsSkippedWhenTheInterpreterFails) {
  options_.builds.python = "/bin/false";
  auto const compiled = compile();
  EXPECT_TRUE(compiled) << compiled.error().message;
  EXPECT_FALSE(is_noted());
}

TEST_F(BytecodeTest, IsKeptWhereSomeFilesDoNotCompile) {
  use_script(std::string{compile_one} + "\necho SyntaxError\nexit 1");
  ASSERT_TRUE(compile());
  EXPECT_TRUE(fs::exists(wheel() / "torch/__pycache__/__init__.cpython-312.pyc"));
  EXPECT_TRUE(is_noted());
}

TEST_F(BytecodeTest, InterpreterCannotWriteToTheWheel) {
  use_script("echo hostile > \"$7/torch/__init__.py\"; echo hostile > \"$7/new.py\"");
  auto const compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(tests::text_of(wheel() / "torch/__init__.py"), "answer = 42\n");
  EXPECT_FALSE(fs::exists(wheel() / "new.py"));
}

TEST_F(BytecodeTest, LinksOfTheInterpreterAreNotFollowed) {
  use_script("mkdir -p \"$out$7/torch\"; ln -s /etc/passwd \"$out$7/torch/a.cpython-312.pyc\"");
  ASSERT_TRUE(compile());
  EXPECT_FALSE(fs::exists(wheel() / "torch/__pycache__/a.cpython-312.pyc"));
}

}  // namespace
}  // namespace torchwatch::builds
