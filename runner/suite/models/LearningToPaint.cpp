// Learning to paint: Huang, Heng and Zhou, "Learning to paint with model-based deep reinforcement
// learning", 2019 (arXiv 1903.04411), as TorchBench's LearningToPaint runs it: deep deterministic
// policy gradients with a neural renderer, a critic without batch normalisation and a Wasserstein
// discriminator that gives the reward. Train: the actor paints five strokes on each canvas, then
// one update of discriminator (with gradient penalty), critic, actor and targets; upstream makes
// ten updates after each forty times. Eval: an episode of forty times five strokes, one of
// upstream's five. Input: images [batch, 3, 128, 128]. As upstream, actions and rewards pass
// through the CPU. Renderer and target discriminator are frozen. The replay memory holds eight
// batches. Smoke: 32 x 32 pixels, an eighth of the width, episodes of four.

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/painting.h"
#include "runner/suite/layers.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::LearningToPaint {
namespace {

using painting::action_width;
using painting::Backbone;
using painting::freeze;
using painting::Jury;
using painting::Norm;
using painting::paint;
using painting::Renderer;
using torch::Tensor;
namespace nn = torch::nn;

constexpr double discount = 0.95 * 0.95 * 0.95 * 0.95 * 0.95;
constexpr double target_rate = 0.001;

struct Sizes {
  std::int64_t side, width, critic_width, renderer_width, episode;
};

/// All observations are bytes [batch, 7, side, side]: canvas, image and the number of steps.
class Studio {
 public:
  Studio(Setup const& setup, Sizes const& sizes, Renderer renderer)
      : renderer_(std::move(renderer)),
        dtype_(renderer_->parameters()[0].scalar_type()),
        episode_(sizes.episode),
        images_(setup.place(
            torch::randint(256, {setup.batch, 3, sizes.side, sizes.side}, torch::kByte))) {
    reset();
  }

  /// An empty canvas for each image.
  void reset() {
    canvases_ = torch::zeros_like(images_);
    steps_ = 0;
    first_distance_ = last_distance_ = distance();
  }

  Tensor observe() const {
    auto shape = images_.sizes().vec();
    shape[1] = 1;
    auto const steps = torch::ones(shape, torch::kByte) * steps_;
    return torch::cat({canvases_, images_, steps.to(images_.device())}, 1);
  }

  /// `actions`: [batch, 65] on the CPU. Returns what they gained, [batch], there too.
  Tensor step(Tensor const& actions) {
    torch::NoGradGuard const no_gradients;
    auto const canvases = canvases_.to(dtype_) / 255;
    auto const painted = paint(renderer_, actions.to(images_.device()), canvases);
    canvases_ = (painted * 255).to(torch::kByte);
    ++steps_;
    auto const now = distance();
    auto const reward = (last_distance_ - now) / (first_distance_ + 1e-8);
    last_distance_ = now;
    return reward.cpu();
  }

  bool done() const { return steps_ == episode_; }

  /// The mean squared difference of each canvas from its image, [batch].
  Tensor distance() const {
    auto const difference = (canvases_.to(torch::kFloat) - images_.to(torch::kFloat)) / 255;
    return difference.pow(2).mean(1).mean(1).mean(1);
  }

 private:
  Renderer renderer_;
  torch::Dtype dtype_;
  std::int64_t episode_;
  Tensor images_, canvases_;
  std::int64_t steps_ = 0;
  Tensor first_distance_, last_distance_;
};

/// Makes numbers of observations.
class Viewer {
 public:
  Viewer(Setup const& setup, Sizes const& sizes) : episode_(sizes.episode) {
    auto const line = torch::linspace(0, 1, sizes.side);
    auto const grid = torch::meshgrid({line, line}, "ij");
    places_ = setup.place(torch::stack({grid[0], grid[1]}).unsqueeze(0));
  }

  /// Row and column of each pixel, [batch, 2, side, side].
  Tensor places(Tensor const& observations) const {
    return places_.expand({observations.size(0), -1, -1, -1});
  }

  Tensor canvases(Tensor const& observations) const { return pixels(observations, 0, 3); }

  Tensor images(Tensor const& observations) const { return pixels(observations, 3, 6); }

  /// The share of the episode that is over after `more` steps, as a channel.
  Tensor progress(Tensor const& observations, std::int64_t more) const {
    auto const steps = observations.slice(1, 6, 7).to(places_.scalar_type());
    return (steps + more) / episode_;
  }

