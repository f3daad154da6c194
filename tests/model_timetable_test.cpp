// Claims beside a plain list that is searched from its beginning.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/model/timetable.hpp"

namespace nodewise::model {
namespace model_timetable_test {

/// All claims ever made, and no pause lost.
class PlainTimetable {
 public:
  double claim(double time, double busy) {
    for (const auto& [begin, end] : claims_) {
      if (begin - time >= busy) break;
      time = std::max(time, end);
    }
    const std::pair claim(time, time + busy);
    if (busy > 0) claims_.insert(std::upper_bound(claims_.begin(), claims_.end(), claim), claim);
    return time;
  }

 private:
  std::vector<std::pair<double, double>> claims_;
};

TEST(Timetable, UsesPausesThatAreLongEnough) {
  Timetable card;
  EXPECT_EQ(card.claim(0, 10, 5), 10);
  EXPECT_EQ(card.claim(0, 0, 11), 15);  // 10 are free before
  EXPECT_EQ(card.claim(0, 0, 10), 0);
  EXPECT_EQ(card.claim(0, 0, 1), 26);
  EXPECT_EQ(card.claim(0, 40, 1), 40);
  EXPECT_EQ(card.claim(0, 26.5, 13), 27);
  EXPECT_EQ(card.claim(0, 26.5, 0.5), 41);
  EXPECT_EQ(card.claim(0, 3, 0), 41.5);  // waits, but claims nothing
  EXPECT_EQ(card.claim(0, 41, 1), 41.5);
}

TEST(Timetable, GivesWhatAPlainListDoes) {
  for (const double longest : {1.0, 8.0, 40.0, 1000.0}) {
    for (const double spread : {10.0, 1000.0, 20000.0}) {
      Timetable card(1);
      PlainTimetable plain;
      double now = 0;
      for (std::uint64_t k = 0; k < 3000; ++k) {
        now += std::floor(2 * hash_uniform(k, 1) * (longest < 40 ? longest : 1));
        const double time = now + std::floor(spread * hash_uniform(k, 2));
        const double busy = 1 + std::floor(longest * hash_uniform(k, 3));
        ASSERT_EQ(card.claim(now, time, busy), plain.claim(time, busy))
            << "claim " << k << " of up to " << longest << " within " << spread;
      }
    }
  }
}

// Whole numbers between claims of whole numbers: pauses of 1 are lost to claims of 2 at least.
TEST(Timetable, LosesOnlyWhatNobodyCanUse) {
  Timetable card(2);
  PlainTimetable plain;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    const double time = std::floor(8000 * hash_uniform(k, 4));
    const double busy = 2 + std::floor(3 * hash_uniform(k, 5));
    ASSERT_EQ(card.claim(0, time, busy), plain.claim(time, busy)) << "claim " << k;
  }
}

TEST(Timetable, WithoutLengthsNothingIsClaimed) {
  Timetable card;
  for (int k = 0; k < 10; ++k) EXPECT_EQ(card.claim(0, 1, 0), 1);
  EXPECT_EQ(card.claim(0, 0, 2), 0);
}

}  // namespace model_timetable_test
}  // namespace nodewise::model
