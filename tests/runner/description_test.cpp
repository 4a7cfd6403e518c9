#include "runner/suite/description/description.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/temporary_folder.h"

// Descriptions of models in files.
namespace torchwatch::suite {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// Returns the error of a description, without the file's name.
std::string complaint_about(std::string const& text) {
  std::string const where = "model.json";
  try {
    parse_description(text, where);
  } catch (BadDescription const& problem) {
    EXPECT_THAT(problem.what(), StartsWith(where));
    return std::string(problem.what()).substr(where.size());
  }
  return "nothing";
}

/// Returns the error of a description with one input.
std::string complaint_about_input(std::string const& tensor, std::string const& batch = "1") {
  return complaint_about(R"({"inputs": [)" + tensor + R"(], "batch": {"eval": )" + batch + "}}");
}

/// Returns the error of a file, without its name.
std::string complaint_about_file(std::filesystem::path const& file) {
  try {
    read_description(file);
  } catch (BadDescription const& problem) {
    return std::string(problem.what()).substr(file.string().size());
  }
  return "nothing";
}

constexpr auto good = R"({
  "inputs": [{"shape": ["batch", 4]}],
  "labels": [{"shape": ["batch"], "type": "int64", "high": 3}],
  "loss": "cross_entropy",
  "learning_rate": 0.1,
  "batch": {"train": 8, "eval": 2}
})";

TEST(Description, HasTheValuesOfTheFile) {
  tests::TemporaryFolder const folder;
  std::ofstream{folder / "model.json"} << good;
  auto const model = read_description(folder / "model.json");

  EXPECT_EQ(model.inputs.at(0).shape,
            (std::vector<std::int64_t>{TensorDescription::batch_size, 4}));
  EXPECT_EQ(model.labels.at(0).type, Element::int64);
  EXPECT_EQ(model.labels.at(0).high, 3);
  EXPECT_EQ(model.loss, Loss::cross_entropy);
  EXPECT_EQ(model.rate, 0.1);
  EXPECT_EQ(model.batch.train, 8);
  EXPECT_EQ(model.batch.eval, 2);
}

TEST(Description, IsRefusedWithOneReason) {
  EXPECT_EQ(complaint_about("[]"), ": found [], allowed is an object");
  EXPECT_EQ(complaint_about(R"({"inputs": [], "batch": {"eval": 1}})"),
            ": inputs: found nothing, allowed is at least one tensor");
  EXPECT_EQ(complaint_about_input(R"({"shape": [0]})"),
            ": inputs[0]: shape: found 0, allowed is a list of whole numbers from 1 to 2^36 and "
            "\"batch\", 16 at most");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1], "type": "int4"}]})"),
            ": inputs[0]: type: found \"int4\", allowed is bool, float32, int64");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1]}]})"),
            R"(: batch: found nothing, allowed is {"train": 32, "eval": 8})");
  EXPECT_EQ(complaint_about(R"({"inputs": [{"shape": [1]}], "loss": "mse", "batch": {}})"),
            ": labels: found nothing, allowed is at least one tensor for this loss");
  EXPECT_EQ(
      complaint_about(R"({"inptus": 1})"),
      ": inptus: found an unknown key, allowed is batch, inputs, labels, learning_rate, loss");
  EXPECT_THAT(complaint_about("{"), StartsWith(": not JSON: "));
}

TEST(Description, RejectsNumbersOutOfRange) {
  EXPECT_EQ(complaint_about_input(R"({"shape": [1], "type": "int64", "high": 1e300})"),
            ": inputs[0]: high: found 1e+300, allowed is a number from -2^53 to 2^53");
  EXPECT_EQ(complaint_about_input(R"({"shape": [1], "type": "int64", "low": 0.2, "high": 0.7})"),
            ": inputs[0]: low: found 0.200000, allowed is a whole number for this type");
  EXPECT_THAT(complaint_about_input(R"({"shape": [1], "type": "int64", "low": 3, "high": 3})"),
              EndsWith("allowed is more than low"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [1], "type": "bool", "high": 3})"),
              HasSubstr("allowed is at most 2"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [1], "low": 1e999})"),
              AllOf(StartsWith(": not JSON: "), HasSubstr("number overflow")));
  EXPECT_EQ(complaint_about_input(R"({"shape": [1], "type": "int64", "low": -9007199254740992})"),
            "nothing");
}

TEST(Description, RejectsSizesOutOfRange) {
  EXPECT_EQ(
      complaint_about_input(R"({"shape": ["batch", "batch", 68719476736]})", "1024"),
      ": inputs[0]: shape: found more elements with a batch of 1024, allowed is 2^36 of them");
  EXPECT_EQ(complaint_about_input(R"({"shape": [68719476736, "batch"]})"), "nothing");
  EXPECT_THAT(complaint_about_input(R"({"shape": [68719476737]})"), HasSubstr("from 1 to 2^36"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [18446744073709551615]})"),
              HasSubstr("shape: found 18446744073709551615, allowed"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [1]})", "18446744073709551615"),
              HasSubstr("eval: found 18446744073709551615, allowed"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [1]})", "1048577"), HasSubstr("up to 2^20"));
  EXPECT_THAT(complaint_about_input(R"({"shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]})"),
              EndsWith("16 at most"));
  std::string many = R"({"shape": [1]})";
  for (int i = 0; i < 64; ++i)
    many += R"(, {"shape": [1]})";
  EXPECT_THAT(complaint_about_input(many), EndsWith("a list of tensors, 64 at most"));
}

TEST(Description, IsRefusedOnOneShortLine) {
  EXPECT_EQ(complaint_about(R"({"a\nb\u007f": 1})").substr(0, 18), R"(: a\nb\u007f: foun)");
  EXPECT_THAT(complaint_about("{\"inputs\": \"a\x7f\xff\x01"), Not(HasSubstr("\x7f")));
  EXPECT_THAT(complaint_about("{\"" + std::string(60'000, 'x') + "\": 1}"),
              SizeIs(testing::Lt(400)));
  EXPECT_THAT(complaint_about("\"" + std::string(60'000, 'x')), SizeIs(testing::Lt(400)));
  EXPECT_THAT(complaint_about_input(R"({"shape": ")" + std::string(60'000, 'x') + "\"}"),
              SizeIs(testing::Lt(400)));
}

/// So deep that printing or destroying it would overflow the stack.
TEST(Description, RejectsDeepNesting) {
  EXPECT_EQ(complaint_about(std::string(60'000, '[')), ": found more levels, allowed are 16");
  EXPECT_EQ(complaint_about_input(R"({"shape": )" + std::string(20'000, '[') +
                                  std::string(20'000, ']') + "}"),
            ": found more levels, allowed are 16");
}

TEST(Description, RejectsLargeAndSpecialFiles) {
  tests::TemporaryFolder const folder;
  std::ofstream{folder / "long"} << good << std::string(limits::bytes, ' ');
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(complaint_about_file(folder / "long"), ": found more bytes, allowed are 65536");
  for (auto const& file : {folder / "pipe", folder / "missing", folder.path(), {"/dev/zero"}})
    EXPECT_EQ(complaint_about_file(file),
              ": not a readable regular file; it must describe the model's file");
}

}  // namespace
}  // namespace torchwatch::suite