  /// The actor's actions, [batch, 65].
  Tensor play(Backbone& actor, Tensor const& observations) const {
    auto const both = pixels(observations, 0, 6);
    auto const input = torch::cat({both, progress(observations, 0), places(observations)}, 1);
    return torch::sigmoid(actor(input));
  }

  /// The actions in evaluation mode, moved to the CPU. Leaves the actor in that mode.
  Tensor act(Backbone& actor, Tensor const& observations) const {
    torch::NoGradGuard const no_gradients;
    actor->eval();
    return play(actor, observations).cpu();
  }

 private:
  Tensor pixels(Tensor const& observations, std::int64_t first, std::int64_t last) const {
    return observations.slice(1, first, last).to(places_.scalar_type()) / 255;
  }

  std::int64_t episode_;
  Tensor places_;
};

/// On the device. Each tensor's first dimension is the transitions.
struct Transitions {
  Tensor observations, actions, rewards, next_observations, done;
};

class Memory {
 public:
  Memory(Setup const& setup, Sizes const& sizes) : batch_(setup.batch) {
    constexpr std::int64_t batches = 8;
    auto const make = [&](std::vector<std::int64_t> shape, torch::Dtype dtype) {
      shape.insert(shape.begin(), batches * batch_);
      return setup.place(torch::zeros(shape, dtype));
    };
    all_ = {make({7, sizes.side, sizes.side}, torch::kByte),
            make({action_width}, torch::kFloat),
            make({}, torch::kFloat),
            make({7, sizes.side, sizes.side}, torch::kByte),
            make({}, torch::kFloat)};
  }

  void add(Transitions const& batch) {
    auto const put = [this](Tensor const& all, Tensor const& some) {
      all.slice(0, next_, next_ + batch_).copy_(some);
    };
    put(all_.observations, batch.observations);
    put(all_.actions, batch.actions);
    put(all_.rewards, batch.rewards);
    put(all_.next_observations, batch.next_observations);
    put(all_.done, batch.done);
    next_ = (next_ + batch_) % all_.done.size(0);
    filled_ = std::max(filled_, next_ == 0 ? all_.done.size(0) : next_);
  }

  Transitions sample() const {
    auto const chosen = torch::randint(filled_, {batch_}, torch::kLong);
    auto const* first = chosen.data_ptr<std::int64_t>();
    auto const pick = [&](Tensor const& all) {
      std::vector<Tensor> picked;
      std::transform(first, first + batch_, std::back_inserter(picked), [&](std::int64_t i) {
        return all[i];
      });
      return torch::stack(picked, 0);
    };
    return {pick(all_.observations),
            pick(all_.actions),
            pick(all_.rewards),
            pick(all_.next_observations),
            pick(all_.done)};
  }

 private:
  std::int64_t batch_;
  Transitions all_;
  std::int64_t next_ = 0;
  std::int64_t filled_ = 0;
};

Backbone make_actor(Setup const& setup, Sizes const& sizes) {
  Backbone actor(Norm::batch, 9, sizes.width, action_width);
  setup.place(*actor);
  return actor;
}

Backbone make_critic(Setup const& setup, Sizes const& sizes) {
  Backbone critic(Norm::weight, 12, sizes.width, 1);
  setup.place(*critic);
  return critic;
}

Renderer make_renderer(Setup const& setup, Sizes const& sizes) {
  Renderer renderer(sizes.side, sizes.renderer_width);
  setup.place(*renderer);
  freeze(*renderer);
  return renderer;
}

class Learning final : public Workload {
 public:
  Learning(Setup const& setup, Sizes const& sizes)
      : renderer_(make_renderer(setup, sizes)),
        studio_(setup, sizes, renderer_),
        viewer_(setup, sizes),
        memory_(setup, sizes),
        jury_(setup, sizes.critic_width),
        actor_(make_actor(setup, sizes)),
        actor_target_(make_actor(setup, sizes)),
        critic_(make_critic(setup, sizes)),
        critic_target_(make_critic(setup, sizes)),
        actor_optimizer_(actor_->parameters(), torch::optim::AdamOptions(1e-3)),
        critic_optimizer_(critic_->parameters(), torch::optim::AdamOptions(3e-4)) {
    move_targets(1);
  }

