// Fits of latency, rate, protocols, queues and injection limits: exact, noisy, spoilt and
// degenerate.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/model/fit.hpp"

namespace nodewise::model {
namespace model_fit_test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// 1, 2, 4, ..., 2^20.
std::vector<double> powers_of_two() {
  std::vector<double> sizes;
  for (int k = 0; k <= 20; ++k) sizes.push_back(std::ldexp(1, k));
  return sizes;
}

struct Protocol {
  double last_bytes;
  double latency;
  double rate;
};

double seconds(const std::vector<Protocol>& protocols, double bytes) {
  for (const Protocol& p : protocols) {
    if (bytes <= p.last_bytes) return p.latency + bytes / p.rate;
  }
  return nan;
}

const std::vector<Protocol> one = {{1 << 20, 2e-6, 3e9}};
const std::vector<Protocol> three = {{512, 1e-6, 1e9}, {8192, 3e-6, 6e8}, {1 << 20, 9e-6, 5e9}};

/// Times of every size, off by normal relative errors.
std::vector<Sample> measured(const std::vector<Protocol>& protocols, double noise, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<Sample> samples;
  for (const double bytes : powers_of_two()) {
    samples.push_back({bytes, seconds(protocols, bytes) * (1 + noise * normal(random))});
  }
  return samples;
}

bool holds(const Estimate& estimate, double truth) {
  return estimate.low <= truth && truth <= estimate.high;
}

void expect_refused(const std::function<void()>& work, const std::string& why) {
  try {
    work();
    ADD_FAILURE() << "nothing was refused: " << why;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr(why));
  }
}

TEST(PostalFit, FindsWhatExactTimesWereMadeOf) {
  const PostalFit fit = fit_postal(measured(one, 0, 0));
  EXPECT_NEAR(fit.latency_s.value, 2e-6, 1e-14);
  EXPECT_NEAR(fit.rate_bytes_per_s(), 3e9, 3e1);
  EXPECT_NEAR(fit.latency_s.high - fit.latency_s.low, 0, 1e-14);
  EXPECT_EQ(fit.first_bytes, 1);
  EXPECT_EQ(fit.last_bytes, 1 << 20);
  EXPECT_LT(fit.relative_error, 1e-8);
}

TEST(PostalFit, IntervalsHoldTheTruthInNinetyFivePercent) {
  constexpr int trials = 300;
  int latency = 0;
  int rate = 0;
  for (unsigned seed = 0; seed < trials; ++seed) {
    const PostalFit fit = fit_postal(measured(one, 0.05, seed));
    latency += holds(fit.latency_s, 2e-6) ? 1 : 0;
    rate += holds(fit.seconds_per_byte, 1 / 3e9) ? 1 : 0;
    EXPECT_LT(fit.latency_s.high - fit.latency_s.low, 0.3 * 2e-6);
  }
  // Binomial with p = 0.95: standard deviation 3.8; robust intervals are a little off.
  for (const int hits : {latency, rate}) {
    EXPECT_GE(hits, trials * 91 / 100);
    EXPECT_LE(hits, trials * 99 / 100);
  }
}

TEST(PostalFit, TakesTheMedianOfASizeAndSurvivesOutliers) {
  std::vector<Sample> samples;
  for (const Sample& s : measured(one, 0, 0)) {
    for (const double factor : {1.0, 1.0, 1.0, 30.0, 0.2}) {
      samples.push_back({s.bytes, s.seconds * factor});
    }
  }
  EXPECT_NEAR(fit_postal(samples).latency_s.value, 2e-6, 1e-14);

  std::vector<Sample> spoilt = measured(one, 0.01, 7);
  for (const std::size_t k : {2, 9, 17}) spoilt[k].seconds *= 20;  // whole sizes
  const PostalFit fit = fit_postal(spoilt);
  EXPECT_NEAR(fit.latency_s.value, 2e-6, 0.03 * 2e-6);
  EXPECT_NEAR(fit.rate_bytes_per_s(), 3e9, 0.05 * 3e9);
  EXPECT_LT(fit.relative_error, 0.03);
}

