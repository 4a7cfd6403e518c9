// Equation of state of sea water: the derivative by temperature of dynamic enthalpy, from the 48
// term expression for density of TEOS-10 (McDougall et al., Gibbs SeaWater Oceanographic Toolbox
// 3.0, 2012), after pyhpc-benchmarks as TorchBench runs it. Input: salinity [east, north, up],
// temperature of that shape, pressure [1, 1, up]; 204 x 204 x 26 cells for a batch of 1048576. The
// derivative is computed by rule with each value, where upstream has one long expression. Smoke: 32
// x 32 x 4 cells.

#include <initializer_list>
#include <iterator>
#include <utility>

#include "runner/suite/blocks/ocean.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::pyhpc_equation_of_state {
namespace {

using torch::Tensor;

/// A field and its derivative by temperature.
struct Varying {
  Tensor value, slope;
};

Varying operator+(Varying const& a, Varying const& b) {
  return {a.value + b.value, a.slope + b.slope};
}

Varying operator-(Varying const& a, Varying const& b) {
  return {a.value - b.value, a.slope - b.slope};
}

Varying operator*(Varying const& a, Varying const& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}

Varying operator/(Varying const& a, Varying const& b) {
  auto const inverse = b.value.reciprocal();
  auto const value = a.value * inverse;
  return {value, (a.slope - value * b.slope) * inverse};
}

/// `a` does not vary with temperature.
template <class Constant>
Varying operator*(Constant const& a, Varying const& b) {
  return {a * b.value, a * b.slope};
}

template <class Constant>
Varying operator+(Constant const& a, Varying const& b) {
  return {a + b.value, b.slope};
}

Varying square(Varying const& a) {
  return {a.value.pow(2), 2.0 * a.value * a.slope};
}

Varying sqrt(Varying const& a) {
  auto const root = a.value.sqrt();
  return {root, 0.5 * a.slope / root};
}

Varying log(Varying const& a) {
  return {a.value.log(), a.slope / a.value};
}

/// The sum of each coefficient times temperature to the power of its place.
Varying polynomial(Tensor const& temperature, std::initializer_list<double> coefficients) {
  auto next = std::rbegin(coefficients);
  Varying sum{torch::full({}, *next, temperature.options()),
              torch::zeros({}, temperature.options())};
  for (++next; next != std::rend(coefficients); ++next)
    sum = {*next + temperature * sum.value, sum.value + temperature * sum.slope};
  return sum;
}

/// Density is a quotient of two polynomials in pressure: `below` that of specific volume's
/// denominator (with half of its middle term), `above` that of its numerator.
struct Coefficients {
  Varying below0, below1, below2;
  Varying above0, above1, above2, above3;
};

Coefficients coefficients(Tensor const& salt, Tensor const& t) {
  auto const root = salt.sqrt();
  auto const below0 =
      polynomial(t,
                 {9.998420897506056e+2,
                  2.839940833161907e0,
                  -3.147759265588511e-2,
                  1.181805545074306e-3}) +
      salt * (polynomial(t, {-6.698001071123802e0, -2.986498947203215e-2, 2.327859407479162e-4}) +
              root * polynomial(t,
                                {-3.988822378968490e-2,
                                 5.095422573880500e-4,
                                 -1.426984671633621e-5,
                                 1.645039373682922e-7}));
  auto const below1 =
      0.5 * (polynomial(t, {-2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6}) +
             salt * polynomial(t, {-1.806789763745328e-4, 6.876837219536232e-7}));
  auto const below2 =
      1.550932729220080e-10 * salt +
      polynomial(t, {-3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11});
  auto const above0 = polynomial(t,
                                 {1.0e0,
                                  2.775927747785646e-3,
                                  -2.349607444135925e-5,
                                  1.119513357486743e-6,
                                  6.743689325042773e-10}) +
                      salt * (5.419326551148740e-6 * salt +
                              polynomial(t,
                                         {-7.521448093615448e-3,
                                          -2.764306979894411e-5,
                                          1.262937315098546e-7,
                                          9.527875081696435e-10,
                                          -1.811147201949891e-11}) +
                              root * polynomial(t,
                                                {-3.303308871386421e-5,
                                                 3.801564588876298e-7,
                                                 -7.672876869259043e-9,
                                                 -4.634182341116144e-11,
                                                 2.681097235569143e-12}));
  auto const above1 = polynomial(t,
                                 {-2.742185394906099e-5,
                                  -3.212746477974189e-7,
                                  3.191413910561627e-9,
                                  -1.931012931541776e-12}) +
                      salt * polynomial(t, {-1.105097577149576e-7, 6.211426728363857e-10});
  auto const above2 =
      polynomial(t, {-1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14}) +
      salt * polynomial(t, {0, 1.119522344879478e-14});
  auto const above3 = polynomial(t, {-1.200507748551599e-15, 6.057902487546866e-17});
  return {below0, below1, below2, above0, above1, above2, above3};
}

/// The integral of specific volume over pressure, in closed form: split into partial fractions.
Varying dynamic_enthalpy(Coefficients const& c, Tensor const& pressure) {
  constexpr double pascals = 1e4;  // in a decibar
  auto const ratio = c.below1 / c.below2;
  auto const squared = square(c.below1);
  auto const root = sqrt(squared - c.below0 * c.below2);
  auto const constant =
      c.above0 + (2.0 * (c.above3 * c.below0 * ratio) - c.above2 * c.below0) / c.below2;
  auto const linear = c.above1 + (4.0 * (c.above3 * c.below1 * ratio) - c.above3 * c.below0 -
                                  2.0 * (c.above2 * c.below1)) /
                                     c.below2;
  auto const low = c.below1 - root;
  auto const high = c.below1 + root;

  auto const plain =
      pressure * ((c.above2 - 2.0 * (c.above3 * ratio) + (0.5 * pressure) * c.above3) / c.below2);
  auto const first = 0.5 * (linear / c.below2) *
                     log(1.0 + pressure * (2.0 * c.below1 + pressure * c.below2) / c.below0);
  auto const share = (constant * c.below2 - linear * c.below1) / (2.0 * (c.below2 * root));
  auto const second = share * log(1.0 + (2.0 * pressure) * (c.below2 * root) /
                                            (low * (high + pressure * c.below2)));
  return pascals * (plain + first + second);
}

}  // namespace

std::unique_ptr<Workload> make_pyhpc_equation_of_state(Setup const& setup) {
  Ocean const ocean(setup);
  auto const salt = ocean.between(1e-2, 10, ocean.grid().shape());
  auto const temperature = ocean.between(-12, 20, ocean.grid().shape());
  auto const pressure = ocean.between(0, 1000, {1, 1, ocean.grid().up});
  return make_kernel(setup, [salt, temperature, pressure] {
    auto const enthalpy = dynamic_enthalpy(coefficients(salt, temperature), pressure);
    return std::vector<Tensor>{enthalpy.slope};
  });
}

}  // namespace torchwatch::suite::pyhpc_equation_of_state
