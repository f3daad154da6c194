#include "nodewise/model/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "nodewise/base/error.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::model {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse_fit(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "fit of times: " + why);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

TimeModel postal_model(std::span<const Sample> samples) {
  TimeModel model;
  model.columns.resize(2);
  for (const Sample& sample : samples) {
    model.columns[0].push_back(1);
    model.columns[1].push_back(sample.bytes);
    model.seconds.push_back(sample.seconds);
  }
  return model;
}

/// The fit of samples that are medians already.
PostalFit fit_piece(std::span<const Sample> sizes) {
  const LinearFit fit = fit_relative(postal_model(sizes));
  return {fit.coefficients[0], fit.coefficients[1], sizes.front().bytes, sizes.back().bytes,
          fit.relative_error};
}

void require_sizes(std::span<const Sample> sizes) {
  if (sizes.size() >= 2) return;
  refuse_fit("latency and rate need the times of at least two sizes, and there " +
             std::string(sizes.empty() ? "are none" : "is one"));
}

/// The best partitions of the first sizes into pieces: dynamic programming over their number.
class Partitions {
 public:
  Partitions(std::span<const Sample> sizes, const PiecewiseOptions& options)
      : n_(sizes.size()),
        pieces_(static_cast<std::size_t>(std::max(options.max_pieces, 1))),
        shortest_(static_cast<std::size_t>(std::max(options.sizes_of_piece, 2))) {
    least_.assign((pieces_ + 1) * (n_ + 1), infinity);
    begin_.assign(least_.size(), 0);
    least_[0] = 0;
    for (std::size_t begin = 0; begin < n_; ++begin) {
      for (std::size_t end = begin + shortest_; end <= n_; ++end) {
        if (begin > 0 && begin < shortest_) continue;
        if (end < n_ && end + shortest_ > n_) continue;
        extend(begin, end, cost(sizes.subspan(begin, end - begin)));
      }
    }
  }

  /// Returns where each of so many pieces begins, and the end; empty where there are too few sizes.
  std::vector<std::size_t> boundaries(std::size_t pieces) const {
    if (!std::isfinite(least_[place(pieces, n_)])) return {};
    std::vector<std::size_t> result = {n_};
    for (std::size_t k = pieces; k > 0; --k) result.push_back(begin_[place(k, result.back())]);
    std::reverse(result.begin(), result.end());
    return result;
  }

  std::size_t most_pieces() const { return pieces_; }

 private:
  std::size_t place(std::size_t pieces, std::size_t end) const { return pieces * (n_ + 1) + end; }

  static double cost(std::span<const Sample> sizes) {
    double sum = 0;
    for (const double r : fit_least_absolute(postal_model(sizes)).residuals) sum += std::abs(r);
    return sum;
  }

  /// Begins ascend in the calls, so what ends at `begin` is known.
  void extend(std::size_t begin, std::size_t end, double cost) {
    for (std::size_t k = 1; k <= pieces_; ++k) {
      const double sum = least_[place(k - 1, begin)] + cost;
      if (sum < least_[place(k, end)]) {
        least_[place(k, end)] = sum;
        begin_[place(k, end)] = begin;
      }
    }
  }

  std::size_t n_, pieces_, shortest_;
  std::vector<double> least_;
  std::vector<std::size_t> begin_;
};

std::vector<PostalFit> fit_pieces(std::span<const Sample> sizes,
                                  std::span<const std::size_t> boundaries) {
  std::vector<PostalFit> pieces;
  for (std::size_t k = 0; k + 1 < boundaries.size(); ++k) {
    pieces.push_back(fit_piece(sizes.subspan(boundaries[k], boundaries[k + 1] - boundaries[k])));
  }
  return pieces;
}

/// (fitted - measured) / fitted of all sizes.
std::vector<double> residuals(std::span<const Sample> sizes, std::span<const PostalFit> pieces) {
  std::vector<double> r;
  std::size_t piece = 0;
  for (const Sample& sample : sizes) {
    if (sample.bytes > pieces[piece].last_bytes) ++piece;
    r.push_back(1 - sample.seconds / pieces[piece].seconds(sample.bytes));
  }
  return r;
}

/// The measure that is least for the right number of pieces.
double penalized(std::span<const double> residuals, std::size_t pieces, double deviation) {
  constexpr double cap = 9;  // three deviations
  double sum = 0;
  for (const double r : residuals) sum += std::min(r * r / (deviation * deviation), cap);
  return sum + 3 * static_cast<double>(pieces) * std::log(static_cast<double>(residuals.size()));
}

/// |fitted - measured| over the larger of both, for the max-rate model, summed.
double injection_error(std::span<const InjectionSample> samples, double latency, double rate,
                       double limit) {
  double sum = 0;
  for (const InjectionSample& s : samples) {
    const double t = latency + s.senders * s.bytes / std::min(limit, s.senders * rate);
    sum += std::abs(t - s.seconds) / std::max(t, s.seconds);
  }
  return sum;
}

void check_injection(std::span<const InjectionSample> samples, double latency, double rate) {
  if (!std::isfinite(latency) || latency < 0) refuse_fit("the latency of one sender is no time");
  if (!std::isfinite(rate) || rate <= 0) refuse_fit("the rate of one sender is not positive");
  bool several = false;
  for (const InjectionSample& s : samples) {
    for (const double value : {s.senders, s.bytes, s.seconds}) {
      if (!std::isfinite(value) || value <= 0) {
        refuse_fit("senders, bytes and times of an injection limit must be positive");
      }
    }
    several = several || s.senders > 1;
  }
  if (!several) refuse_fit("an injection limit needs the times of several senders at once");
}

}  // namespace

