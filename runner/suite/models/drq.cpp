// Data-regularised Q: Kostrikov, Yarats and Fergus, "Image augmentation is all you need", 2020
// (arXiv 2004.13649), as TorchBench's drq runs it: soft actor-critic on images, each shifted at
// random by up to four pixels, with convolutions that actor and critics share. Train: the actor
// acts, one update on 128 transitions (critics; every second time actor, temperature and target
// critics), then the environment moves. Eval: the mean action, and the environment moves. Input:
// three stacked frames of nine channels, [27, 84, 84]. Environment and replay buffer are on the CPU
// as upstream; the environment is ours, a picture pushed sideways, and the buffer holds 256, not
// 100000. Smoke: 36 x 36 pixels, a quarter of the filters, layers of 64, batches of 8.

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/policy.h"
#include "runner/suite/layers.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::drq {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t stacked = 3;
constexpr std::int64_t channels = 9;
constexpr std::int64_t feature_width = 50;
constexpr std::int64_t action_width = 1;
constexpr std::int64_t padding = 4;
constexpr double discount = 0.99;
constexpr double target_rate = 0.01;
constexpr double target_entropy = -static_cast<double>(action_width);
constexpr double learning_rate = 1e-3;
constexpr int update_interval = 2;  // of all but the critics

struct Sizes {
  std::int64_t side, filters, hidden, batch, capacity;
};

struct Outcome {
  Tensor observation;  ///< [27, side, side] of bytes
  double reward;
};

/// A picture hung on a spring, best in its place. Deterministic but for the picture.
class Environment {
 public:
  explicit Environment(std::int64_t side)
      : picture_(torch::randint(256, {channels, side, side}, torch::kByte)),
        frames_(stacked, picture_) {}

  Tensor observe() const { return torch::cat(frames_); }

  Outcome step(double force) {
    speed_ += force - 0.1 * position_;
    position_ += speed_;
    frames_.erase(frames_.begin());
    frames_.push_back(picture_.roll(std::lround(position_), 2));
    return {observe(), 1 / (1 + 0.01 * position_ * position_)};
  }

 private:
  Tensor picture_;
  std::vector<Tensor> frames_;
  double position_ = 0;
  double speed_ = 0;
};

/// On the CPU; observations in bytes. Each tensor's first dimension is the transitions.
struct Transitions {
  Tensor observations, actions, rewards, next_observations, not_done;
};

class ReplayBuffer {
 public:
  explicit ReplayBuffer(Sizes const& sizes)
      : all_{torch::empty({sizes.capacity, stacked * channels, sizes.side, sizes.side},
                          torch::kByte),
             torch::empty({sizes.capacity, action_width}),
             torch::empty({sizes.capacity, 1}),
             torch::empty({sizes.capacity, stacked * channels, sizes.side, sizes.side},
                          torch::kByte),
             torch::empty({sizes.capacity, 1})} {}

  void add(Tensor const& observation, double action, Outcome const& outcome) {
    all_.observations[next_].copy_(observation);
    all_.actions[next_].fill_(action);
    all_.rewards[next_].fill_(outcome.reward);
    all_.next_observations[next_].copy_(outcome.observation);
    all_.not_done[next_].fill_(1);  // the environment goes on for ever
    next_ = (next_ + 1) % all_.actions.size(0);
  }

  /// Only once it is full.
  Transitions sample(std::int64_t batch) const {
    auto const chosen = torch::randint(all_.actions.size(0), {batch}, torch::kLong);
    auto const pick = [&chosen](Tensor const& x) {
      return x.index_select(0, chosen);
    };
    return {pick(all_.observations),
            pick(all_.actions),
            pick(all_.rewards),
            pick(all_.next_observations),
            pick(all_.not_done)};
  }

 private:
  Transitions all_;
  std::int64_t next_ = 0;
};

bool are_alike(Tensor const& places) {
  return std::get<0>(torch::_unique2(places, false)).size(0) == 1;
}

/// Cuts each image out of a larger one, whose border repeats the image's, at a random place.
Tensor shift(Tensor const& images) {
  auto const batch = images.size(0), side = images.size(-1);
  auto const padded = torch::replication_pad2d(images, {padding, padding, padding, padding});
  auto const places = (torch::rand({2, batch}) * (2 * padding + 1)).floor().to(torch::kLong);
  auto const place = places.accessor<std::int64_t, 2>();
  auto const cut = [&](Tensor const& x, std::int64_t image) {
    auto const top = place[0][image], left = place[1][image];
    return x.slice(-2, top, top + side).slice(-1, left, left + side);
  };
  if (are_alike(places[0]) && are_alike(places[1])) return cut(padded, 0);
  auto cuts = torch::empty_like(images);
  for (std::int64_t i = 0; i < batch; ++i)
    cuts[i].copy_(cut(padded[i], i));
  return cuts;
}

