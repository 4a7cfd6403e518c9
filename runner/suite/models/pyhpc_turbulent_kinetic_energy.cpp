// Turbulent kinetic energy of an ocean model: one step in time of vertical mixing (implicit),
// lateral diffusion and advection with a superbee limiter, after pyhpc-benchmarks as TorchBench
// runs it; the closure is that of Gaspar et al. ("A simple eddy kinetic energy model for
// simulations of the oceanic vertical mixing", 1990). Input: velocities and energy [east, north,
// up, 3], masks, widths of cells, the bottom's level; 204 x 204 x 26 cells for a batch of 1048576.
// Each step starts from the same energy, where upstream writes into its input. Smoke: 32 x 32 x 4
// cells.

#include <utility>

#include "runner/suite/blocks/ocean.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::pyhpc_turbulent_kinetic_energy {
namespace {

using ocean::cut;
using ocean::inner;
using ocean::vertical;
using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::Slice;

enum Time : std::int64_t { now, next, before };

constexpr double step = 1;  // seconds
constexpr double dissipation = 0.7;
constexpr double lateral_diffusivity = 2000;

struct Inputs {
  Tensor velocity[3];  ///< each with three points in time
  Tensor mask_side[2], mask_top;
  Tensor width[2];     ///< widths of cells, eastward and northward
  Tensor distance[2];  ///< between their centres
  Tensor height, depth_distance;
  Tensor cosine, cosine_side;  ///< cosines of the latitude: of cells, of northern faces
  Tensor bottom;               ///< [east, north]: the lowest level with water
  Tensor viscosity, mixing_length, forcing, surface_forcing;
};

struct Energy {
  Tensor amount, tendency;  ///< with three points in time
};

Inputs draw_inputs(Ocean const& ocean) {
  auto const [east, north, up] = ocean.grid();
  auto const bottom = torch::randint(up, {east, north}, torch::kLong).to(ocean.device());
  return {{ocean.field({3}), ocean.field({3}), ocean.field({3})},
          {ocean.mask(), ocean.mask()},
          ocean.mask(),
          {ocean.eastward(), ocean.northward()},
          {ocean.eastward(), ocean.northward()},
          ocean.upward(),
          ocean.upward(),
          ocean.northward(),
          ocean.northward(),
          bottom,
          ocean.field(),
          ocean.field(),
          ocean.field(),
          ocean.field().select(vertical, 0).contiguous()};
}

/// Returns the values at the inner faces across `axis`, moved along it by `shift` cells.
Tensor at_faces(Tensor const& x, std::int64_t axis, std::int64_t shift) {
  auto const faces = cut(x, axis, 1 + shift, -2 + shift);
  if (axis == vertical) return inner(faces);
  return cut(faces, 1 - axis, 2, -2);
}

/// The difference of a flux over each inner cell across `axis`.
Tensor divergence(Tensor const& flux, std::int64_t axis) {
  return inner(flux) - cut(cut(flux, axis, 1, -3), 1 - axis, 2, -2);
}

Tensor zero_like(Tensor const& x) {
  return torch::tensor({0.0F}, x.device());
}

/// A row of equations a column of water: below * x[i - 1] + middle * x[i] + above * x[i + 1].
struct Tridiagonal {
  Tensor below, middle, above, right;
};

/// Gaussian elimination upward and substitution downward, level by level.
Tensor solve(Tridiagonal system) {
  auto const levels = system.below.size(-1);
  auto const level = [](Tensor const& x, std::int64_t number) {
    return x.select(-1, number);
  };
  for (std::int64_t i = 1; i < levels; ++i) {
    auto const factor = level(system.below, i) / level(system.middle, i - 1);
    level(system.middle, i).add_(-factor * level(system.above, i - 1));
    level(system.right, i).add_(-factor * level(system.right, i - 1));
  }
  auto solution = torch::empty_like(system.below);
  level(solution, -1).copy_(level(system.right, -1) / level(system.middle, -1));
  for (std::int64_t i = levels - 2; i >= 0; --i) {
    auto const rest = level(system.right, i) - level(system.above, i) * level(solution, i + 1);
    level(solution, i).copy_(rest / level(system.middle, i));
  }
  return solution;
}

/// The equations of the inner columns, and of their lowest cells the middle.
struct Mixing {
  Tridiagonal system;
  Tensor edge;
};

Mixing mixing(Inputs const& in, Tensor const& energy) {
  auto const viscosity = inner(in.viscosity);
  auto const height = cut(in.depth_distance, vertical, 1, -1);
  auto const top_height = 0.5 * in.depth_distance.select(vertical, -1);
  auto const loss = step * dissipation *
                    torch::sqrt(torch::maximum(zero_like(energy), inner(energy))) /
                    inner(in.mixing_length);

  auto exchange = torch::zeros_like(viscosity);
  cut(exchange, vertical, 0, -1)
      .copy_(cut(in.height, vertical, 1, 0).reciprocal() * step * 0.5 *
             (cut(viscosity, vertical, 0, -1) + cut(viscosity, vertical, 1, 0)));
  auto const lower = cut(exchange, vertical, 0, -2);
  auto const upper = cut(exchange, vertical, 1, -1);
  auto const last = exchange.select(vertical, -2);

  Tridiagonal system{torch::zeros_like(exchange),
                     torch::zeros_like(exchange),
                     torch::zeros_like(exchange),
                     inner(energy) + step * inner(in.forcing)};
  cut(system.below, vertical, 1, -1).copy_(-lower / height);
  system.below.select(vertical, -1).copy_(-last / top_height);
  cut(system.middle, vertical, 1, -1)
      .copy_(1 + (upper + lower) / height + cut(loss, vertical, 1, -1));
  system.middle.select(vertical, -1).copy_(1 + last / top_height + loss.select(vertical, -1));
  cut(system.above, vertical, 0, -1)
      .copy_(-cut(exchange, vertical, 0, -1) / cut(in.depth_distance, vertical, 0, -1));
  system.right.select(vertical, -1).add_(step * inner(in.surface_forcing) / top_height);
  return {std::move(system), 1 + exchange / in.depth_distance + loss};
}

/// Vertical mixing and dissipation, implicit in time.
void mix(Inputs const& in, Tensor const& energy) {
  auto const [system, edge_middle] = mixing(in, energy.select(3, now));
  auto const bottom = (inner(in.bottom) - 1).unsqueeze(-1);
  auto const level = torch::arange(system.below.size(-1), bottom.options()).view({1, 1, -1});
  auto const land = bottom >= 0;
  auto const edge = land.__and__(level == bottom);
  auto const water = land.__and__(level >= bottom);
  auto const middle = torch::where(edge, edge_middle, torch::where(water, system.middle, 1.0));
  auto const mixed = solve({water * system.below * torch::logical_not(edge),
                            middle,
                            water * system.above,
                            water * system.right});
  auto result = inner(energy.select(3, next));
  result.copy_(torch::where(water, mixed, result));
}

/// No energy is negative at the surface. Returns what that adds, [east, north].
Tensor correct_surface(Inputs const& in, Tensor const& energy) {
  auto surface = inner(energy.select(3, next)).select(vertical, -1);
  auto const height = 0.5 * in.depth_distance.select(vertical, -1);
  auto added = torch::zeros_like(energy.select(3, next).select(vertical, -1));
  inner(added).copy_(torch::where(surface < 0, -surface * height / step, 0.0));
  surface.copy_(torch::maximum(zero_like(surface), surface));
  return added;
}

/// Through the faces of all cells; first of diffusion, then of advection.
struct Fluxes {
  Tensor east, north, top;
};

void diffuse(Inputs const& in, Tensor const& energy, Fluxes& fluxes) {
  auto const amount = energy.select(3, now);
  auto const gradient = [&amount](std::int64_t axis) {
    return lateral_diffusivity * (cut(amount, axis, 1, 0) - cut(amount, axis, 0, -1));
  };
  cut(fluxes.east, 0, 0, -1)
      .copy_(gradient(0) / (in.cosine * cut(in.distance[0], 0, 0, -1)) *
             cut(in.mask_side[0], 0, 0, -1));
  fluxes.east.index_put_({-1}, 0.0);
  cut(fluxes.north, 1, 0, -1)
      .copy_(gradient(1) / cut(in.distance[1], 1, 0, -1) * cut(in.mask_side[1], 1, 0, -1) *
             cut(in.cosine_side, 1, 0, -1));
  fluxes.north.index_put_({Slice(), -1}, 0.0);
  auto const cosine = inner(in.cosine);
  inner(energy.select(3, next)) += step * inner(in.mask_top) *
                                   (divergence(fluxes.east, 0) / (cosine * inner(in.width[0])) +
                                    divergence(fluxes.north, 1) / (cosine * inner(in.width[1])));
}

/// Roe's superbee limiter: between the upwind and the central scheme.
Tensor superbee(Tensor const& ratio) {
  auto const one = torch::ones({1}, ratio.options());
  auto const steep = torch::maximum(torch::minimum(one, 2 * ratio), torch::minimum(2 * one, ratio));
  return torch::maximum(zero_like(ratio), steep);
}

/// On the inner faces across an axis.
struct Flow {
  std::int64_t axis;
  Tensor velocity;
  Tensor transport;  ///< velocity times the face's length, relative to that at the equator
  Tensor distance;   ///< between the cells at its sides
};

/// The flux of a field through the faces of `flow`.
Tensor advective_flux(Tensor const& amount, Tensor const& mask, Flow const& flow) {
  auto const moved = [&flow](Tensor const& x, std::int64_t by) {
    return at_faces(x, flow.axis, by);
  };
  auto const small = torch::full({1}, 1e-20, amount.options());
  auto const courant = torch::abs(flow.transport * step / flow.distance);
  auto const ahead = (moved(amount, 2) - moved(amount, 1)) * moved(mask, 1);
  auto const here = (moved(amount, 1) - moved(amount, 0)) * moved(mask, 0);
  auto const behind = (moved(amount, 0) - moved(amount, -1)) * moved(mask, -1);
  auto const limit = superbee(torch::where(flow.velocity > 0, behind, ahead) /
                              torch::where(torch::abs(here) < small, small, here));
  return flow.transport * (moved(amount, 1) + moved(amount, 0)) * 0.5 -
         torch::abs(flow.transport) * (torch::rsub(limit, 1) + courant * limit) * here * 0.5;
}

/// 1 on the faces between two cells of water.
Tensor face_mask(Tensor const& mask, std::int64_t axis) {
  auto result = torch::zeros_like(mask);
  cut(result, axis, 0, -1).copy_(cut(mask, axis, 1, 0) * cut(mask, axis, 0, -1));
  return result;
}

/// A layer of zeros below and above.
Tensor pad(Tensor const& x) {
  auto shape = x.sizes().vec();
  shape[vertical] += 2;
  auto result = torch::zeros(shape, x.options());
  cut(result, vertical, 1, -1).copy_(x);
  return result;
}

void advect(Inputs const& in, Tensor const& amount, Fluxes& fluxes) {
  auto const velocity = [&in](std::int64_t axis) {
    return in.velocity[axis].select(3, now);
  };
  auto const east = at_faces(velocity(0), 0, 0);
  auto const north = at_faces(velocity(1), 1, 0);
  auto const top = at_faces(pad(velocity(vertical)), vertical, 0);
  Flow const eastward{0, east, east, at_faces(in.cosine * in.width[0], 0, 0)};
  Flow const northward{
      1, north, at_faces(in.cosine_side, 1, 0) * north, at_faces(in.cosine * in.width[1], 1, 0)};
  Flow const upward{vertical, top, top, cut(in.depth_distance, vertical, 0, -1)};

  for (auto* flux : {&fluxes.east, &fluxes.north, &fluxes.top})
    flux->index_put_({Ellipsis}, 0.0);
  at_faces(fluxes.east, 0, 0).copy_(advective_flux(amount, face_mask(in.mask_top, 0), eastward));
  at_faces(fluxes.north, 1, 0).copy_(advective_flux(amount, face_mask(in.mask_top, 1), northward));
  cut(inner(fluxes.top), vertical, 0, -1)
      .copy_(advective_flux(pad(amount), pad(face_mask(in.mask_top, vertical)), upward));
}

void update_tendency(Inputs const& in, Fluxes const& fluxes, Tensor const& tendency) {
  auto const& height = in.depth_distance;
  auto const cosine = inner(in.cosine);
  inner(tendency).copy_(inner(in.mask_top) *
                        (-divergence(fluxes.east, 0) / (cosine * inner(in.width[0])) -
                         divergence(fluxes.north, 1) / (cosine * inner(in.width[1]))));
  auto const top = [&fluxes](std::int64_t level) {
    return fluxes.top.select(vertical, level);
  };
  tendency.select(vertical, 0).add_(-top(0) / height.select(vertical, 0));
  cut(tendency, vertical, 1, -1)
      .add_(-(cut(fluxes.top, vertical, 1, -1) - cut(fluxes.top, vertical, 0, -2)) /
            cut(height, vertical, 1, -1));
  tendency.select(vertical, -1).add_(-(top(-1) - top(-2)) / (0.5 * height.select(vertical, -1)));
}

/// The energy at the next point in time, its tendency, and what the surface was given.
std::vector<Tensor> integrate(Inputs const& in, Energy const& start) {
  constexpr double offset = 0.1;  // of Adams and Bashforth's scheme, for stability
  auto const amount = start.amount.clone();
  auto const& tendency = start.tendency;
  auto const zeros = [&in] {
    return torch::zeros_like(in.mask_top);
  };
  Fluxes fluxes{zeros(), zeros(), zeros()};
  mix(in, amount);
  auto const added = correct_surface(in, amount);
  diffuse(in, amount, fluxes);
  advect(in, amount.select(3, now), fluxes);
  update_tendency(in, fluxes, tendency.select(3, now));
  amount.select(3, next) += step * ((1.5 + offset) * tendency.select(3, now) -
                                    (0.5 + offset) * tendency.select(3, before));
  return {amount, tendency, added};
}

}  // namespace

std::unique_ptr<Workload> make_pyhpc_turbulent_kinetic_energy(Setup const& setup) {
  Ocean const ocean(setup);
  return make_kernel(setup,
                     [in = draw_inputs(ocean), start = Energy{ocean.field({3}), ocean.field({3})}] {
                       return integrate(in, start);
                     });
}

}  // namespace torchwatch::suite::pyhpc_turbulent_kinetic_energy
