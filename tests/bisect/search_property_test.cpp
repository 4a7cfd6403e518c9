#include <algorithm>
#include <bit>
#include <iostream>
#include <random>
#include <string>

#include "trial.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

/// `broken[i]` tells whether suspect i cannot be built; the last one's letter does not matter.
std::string history(std::size_t culprit, std::vector<bool> const& broken) {
  std::string letters;
  for (std::size_t i = 0; i < broken.size(); ++i) {
    letters += broken[i] ? 's' : i < culprit ? 'g' : 'b';
  }
  return letters;
}

/// The best answer that anyone could give who tried every commit.
std::string narrowest(std::string const& letters) {
  auto const last_good = letters.rfind('g');
  auto const first = last_good == std::string::npos ? 0 : last_good + 1;
  auto const bad = std::min(letters.find('b'), letters.size() - 1);
  std::string text;
  for (auto i = first; i <= bad; ++i) {
    text += (text.empty() ? "c" : " c") + std::to_string(i);
  }
  return text;
}

std::size_t log2_of(std::size_t count) {
  return static_cast<std::size_t>(std::bit_width(count));
}

TEST(SearchProperty, EveryCulpritAndEverySetOfSkipsGivesTheNarrowestHonestRange) {
  for (std::size_t size = 1; size <= 10; ++size) {
    for (std::size_t culprit = 0; culprit < size; ++culprit) {
      for (std::size_t set = 0; set < (std::size_t{1} << (size - 1)); ++set) {
        std::vector<bool> broken;
        for (std::size_t i = 0; i < size; ++i) {
          broken.push_back((set >> i & 1U) != 0);
        }
        auto const letters = history(culprit, broken);
        Trial trial{letters};
        trial.run();
        ASSERT_EQ(trial.suspects(), narrowest(letters)) << letters << ": " << trial.tried();
        ASSERT_LT(trial.count(), size) << letters << ": " << trial.tried();
      }
    }
  }
}

TEST(SearchProperty, WithoutSkipsItTakesTheLogarithm) {
  for (std::size_t size = 1; size <= 130; ++size) {
    for (std::size_t culprit = 0; culprit < size; ++culprit) {
      Trial trial{history(culprit, std::vector<bool>(size, false))};
      trial.run();
      ASSERT_EQ(trial.suspects(), "c" + std::to_string(culprit));
      ASSERT_LE(trial.count(), log2_of(size - 1)) << size << " suspects, culprit " << culprit;
    }
  }
}

TEST(SearchProperty, ABrokenSpanElsewhereCostsLittle) {
  constexpr std::size_t size = 256;
  std::size_t most = 0;
  double trials = 0;
  double cases = 0;
  for (std::size_t width : {1U, 5U, 20U, 100U}) {
    for (std::size_t begin = 0; begin + width < size; begin += 17) {
      std::vector<bool> broken(size, false);
      std::fill_n(broken.begin() + static_cast<std::ptrdiff_t>(begin), width, true);
      for (std::size_t culprit = 0; culprit < size; culprit += 3) {
        if (culprit >= begin && culprit <= begin + width) continue;
        Trial trial{history(culprit, broken)};
        trial.run();
        ASSERT_EQ(trial.suspects(), "c" + std::to_string(culprit));
        most = std::max(most, trial.count());
        trials += static_cast<double>(trial.count());
        ++cases;
      }
    }
  }
  std::cout << "256 suspects, one broken span: " << trials / cases << " trials on average, " << most
            << " at most\n";
  EXPECT_LE(most, 2 * log2_of(size));
  EXPECT_LE(trials / cases, static_cast<double>(log2_of(size)) + 1);
}

TEST(SearchProperty, RandomSkipsCostLittleMoreThanTheirShare) {
  constexpr std::size_t size = 200;
  std::mt19937_64 random{20261121};
  for (double const share : {0.1, 0.3, 0.6}) {
    std::bernoulli_distribution breaks{share};
    double trials = 0;
    for (std::size_t run = 0; run < 1000; ++run) {
      std::vector<bool> broken(size);
      std::generate(broken.begin(), broken.end(), [&] { return breaks(random); });
      auto const letters = history(run % size, broken);
      Trial trial{letters};
      trial.run();
      ASSERT_EQ(trial.suspects(), narrowest(letters)) << letters << ": " << trial.tried();
      trials += static_cast<double>(trial.count());
    }
    double const average = trials / 1000;
    std::cout << "200 suspects, " << share * 100 << "% broken: " << average << " trials\n";
    EXPECT_LE(average, (static_cast<double>(log2_of(size)) + 2) / (1 - share));
  }
}

}  // namespace
}  // namespace torchwatch::bisect