TEST(PostalFit, KeepsLatencyFromBecomingNegative) {
  std::vector<Sample> samples;  // a line through -1 microsecond
  for (const double bytes : {4e3, 8e3, 16e3, 32e3, 64e3}) {
    samples.push_back({bytes, -1e-6 + bytes / 1e9});
  }
  const PostalFit fit = fit_postal(samples);
  EXPECT_EQ(fit.latency_s.value, 0);
  EXPECT_EQ(fit.latency_s.low, 0);
  EXPECT_TRUE(fit.has_rate());
  EXPECT_GT(fit.rate_bytes_per_s(), 1e9);
}

TEST(PostalFit, SaysWhereTimesDoNotGrow) {
  std::vector<Sample> falling;
  for (const double bytes : {1.0, 2.0, 4.0, 8.0}) falling.push_back({bytes, 2e-6 - bytes * 1e-8});
  const PostalFit fit = fit_postal(falling);
  EXPECT_FALSE(fit.has_rate());
  EXPECT_GT(fit.rate_bytes_per_s(), 0);
  EXPECT_NEAR(fit.latency_s.value, 2e-6, 1e-7);

  const std::vector<Sample> noisy = {{1, 1.0e-6}, {2, 1.02e-6}, {4, 0.99e-6}, {8, 0.99e-6}};
  EXPECT_FALSE(fit_postal(noisy).has_rate());
  EXPECT_TRUE(std::isfinite(fit_postal(noisy).rate_bytes_per_s()));  // the least one not excluded

  const std::vector<Sample> flat = {{1, 1e-6}, {2, 1e-6}, {4, 1e-6}};
  EXPECT_GT(fit_postal(flat).rate_bytes_per_s(), 1e12);
}

TEST(PostalFit, TwoSizesGiveALineWithoutAnInterval) {
  const PostalFit fit = fit_postal(std::vector<Sample>{{0, 1e-6}, {1000, 2e-6}});
  EXPECT_NEAR(fit.latency_s.value, 1e-6, 1e-15);
  EXPECT_NEAR(fit.rate_bytes_per_s(), 1e9, 1);
  EXPECT_EQ(fit.latency_s.high, std::numeric_limits<double>::infinity());
}

TEST(PostalFit, RefusesWhatIsNoMeasurement) {
  using Samples = std::vector<Sample>;
  expect_refused([] { fit_postal({}); }, "at least two sizes, and there are none");
  expect_refused([] { fit_postal(Samples{{8, 1e-6}}); }, "at least two sizes, and there is one");
  expect_refused([] { fit_postal(Samples{{8, 1e-6}, {8, 2e-6}}); }, "there is one");
  expect_refused([] { fit_postal(Samples{{1, 1e-6}, {8, 0}}); }, "not positive");
  expect_refused([] { fit_postal(Samples{{1, 1e-6}, {8, -1e-6}}); }, "not positive");
  expect_refused([] { fit_postal(Samples{{1, 1e-6}, {8, nan}}); }, "not positive and finite");
  expect_refused([] { fit_postal(Samples{{nan, 1e-6}, {8, 1e-6}}); }, "no number of bytes");
  expect_refused([] { fit_postal(Samples{{-1, 1e-6}, {8, 1e-6}}); }, "no number of bytes");
  expect_refused([] { fit_protocols(Samples{{8, 1e-6}}); }, "at least two sizes");
}

TEST(ProtocolFit, FindsNoSwitchWhereThereIsNone) {
  EXPECT_EQ(fit_protocols(measured(one, 0, 0)).size(), 1U);
  int single = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    single += fit_protocols(measured(one, 0.05, seed)).size() == 1 ? 1 : 0;
  }
  EXPECT_GE(single, 10);
}