std::vector<Sample> medians(std::span<const Sample> samples) {
  std::vector<Sample> sorted(samples.begin(), samples.end());
  for (const Sample& s : sorted) {
    if (!std::isfinite(s.bytes) || s.bytes < 0) refuse_fit("a size is no number of bytes");
    if (!std::isfinite(s.seconds) || s.seconds <= 0) {
      refuse_fit("the time " + std::to_string(s.seconds) + " s is not positive and finite");
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Sample& a, const Sample& b) { return a.bytes < b.bytes; });
  std::vector<Sample> result;
  for (std::size_t k = 0; k < sorted.size();) {
    std::vector<double> times;
    const double bytes = sorted[k].bytes;
    for (; k < sorted.size() && sorted[k].bytes == bytes; ++k) times.push_back(sorted[k].seconds);
    result.push_back({bytes, median(std::move(times))});
  }
  return result;
}

double PostalFit::rate_bytes_per_s() const {
  const double per_byte = has_rate() ? seconds_per_byte.value : seconds_per_byte.high;
  return per_byte > 0 ? 1 / per_byte : infinity;
}

PostalFit fit_postal(std::span<const Sample> samples) {
  const std::vector<Sample> sizes = medians(samples);
  require_sizes(sizes);
  return fit_piece(sizes);
}

std::vector<PostalFit> fit_protocols(std::span<const Sample> samples,
                                     const PiecewiseOptions& options) {
  const std::vector<Sample> sizes = medians(samples);
  require_sizes(sizes);
  const Partitions partitions(sizes, options);
  std::vector<std::vector<PostalFit>> candidates = {{fit_piece(sizes)}};
  for (std::size_t k = 2; k <= partitions.most_pieces(); ++k) {
    const std::vector<std::size_t> boundaries = partitions.boundaries(k);
    if (!boundaries.empty()) candidates.push_back(fit_pieces(sizes, boundaries));
  }
  // The scatter that is left by the most pieces is noise.
  const std::vector<double> left = residuals(sizes, candidates.back());
  const auto fitted = narrow<int>(2 * candidates.back().size());
  const double n = static_cast<double>(sizes.size());
  const double freedom = std::max(n - 3 * static_cast<double>(candidates.back().size()), 1.0);
  const double deviation =
      std::max({std::sqrt(n / freedom) * robust_deviation(left, fitted), options.noise, 1e-9});
  std::size_t best = 0;
  double least = infinity;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const double value =
        penalized(residuals(sizes, candidates[k]), candidates[k].size(), deviation);
    if (value < least) {
      least = value;
      best = k;
    }
  }
  return candidates[best];
}

QueueFit fit_queue(std::span<const VolumeSample> samples) {
  std::vector<Sample> by_number;
  for (const VolumeSample& s : samples) by_number.push_back({s.messages, s.seconds});
  by_number = medians(by_number);
  if (by_number.size() < 3) {
    refuse_fit("the cost of searching queues needs at least three numbers of messages");
  }
  TimeModel model;
  model.columns.resize(3);
  for (const Sample& s : by_number) {
    model.columns[0].push_back(1);
    model.columns[1].push_back(s.bytes);
    model.columns[2].push_back(s.bytes * s.bytes);
    model.seconds.push_back(s.seconds);
  }
  const LinearFit fit = fit_relative(model);
  return {fit.coefficients[0], fit.coefficients[1], fit.coefficients[2], fit.relative_error};
}

InjectionFit fit_injection(std::span<const InjectionSample> samples, double latency_s,
                           double rate_bytes_per_s) {
  check_injection(samples, latency_s, rate_bytes_per_s);
  double most = 0;
  for (const InjectionSample& s : samples) most = std::max(most, s.senders * rate_bytes_per_s);
  // A limit far below a single sender's rate cannot be: that sender would have met it, too.
  constexpr int steps = 4000;
  const double lowest = rate_bytes_per_s / 10;
  const double factor = std::pow(most / lowest, 1.0 / steps);
  std::vector<double> errors;
  for (int k = 0; k <= steps; ++k) {
    errors.push_back(
        injection_error(samples, latency_s, rate_bytes_per_s, lowest * std::pow(factor, k)));
  }
  const auto least = std::min_element(errors.begin(), errors.end());
  const auto at = [&](std::ptrdiff_t k) {
    return lowest * std::pow(factor, static_cast<double>(k));
  };
  const auto n = static_cast<double>(samples.size());
  // Likelihood ratio of Laplace's distribution, whose estimate has the least absolute errors.
  const double chance = *least * std::exp(1.92 / n) + 1e-6 * n;
  std::ptrdiff_t low = least - errors.begin();
  std::ptrdiff_t high = low;
  while (low > 0 && errors[static_cast<std::size_t>(low - 1)] <= chance) --low;
  while (high < steps && errors[static_cast<std::size_t>(high + 1)] <= chance) ++high;
  const bool reached = high < steps;
  InjectionFit fit;
  fit.reached = reached;
  fit.bytes_per_s = {reached ? at(least - errors.begin()) : at(steps), at(low),
                     reached ? at(high) : infinity};
  fit.relative_error = *least / n;
  return fit;
}

}  // namespace nodewise::model
