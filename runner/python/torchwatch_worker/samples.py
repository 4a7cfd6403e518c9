"""Statistics of samples, as runner/worker/statistics.cpp computes them."""
import math
import statistics

NORMAL_QUARTILE = 0.6745  # the median deviation of a standard normal
FAR = 3.5
NEVER_FAR = 0.01
CRITICAL = 3.0902  # the normal quantile of 0.999


def outliers(values):
    """Returns the indices of values far from the median, by the median deviation."""
    middle = statistics.median(values)
    deviations = [abs(value - middle) for value in values]
    reach = max(FAR * statistics.median(deviations) / NORMAL_QUARTILE, NEVER_FAR * abs(middle))
    return [index for index, deviation in enumerate(deviations) if deviation > reach]


def slope(values):
    """Returns the median slope between all pairs of values (Theil and Sen)."""
    return statistics.median((values[j] - values[i]) / (j - i)
                             for i in range(len(values)) for j in range(i + 1, len(values)))


def has_trend(values):
    """True when a test of Mann and Kendall finds a trend, with one false trend in a thousand."""
    rises = sum((later > value) - (later < value)
                for i, value in enumerate(values) for later in values[i + 1:])

    def spread(count):
        return count * (count - 1) * (2 * count + 5) / 18
    variance = spread(len(values)) - sum(spread(values.count(value)) for value in set(values))
    return abs(rises) - 1 > CRITICAL * math.sqrt(max(variance, 0))


def noisy(samples):
    """The value of a noisy metric: the median of its samples."""
    return {'value': statistics.median(samples), 'samples': list(samples), 'outliers': outliers(samples)}


def exact(number):
    """The value of an exact metric: one sample."""
    return {'value': float(number), 'samples': [float(number)], 'outliers': []}


def leak(held):
    """The value of the memory that iterations kept: the slope of what was held after each, if it has a trend."""
    steps = [float(later - value) for value, later in zip(held, held[1:])]
    return {'value': float(slope(held)) if has_trend(held) else 0.0, 'samples': steps, 'outliers': []}