TEST(ProtocolFit, FindsTheSwitchesOfExactTimes) {
  const std::vector<PostalFit> pieces = fit_protocols(measured(three, 0, 0));
  ASSERT_EQ(pieces.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(pieces[k].last_bytes, three[k].last_bytes);
    EXPECT_NEAR(pieces[k].latency_s.value, three[k].latency, 1e-6 * three[k].latency);
    EXPECT_NEAR(pieces[k].rate_bytes_per_s(), three[k].rate, 1e-6 * three[k].rate);
  }
  EXPECT_EQ(pieces[1].first_bytes, 1024);
}

TEST(ProtocolFit, FindsThemInNoiseAndBesideOutliers) {
  int right = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::vector<Sample> samples = measured(three, 0.03, seed);
    samples[5].seconds *= 8;
    samples[17].seconds *= 3;
    const std::vector<PostalFit> pieces = fit_protocols(samples);
    right += pieces.size() == 3 && pieces[0].last_bytes == 512 && pieces[1].last_bytes == 8192;
  }
  EXPECT_GE(right, 7);
}

TEST(ProtocolFit, KeepsToTheOptions) {
  const std::vector<Sample> samples = measured(three, 0, 0);
  EXPECT_EQ(fit_protocols(samples, {.max_pieces = 1}).size(), 1U);
  EXPECT_EQ(fit_protocols(samples, {.max_pieces = 2}).size(), 2U);
  EXPECT_EQ(fit_protocols(samples, {.noise = 10}).size(), 1U);
  const std::vector<Sample> few(samples.begin() + 7, samples.begin() + 12);
  EXPECT_EQ(fit_protocols(few).size(), 1U);  // five sizes are not twice four
}

TEST(QueueFit, FindsTheQuadraticTerm) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 0.01);
  std::vector<VolumeSample> exact, noisy, linear;
  for (int k = 0; k <= 12; ++k) {
    const double n = std::ldexp(1, k);
    const double t = 5e-6 + 3e-7 * n + 8.4e-9 * n * n;
    exact.push_back({n, t});
    noisy.push_back({n, t * (1 + normal(random))});
    linear.push_back({n, 5e-6 + 3e-7 * n});
  }
  EXPECT_NEAR(fit_queue(exact).queue_search_s.value, 8.4e-9, 1e-14);
  EXPECT_NEAR(fit_queue(exact).per_message_s.value, 3e-7, 1e-12);
  noisy[4].seconds *= 10;
  const QueueFit fit = fit_queue(noisy);
  EXPECT_NEAR(fit.queue_search_s.value, 8.4e-9, 0.05 * 8.4e-9);
  EXPECT_TRUE(holds(fit.queue_search_s, 8.4e-9));
  EXPECT_LT(fit_queue(linear).queue_search_s.value, 1e-14);
  expect_refused(
      [] {
        fit_queue(std::vector<VolumeSample>{{1, 1e-6}, {2, 2e-6}});
      },
      "at least three numbers of messages");
}

/// Times of the max-rate model.
std::vector<InjectionSample> injected(double limit, double noise) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, noise);
  std::vector<InjectionSample> samples;
  for (const double senders : {1.0, 2.0, 4.0, 8.0, 16.0}) {
    for (const double bytes : {65536.0, 262144.0, 1048576.0}) {
      const double t = 3e-6 + senders * bytes / std::min(limit, senders * 2.9e9);
      samples.push_back({senders, bytes, t * (1 + normal(random))});
    }
  }
  return samples;
}

TEST(InjectionFit, FindsTheLimitOrThatThereIsNone) {
  const InjectionFit exact = fit_injection(injected(6.6e9, 0), 3e-6, 2.9e9);
  EXPECT_TRUE(exact.reached);
  EXPECT_NEAR(exact.bytes_per_s.value, 6.6e9, 0.005 * 6.6e9);
  std::vector<InjectionSample> spoilt = injected(6.6e9, 0.03);
  spoilt[10].seconds *= 15;
  const InjectionFit noisy = fit_injection(spoilt, 3e-6, 2.9e9);
  EXPECT_NEAR(noisy.bytes_per_s.value, 6.6e9, 0.05 * 6.6e9);
  EXPECT_TRUE(holds(noisy.bytes_per_s, 6.6e9));
  const InjectionFit none = fit_injection(injected(1e15, 0.0), 3e-6, 2.9e9);
  EXPECT_FALSE(none.reached);
  EXPECT_NEAR(none.bytes_per_s.value, 16 * 2.9e9, 1e3);
  EXPECT_EQ(none.bytes_per_s.high, std::numeric_limits<double>::infinity());
}

