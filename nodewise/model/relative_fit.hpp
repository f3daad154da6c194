// Least squares and least absolute values in relative error: what every fit of times stands on.
#pragma once

#include <span>
#include <vector>

namespace nodewise::model {

/// A parameter and the interval that holds its true value with a probability of 95 %.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Times t_i = known_i + sum_j c_j columns[j][i] with coefficients c >= 0 to be found. `known` may
/// be empty for zeros.
struct TimeModel {
  std::vector<std::vector<double>> columns;
  std::vector<double> known;
  std::vector<double> seconds;
};

struct LinearFit {
  std::vector<Estimate> coefficients;
  /// The weight of each time's vote, 0 (an outlier) to 1.
  std::vector<double> weights;
  double relative_error = 0;  ///< weighted root mean square of (fitted - measured) / fitted
};

/// Local. Coefficients with which the fitted times are near in relative error: a microsecond counts
/// as much as a second. Weighted least squares with weights 1 / t^2, t the fitted time; outliers
/// lose their vote by Tukey's bisquare function, from a start that minimizes absolute errors (Huber
/// and Ronchetti, "Robust Statistics", 2009, chapter 7). Intervals are Student's around M-estimates
/// of regression, of ordinary least squares where there are hardly more times than coefficients and
/// none can be told to be an outlier, infinite where there are as many times as coefficients. Where
/// a coefficient would be negative it is 0, with an interval from there, and the others are the
/// best with that. Throws invalid_argument where a time or an entry is not finite or a time not
/// positive, where lengths differ, and where the columns cannot be told apart by what was measured.
LinearFit fit_relative(const TimeModel& model);

struct AbsoluteFit {
  std::vector<double> coefficients;
  std::vector<double> residuals;  ///< (fitted - measured) / the larger of both
};

/// Local. The same with the least sum of absolute relative errors, without intervals. Throws as
/// fit_relative().
AbsoluteFit fit_least_absolute(const TimeModel& model);

/// Local. The standard deviation that normal residuals of a least absolute fit speak for: from the
/// median of those that `fitted` coefficients have not made zero, whatever the largest are.
double robust_deviation(std::span<const double> residuals, int fitted);

/// Local. The factor of Student's distribution for a two-sided interval of 95 %; at least one
/// degree of freedom.
double student_factor(int degrees_of_freedom);

}  // namespace nodewise::model
