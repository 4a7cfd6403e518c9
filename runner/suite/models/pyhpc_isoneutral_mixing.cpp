// Isoneutral mixing of an ocean model: the diffusion tensor along surfaces of constant density,
// after the triads of Griffies et al. ("Isoneutral diffusion in a z-coordinate ocean model", 1998)
// as pyhpc-benchmarks has them and TorchBench runs it. Input: salinity and temperature [east,
// north, up, 3], masks, diffusivity and widths of cells; 204 x 204 x 26 cells for a batch of
// 1048576. Smoke: 32 x 32 x 4 cells.

#include <utility>

#include "runner/suite/blocks/ocean.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::pyhpc_isoneutral_mixing {
namespace {

using ocean::cut;
using ocean::inner;
using ocean::vertical;
using torch::Tensor;

constexpr std::int64_t now = 0;  // of the three points in time
constexpr double steep_diffusivity = 50;

struct Inputs {
  Tensor mask_cell, mask_top;
  Tensor mask_side[2];  ///< masks of eastern and northern faces
  Tensor width[2];      ///< widths of cells, eastward and northward
  Tensor distance[2];   ///< between their centres
  Tensor height, depth_distance, depth;
  Tensor cosine, cosine_side;  ///< cosines of the latitude: of cells, of northern faces
  Tensor salt, temperature, diffusivity;
};

/// All outputs, written again in each evaluation. The slopes have two more dimensions: which
/// neighbour, and above or below.
struct Outputs {
  Tensor side_diffusion[2], top_diffusion;
  Tensor side_slope[2], top_slope[2];
};

/// Derivatives of density, and of both tracers along each direction.
struct Density {
  Tensor by_temperature, by_salt;
  Tensor temperature[3], salt[3];
};

Inputs draw_inputs(Ocean const& ocean) {
  return {ocean.mask(),
          ocean.mask(),
          {ocean.mask(), ocean.mask()},
          {ocean.eastward(), ocean.northward()},
          {ocean.eastward(), ocean.northward()},
          ocean.upward(),
          ocean.upward(),
          ocean.upward(),
          ocean.northward(),
          ocean.northward(),
          ocean.field({3}),
          ocean.field({3}),
          ocean.field()};
}

Outputs make_outputs(Ocean const& ocean) {
  auto const slope = [&ocean] {
    return torch::zeros_like(ocean.field({2, 2}));
  };
  return {{ocean.field(), ocean.field()}, ocean.field(), {slope(), slope()}, {slope(), slope()}};
}

/// The cells on this side (`neighbour` 0) or the other (1) of the inner faces across `axis`.
Tensor at_faces(Tensor const& x, std::int64_t axis, std::int64_t neighbour) {
  return cut(cut(x, axis, 1 + neighbour, -2 + neighbour), 1 - axis, 2, -2);
}

/// The faces of inner cells across `axis`, before (0) or after (1) each.
Tensor around(Tensor const& x, std::int64_t axis, std::int64_t face) {
  return cut(cut(x, axis, 1 + face, -3 + face), 1 - axis, 2, -2);
}

/// The difference to the next cell over the distance to it; 0 in the last cell.
Tensor gradient(Tensor const& x, std::int64_t axis, Tensor const& mask, Tensor const& distance) {
  auto result = torch::zeros_like(mask);
  auto const step = cut(x, axis, 1, 0) - cut(x, axis, 0, -1);
  cut(result, axis, 0, -1).copy_(cut(mask, axis, 0, -1) * step / cut(distance, axis, 0, -1));
  return result;
}

/// A nonlinear equation of state: linear in salt, in temperature growing with it and with depth.
Tensor density_by_temperature(Tensor const& temperature, Tensor const& pressure) {
  constexpr double density = 1024, gravity = 9.81, reference = 283 - 273.15;
  constexpr double expansion = 1.67e-4, cabbeling = 1e-5, thermobaricity = 1.1e-8;
  auto const height = -pressure;
  auto const thermobaric = torch::rsub(thermobaricity * gravity * height * density, 1);
  return -(cabbeling * (temperature - reference) + expansion * thermobaric) * density;
}

Density differentiate(Inputs const& in) {
  constexpr double contraction = 0.78e-3 * 1024;
  auto const temperature = in.temperature.select(3, now);
  auto const salt = in.salt.select(3, now);
  Density density;
  density.by_temperature = in.mask_cell * density_by_temperature(temperature, torch::abs(in.depth));
  density.by_salt = in.mask_cell * (contraction * torch::ones_like(temperature));
  Tensor const* masks[] = {&in.mask_side[0], &in.mask_side[1], &in.mask_top};
  Tensor const distances[] = {in.distance[0] * in.cosine, in.distance[1], in.depth_distance};
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    density.temperature[axis] = gradient(temperature, axis, *masks[axis], distances[axis]);
    density.salt[axis] = gradient(salt, axis, *masks[axis], distances[axis]);
  }
  return density;
}

struct Slope {
  Tensor value;
  Tensor taper;  ///< from 1 to 0 where the surface gets steep
};

/// The slope of surfaces of constant density: density's change `across` over its change `upward`.
Slope slope_of(Tensor const& across, Tensor const& upward) {
  constexpr double small = 1e-20, critical = 1e-3, width = 1e-3;
  auto const zero = torch::zeros({1}, upward.options());
  auto const value = -across / (torch::min(upward, zero) - small);
  return {value, 0.5 * (1 + torch::tanh((-torch::abs(value) + critical) / width))};
}