  void step() override {
    explore();
    auto const batch = memory_.sample();
    auto const& seen = batch.next_observations;
    loss_ = jury_.update(viewer_.images(seen), viewer_.canvases(seen));
    update_critic(batch);
    update_actor(batch.observations);
    move_targets(target_rate);
  }

  /// The discriminator's loss: the critic's says little while its targets move.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"actor", actor_.ptr()},
                 {"critic", critic_.ptr()},
                 {"discriminator", jury_.network().ptr()},
                 {"renderer", renderer_.ptr()}});
  }

 private:
  struct Worth {
    Tensor total;  ///< the gain and what is expected later, [batch, 1]
    Tensor gain;
  };

  void explore() {
    auto const observations = studio_.observe();
    auto const actions = viewer_.act(actor_, observations);
    actor_->train();
    auto const rewards = studio_.step(actions);
    auto const done = torch::full_like(rewards, studio_.done() ? 1 : 0);
    memory_.add({observations, actions, rewards, studio_.observe(), done});
    if (studio_.done()) studio_.reset();
  }

  Worth judge(Backbone& critic, Tensor const& observations, Tensor const& actions) {
    auto const images = viewer_.images(observations);
    auto const before = viewer_.canvases(observations);
    auto const after = paint(renderer_, actions, before);
    auto const gain = jury_.gain(images, before, after);
    auto const input = torch::cat(
        {before, after, images, viewer_.progress(observations, 1), viewer_.places(observations)},
        1);
    return {critic(input) + gain, gain};
  }

  /// The discounted worth of what comes after the batch, [batch, 1].
  Tensor future(Transitions const& batch) {
    torch::NoGradGuard const no_gradients;
    auto const actions = viewer_.play(actor_target_, batch.next_observations);
    auto const worth = judge(critic_target_, batch.next_observations, actions).total;
    return discount * torch::rsub(batch.done, 1).view({-1, 1}) * worth;
  }

  void update_critic(Transitions const& batch) {
    auto wanted = future(batch);
    auto const worth = judge(critic_, batch.observations, batch.actions);
    wanted += worth.gain.detach();
    auto const loss = torch::mse_loss(worth.total, wanted);
    critic_->zero_grad();
    loss.backward();
    apply_gradients(critic_optimizer_);
  }

  void update_actor(Tensor const& observations) {
    auto const actions = viewer_.play(actor_, observations);
    auto const loss = -judge(critic_, observations, actions).total.mean();
    actor_->zero_grad();
    loss.backward();
    apply_gradients(actor_optimizer_);
  }

  void move_targets(double rate) {
    follow(actor_target_->parameters(), actor_->parameters(), rate);
    follow(critic_target_->parameters(), critic_->parameters(), rate);
  }

  Renderer renderer_;
  Studio studio_;
  Viewer viewer_;
  Memory memory_;
  Jury jury_;
  Backbone actor_, actor_target_, critic_, critic_target_;
  torch::optim::Adam actor_optimizer_, critic_optimizer_;
  Tensor loss_;
};

class Painting final : public Workload {
 public:
  Painting(Setup const& setup, Sizes const& sizes)
      : actor_(make_actor(setup, sizes)),
        renderer_(make_renderer(setup, sizes)),
        studio_(setup, sizes, renderer_),
        viewer_(setup, sizes) {}

  void step() override {
    studio_.reset();
    while (!studio_.done())
      studio_.step(viewer_.act(actor_, studio_.observe()));
    distance_ = studio_.distance();
  }

  /// The distance of each canvas from its image at the end, [batch].
  std::vector<Tensor> results() const override { return {distance_}; }

  std::shared_ptr<nn::Module> network() const override {
    return join({{"actor", actor_.ptr()}, {"renderer", renderer_.ptr()}});
  }

 private:
  Backbone actor_;
  Renderer renderer_;
  Studio studio_;
  Viewer viewer_;
  Tensor distance_;
};

}  // namespace

std::unique_ptr<Workload> make_LearningToPaint(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{128, 64, 16, 512, 40}, Sizes{32, 8, 4, 64, 4});
  if (setup.test == Test::train) return std::make_unique<Learning>(setup, sizes);
  return std::make_unique<Painting>(setup, sizes);
}

}  // namespace torchwatch::suite::LearningToPaint