TEST(InjectionFit, RefusesWhatSaysNothing) {
  using Samples = std::vector<InjectionSample>;
  expect_refused([] { fit_injection(Samples{{1, 8, 1e-6}}, 1e-6, 1e9); }, "several senders");
  expect_refused([] { fit_injection(Samples{{2, 8, 0}}, 1e-6, 1e9); }, "must be positive");
  expect_refused([] { fit_injection(Samples{{2, 8, 1e-6}}, 1e-6, 0); }, "not positive");
  expect_refused([] { fit_injection(Samples{{2, 8, 1e-6}}, nan, 1e9); }, "no time");
}

TEST(RelativeFit, AddsToWhatIsKnown) {
  // Time beyond a model, in proportion to bytes: eq. 3.3.
  TimeModel model;
  model.columns.resize(1);
  for (const double bytes : {1e4, 1e5, 1e6, 1e7}) {
    model.columns[0].push_back(bytes);
    model.known.push_back(1e-5 + bytes / 1e9);
    model.seconds.push_back(model.known.back() + 1e-10 * bytes);
  }
  EXPECT_NEAR(fit_relative(model).coefficients[0].value, 1e-10, 1e-18);
  for (double& t : model.seconds) t *= 0.5;  // faster than what is known
  const LinearFit fit = fit_relative(model);
  EXPECT_EQ(fit.coefficients[0].value, 0);
  EXPECT_EQ(fit.coefficients[0].low, 0);
}

TEST(RelativeFit, GivesOutliersNoVote) {
  TimeModel model;
  model.columns.resize(1);
  for (int k = 1; k <= 9; ++k) {
    model.columns[0].push_back(k);
    model.seconds.push_back(k * (k == 5 ? 1e-3 : 1e-6));
  }
  const LinearFit fit = fit_relative(model);
  EXPECT_NEAR(fit.coefficients[0].value, 1e-6, 1e-15);
  EXPECT_EQ(fit.weights[4], 0);
  EXPECT_EQ(fit.weights[3], 1);
}

TEST(RelativeFit, LetsAllVoteWhereTheyAreFew) {
  // Three sizes, the first of them faster than the line through the others.
  const PostalFit fit =
      fit_postal(std::vector<Sample>{{524288, 6.67e-5}, {786432, 1.128e-4}, {1048576, 1.495e-4}});
  EXPECT_GT(fit.relative_error, 0.01);
  EXPECT_GT(fit.seconds_per_byte.high, 1.1 * fit.seconds_per_byte.value);
}

TEST(RelativeFit, RefusesWhatCannotBeFitted) {
  expect_refused([] { fit_relative({}); }, "nothing to be found");
  expect_refused([] { fit_relative({{{1, 1}}, {}, {1}}); }, "differ in length");
  expect_refused([] { fit_relative({{{1, nan}}, {}, {1, 1}}); }, "an entry is not finite");
  expect_refused([] { fit_relative({{{1, 1}}, {1}, {1, 1}}); }, "known parts");
  expect_refused([] { fit_relative({{{1, 1}, {2, 2}}, {}, {1, 1}}); }, "told apart");
  expect_refused([] { fit_relative({{{0, 0}}, {}, {1, 1}}); }, "told apart");
}

TEST(StudentFactor, IsThatOfTheTables) {
  EXPECT_EQ(student_factor(1), 12.706);
  EXPECT_NEAR(student_factor(11), 2.201, 3e-3);
  EXPECT_NEAR(student_factor(30), 2.042, 1e-3);
  EXPECT_NEAR(student_factor(100000), 1.960, 1e-3);
  expect_refused([] { student_factor(0); }, "degree of freedom");
}

}  // namespace model_fit_test
}  // namespace nodewise::model