/// The mean diffusivity of the cells around each inner face's upper edge.
Tensor side_diffusivity(Tensor const& diffusivity, std::int64_t axis) {
  auto const near = at_faces(diffusivity, axis, 0);
  auto const far = at_faces(diffusivity, axis, 1);
  auto result = torch::zeros_like(near);
  cut(result, vertical, 1, 0)
      .copy_(0.25 * (cut(near, vertical, 1, 0) + cut(near, vertical, 0, -1) +
                     cut(far, vertical, 1, 0) + cut(far, vertical, 0, -1)));
  result.select(vertical, 0).copy_(0.5 * (near.select(vertical, 0) + far.select(vertical, 0)));
  return result;
}

/// Eastern or northern faces: four triads each.
void mix_sides(Inputs const& in, Density const& density, std::int64_t axis, Outputs& out) {
  auto const levels = in.salt.size(vertical);
  auto const steep = torch::full({1}, steep_diffusivity, in.diffusivity.options());
  auto const diffusivity = side_diffusivity(in.diffusivity, axis);
  auto sum = torch::zeros_like(diffusivity);
  for (std::int64_t above = 0; above < 2; ++above) {
    auto const first = 1 - above;
    auto const face = [=](Tensor const& x) {
      return cut(at_faces(x, axis, 0), vertical, first, 0);
    };
    for (std::int64_t neighbour = 0; neighbour < 2; ++neighbour) {
      auto const cell = [=](Tensor const& x) {
        return cut(at_faces(x, axis, neighbour), vertical, first, 0);
      };
      auto const top = [=](Tensor const& x) {
        return cut(at_faces(x, axis, neighbour), vertical, 0, levels - first);
      };
      auto const by_temperature = cell(density.by_temperature);
      auto const by_salt = cell(density.by_salt);
      auto const slope = slope_of(
          by_temperature * face(density.temperature[axis]) + by_salt * face(density.salt[axis]),
          by_temperature * top(density.temperature[vertical]) +
              by_salt * top(density.salt[vertical]));
      auto const mask = face(in.mask_side[axis]);
      cut(sum, vertical, first, 0) +=
          cut(in.depth_distance, vertical, 0, levels - first) * mask *
          torch::max(steep, cut(diffusivity, vertical, first, 0) * slope.taper);
      face(out.side_slope[axis].select(4, above).select(3, neighbour))
          .copy_(slope.taper * slope.value * mask);
    }
  }
  at_faces(out.side_diffusion[axis], axis, 0).copy_(sum / (4 * in.height));
}

/// The weighted sum of squares of the eastern or northern slopes at the tops of inner cells. Writes
/// these slopes to `out`.
Tensor top_sum(Inputs const& in, Density const& density, std::int64_t axis, Outputs& out) {
  auto const levels = in.salt.size(vertical);
  auto const below_top = [](Tensor const& x) {
    return cut(inner(x), vertical, 0, -1);
  };
  auto const mask = below_top(in.mask_top);
  auto const diffusivity = below_top(in.diffusivity);
  auto const weight = axis == 0 ? in.distance[0] : in.cosine_side * in.distance[1];
  auto sum = torch::zeros_like(mask);
  for (std::int64_t above = 0; above < 2; ++above) {
    auto const layer = [=](Tensor const& x) {
      return cut(x, vertical, above, levels - 1 + above);
    };
    auto const by_temperature = layer(inner(density.by_temperature));
    auto const by_salt = layer(inner(density.by_salt));
    auto const upward = by_temperature * below_top(density.temperature[vertical]) +
                        by_salt * below_top(density.salt[vertical]);
    for (std::int64_t face = 0; face < 2; ++face) {
      auto const across = by_temperature * layer(around(density.temperature[axis], axis, face)) +
                          by_salt * layer(around(density.salt[axis], axis, face));
      auto const slope = slope_of(across, upward);
      sum += around(weight, axis, face) * diffusivity * slope.taper * slope.value.pow(2) * mask;
      below_top(out.top_slope[axis].select(4, above).select(3, face))
          .copy_(slope.taper * slope.value * mask);
    }
  }
  return sum;
}

void mix_tops(Inputs const& in, Density const& density, Outputs& out) {
  auto const east = top_sum(in, density, 0, out) / (4 * inner(in.width[0]));
  auto const north = top_sum(in, density, 1, out) / (4 * inner(in.width[1]) * inner(in.cosine));
  auto result = inner(out.top_diffusion);
  cut(result, vertical, 0, -1).copy_(east + north);
  result.select(vertical, -1).zero_();
}

}  // namespace

std::unique_ptr<Workload> make_pyhpc_isoneutral_mixing(Setup const& setup) {
  Ocean const ocean(setup);
  return make_kernel(setup, [in = draw_inputs(ocean), out = make_outputs(ocean)]() mutable {
    auto const density = differentiate(in);
    mix_sides(in, density, 0, out);
    mix_sides(in, density, 1, out);
    mix_tops(in, density, out);
    return std::vector<Tensor>{out.side_diffusion[0],
                               out.side_diffusion[1],
                               out.top_diffusion,
                               out.side_slope[0],
                               out.side_slope[1],
                               out.top_slope[0],
                               out.top_slope[1]};
  });
}

}  // namespace torchwatch::suite::pyhpc_isoneutral_mixing