/// Images [batch, 27, side, side] of 0 to 255 -> [batch, `width`]
class EyeImpl : public nn::Module {
 public:
  explicit EyeImpl(Sizes const& sizes) {
    for (int i = 0; i < 4; ++i) {
      auto const in = i == 0 ? stacked * channels : sizes.filters;
      auto const options = nn::Conv2dOptions(in, sizes.filters, 3).stride(i == 0 ? 2 : 1);
      convs_.emplace_back(register_module("conv" + std::to_string(i + 1), nn::Conv2d(options)));
    }
  }

  Tensor forward(Tensor const& images) {
    auto x = images / 255.0;
    for (auto& conv : convs_)
      x = torch::relu(conv(x));
    return x.reshape({x.size(0), -1});
  }

  static std::int64_t width(Sizes const& sizes) {
    auto const side = (sizes.side - 3) / 2 + 1 - 3 * 2;
    return sizes.filters * side * side;
  }

 private:
  std::vector<nn::Conv2d> convs_;
};

TORCH_MODULE(Eye);

Tensor rectify(Tensor const& x) {
  return x.relu_();
}

/// The layers between the eye's output and the trunks. Actor and critics each have their own.
nn::Sequential make_head(Sizes const& sizes) {
  return nn::Sequential(nn::Linear(Eye::Impl::width(sizes), feature_width),
                        nn::LayerNorm(nn::LayerNormOptions({feature_width})),
                        nn::Tanh());
}

/// The eye's output -> means and log deviations of actions.
class ActorImpl : public nn::Module {
 public:
  explicit ActorImpl(Sizes const& sizes)
      : head_(register_module("head", make_head(sizes))),
        trunk_(register_module(
            "trunk",
            make_mlp({feature_width, sizes.hidden, sizes.hidden, 2 * action_width}, &rectify))) {
    initialise_orthogonal(*this);
  }

  Tensor forward(Tensor const& seen) { return trunk_->forward(head_->forward(seen)); }

 private:
  nn::Sequential head_, trunk_;
};

TORCH_MODULE(Actor);

class CriticsImpl : public nn::Module {
 public:
  explicit CriticsImpl(Sizes const& sizes)
      : eye_(register_module("eye", Eye(sizes))),
        head_(register_module("head", make_head(sizes))),
        first_(register_module("first", make_critic(sizes))),
        second_(register_module("second", make_critic(sizes))) {
    initialise_orthogonal(*this);
  }

  Eye& eye() { return eye_; }

  Worth forward(Tensor const& seen, Tensor const& actions) {
    auto const input = torch::cat({head_->forward(seen), actions}, -1);
    return {first_->forward(input), second_->forward(input)};
  }

 private:
  static nn::Sequential make_critic(Sizes const& sizes) {
    return make_mlp({feature_width + action_width, sizes.hidden, sizes.hidden, 1}, &rectify);
  }

  Eye eye_;
  nn::Sequential head_, first_, second_;
};

TORCH_MODULE(Critics);

/// A batch on the device, each image shifted twice.
struct Batch {
  Tensor images[2], next_images[2];
  Tensor actions, rewards, not_done;
};

class Agent {
 public:
  Agent(Setup const& setup, Sizes const& sizes)
      : critics_(sizes),
        targets_(sizes),
        actor_(sizes),
        log_temperature_(setup.place(torch::full({}, std::log(0.1))).requires_grad_()),
        actor_optimizer_(actor_->parameters(), torch::optim::AdamOptions(learning_rate)),
        critics_optimizer_(critics_->parameters(), torch::optim::AdamOptions(learning_rate)),
        temperature_optimizer_({log_temperature_}, torch::optim::AdamOptions(learning_rate)) {
    setup.place(*critics_);
    setup.place(*targets_);
    setup.place(*actor_);
    follow(targets_->parameters(), critics_->parameters(), 1);
  }

  /// Means and log deviations of what to do, [1, 2].
  Tensor consider(Tensor const& observation) {
    torch::NoGradGuard const no_gradients;
    return actor_(critics_->eye()(place(observation).unsqueeze(0)));
  }

  /// Returns the critics' loss.
  Tensor update(Transitions const& transitions, int step) {
    auto const batch = augment(transitions);
    auto const loss = update_critics(batch);
    if (step % update_interval == 0) {
      update_temperature(update_actor(batch.images[0]));
      follow(targets_->parameters(), critics_->parameters(), target_rate);
    }
    return loss;
  }

  std::shared_ptr<nn::Module> network() const {
    auto all = join({{"critics", critics_.ptr()}, {"actor", actor_.ptr()}});
    all->register_parameter("log_temperature", log_temperature_);
    return all;
  }

 private:
  /// Bytes travel; numbers are made of them on the device.
  Tensor place(Tensor const& x) const {
    return x.to(log_temperature_.device()).to(log_temperature_.scalar_type());
  }

  Batch augment(Transitions const& transitions) const {
    auto const images = place(transitions.observations);
    auto const next = place(transitions.next_observations);
    return {{shift(images), shift(images)},
            {shift(next), shift(next)},
            place(transitions.actions),
            place(transitions.rewards),
            place(transitions.not_done)};
  }

  /// The critics' targets, the mean over both shifts of the next images.
  Tensor worth(Batch const& batch) {
    torch::NoGradGuard const no_gradients;
    Tensor sum = torch::zeros_like(batch.rewards);
    for (auto const& images : batch.next_images) {
      auto const policy = draw(actor_(critics_->eye()(images)));
      auto const value = targets_(targets_->eye()(images), policy.actions).lower();
      sum += batch.rewards +
             batch.not_done * discount * (value - log_temperature_.exp() * policy.log_probability);
    }
    return sum / 2;
  }

  Tensor update_critics(Batch const& batch) {
    auto const wanted = worth(batch);
    auto const error = [&](Tensor const& images) {
      auto const guess = critics_(critics_->eye()(images), batch.actions);
      return torch::mse_loss(guess.first, wanted) + torch::mse_loss(guess.second, wanted);
    };
    auto loss = error(batch.images[0]);
    loss += error(batch.images[1]);
    critics_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(critics_optimizer_);
    return loss.detach();
  }

  /// Returns how far each log probability is from the wanted entropy, [batch, 1].
  Tensor update_actor(Tensor const& images) {
    auto const seen = critics_->eye()(images).detach();
    auto const policy = draw(actor_(seen));
    auto const value = critics_(seen, policy.actions).lower();
    auto const loss = (log_temperature_.exp().detach() * policy.log_probability - value).mean();
    actor_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(actor_optimizer_);
    return (-policy.log_probability - target_entropy).detach();
  }

  void update_temperature(Tensor const& entropy_gap) {
    auto const loss = (log_temperature_.exp() * entropy_gap).mean();
    temperature_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(temperature_optimizer_);
  }

  Critics critics_, targets_;
  Actor actor_;
  Tensor log_temperature_;
  torch::optim::Adam actor_optimizer_, critics_optimizer_, temperature_optimizer_;
};

class Interaction : public Workload {
 public:
  Interaction(Setup const& setup, Sizes const& sizes)
      : agent_(setup, sizes),
        environment_(sizes.side) {}

  std::vector<Tensor> results() const override { return {result_}; }

  std::shared_ptr<nn::Module> network() const override { return agent_.network(); }

 protected:
  /// One number; brings it to the CPU, where the environment waits for it.
  static double action_of(Tensor const& action) { return action.clamp(-1, 1).item<double>(); }

  Agent agent_;
  Environment environment_;
  Tensor result_;
};

class Learning final : public Interaction {
 public:
  Learning(Setup const& setup, Sizes const& sizes)
      : Interaction(setup, sizes),
        buffer_(sizes),
        batch_(sizes.batch) {
    for (std::int64_t i = 0; i < sizes.capacity; ++i)
      move(2 * torch::rand({}).item<double>() - 1);
  }

  void step() override {
    auto const action = action_of(sample(agent_.consider(environment_.observe())));
    result_ = agent_.update(buffer_.sample(batch_), steps_++);
    move(action);
  }

 private:
  void move(double action) {
    auto const before = environment_.observe();
    buffer_.add(before, action, environment_.step(action));
  }

  ReplayBuffer buffer_;
  std::int64_t batch_;
  int steps_ = 0;
};

class Acting final : public Interaction {
 public:
  using Interaction::Interaction;

  void step() override {
    result_ = mean_action(agent_.consider(start_));
    environment_.step(action_of(result_));
  }

 private:
  Tensor start_ = environment_.observe();  ///< an episode of one step, as upstream
};

}  // namespace

std::unique_ptr<Workload> make_drq(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{84, 32, 1024, 128, 256}, Sizes{36, 8, 64, 8, 32});
  if (setup.test == Test::train) return std::make_unique<Learning>(setup, sizes);
  return std::make_unique<Acting>(setup, sizes);
}

}  // namespace torchwatch::suite::drq
