// Soft actor-critic: Haarnoja et al., 2018 (arXiv 1812.05905), with the networks and rates of
// TorchBench's soft_actor_critic on Pendulum: an actor and two critics of two layers of 1024.
// Train: one update of critics, actor, temperature and target critics. Eval: the actor's mean
// action. Input: transitions: states [batch, 3], actions [batch, 1], rewards [batch, 1], next
// states. Smoke: layers of 256. The simulator and the replay buffer are upstream's NumPy and stay
// out: the transitions are drawn beforehand.

#include <cmath>
#include <utility>
#include <vector>

#include "runner/suite/apply_gradients.h"
#include "runner/suite/blocks/policy.h"
#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::soft_actor_critic {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t state_width = 3;
constexpr std::int64_t action_width = 1;
constexpr double discount = 0.99;
constexpr double target_rate = 0.005;
constexpr double target_entropy = -static_cast<double>(action_width);
constexpr double learning_rate = 1e-4;

nn::Sequential make_actor(std::int64_t hidden) {
  return make_mlp({state_width, hidden, hidden, 2 * action_width}, &torch::relu);
}

nn::Sequential make_critic(std::int64_t hidden) {
  return make_mlp({state_width + action_width, hidden, hidden, 1}, &torch::relu);
}

nn::Sequential orthogonal(nn::Sequential layers) {
  initialise_orthogonal(*layers);
  return layers;
}

/// Two critics.
struct Twins {
  nn::Sequential first;
  nn::Sequential second;

  std::vector<Tensor> parameters() const {
    auto all = first->parameters();
    auto const more = second->parameters();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Worth judge(Tensor const& states, Tensor const& actions) {
    auto const input = torch::cat({states, actions}, 1);
    return {first->forward(input), second->forward(input)};
  }
};

struct Transitions {
  Tensor states, actions, rewards, next_states;
  Tensor done;  ///< 1 where an episode ends
};

Tensor make_states(std::int64_t batch) {
  auto const angle = torch::rand({batch, 1}) * (2 * M_PI);
  auto const speed = torch::rand({batch, 1}) * 16 - 8;
  return torch::cat({angle.cos(), angle.sin(), speed}, 1);
}

Transitions make_transitions(Setup const& setup) {
  auto const states = setup.place(make_states(setup.batch));
  auto const actions = setup.place(torch::rand({setup.batch, action_width}) * 2 - 1);
  auto const rewards = setup.place(torch::rand({setup.batch, 1}) * -16);
  auto const next_states = setup.place(make_states(setup.batch));
  return {states, actions, rewards, next_states, torch::zeros_like(rewards)};
}

class ActorCriticTraining final : public Workload {
 public:
  ActorCriticTraining(Setup const& setup, std::int64_t hidden, nn::Sequential actor)
      : actor_(std::move(actor)),
        critics_{orthogonal(make_critic(hidden)), orthogonal(make_critic(hidden))},
        targets_{make_critic(hidden), make_critic(hidden)},
        log_temperature_(setup.place(torch::full({1}, std::log(0.1))).requires_grad_()),
        batch_(make_transitions(setup)),
        actor_optimizer_(actor_->parameters(), torch::optim::AdamOptions(learning_rate)),
        critic_optimizer_(critics_.parameters(), torch::optim::AdamOptions(learning_rate)),
        temperature_optimizer_({log_temperature_},
                               torch::optim::AdamOptions(learning_rate).betas({0.5, 0.999})) {
    for (auto* network : {&critics_.first, &critics_.second, &targets_.first, &targets_.second})
      setup.place(**network);
    move_targets(1);
  }

  void step() override {
    act();
    update_critics();
    auto const entropy_gap = update_actor();
    update_temperature(entropy_gap);
    move_targets(target_rate);
  }

  /// The critics' loss.
  std::vector<Tensor> results() const override { return {loss_}; }

  std::shared_ptr<nn::Module> network() const override {
    auto all = join({{"actor", actor_.ptr()},
                     {"first_critic", critics_.first.ptr()},
                     {"second_critic", critics_.second.ptr()}});
    all->register_parameter("log_temperature", log_temperature_);
    return all;
  }

 private:
  /// Computes the actions for the simulator.
  void act() {
    torch::NoGradGuard const no_gradients;
    action_ = sample(actor_->forward(batch_.states.slice(0, 0, 1))).clamp(-1, 1).cpu();
  }

  /// The critics' targets: reward plus the discounted worth of the next state.
  Tensor worth() {
    torch::NoGradGuard const no_gradients;
    auto const next = draw(actor_->forward(batch_.next_states));
    auto const value = targets_.judge(batch_.next_states, next.actions).lower();
    return batch_.rewards + discount * torch::rsub(batch_.done, 1) *
                                (value - log_temperature_.exp() * next.log_probability);
  }

  void update_critics() {
    auto const wanted = worth();
    auto const guess = critics_.judge(batch_.states, batch_.actions);
    auto const squares = (wanted - guess.first).pow(2) + (wanted - guess.second).pow(2);
    auto const loss = (0.5 * squares).mean();
    critic_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(critic_optimizer_);
    loss_ = loss.detach();
  }

  /// Returns how far each log probability is from the wanted entropy, [batch, 1].
  Tensor update_actor() {
    auto const policy = draw(actor_->forward(batch_.states));
    auto const value = critics_.judge(batch_.states, policy.actions).lower();
    auto const temperature = log_temperature_.exp().detach();
    auto const loss = -(value - temperature * policy.log_probability).mean();
    actor_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(actor_optimizer_);
    return (policy.log_probability + target_entropy).detach();
  }

  void update_temperature(Tensor const& entropy_gap) {
    auto const loss = (-log_temperature_.exp() * entropy_gap).mean();
    temperature_optimizer_.zero_grad();
    loss.backward();
    apply_gradients(temperature_optimizer_);
  }

  void move_targets(double rate) { follow(targets_.parameters(), critics_.parameters(), rate); }

  nn::Sequential actor_;
  Twins critics_;
  Twins targets_;
  Tensor log_temperature_;
  Transitions batch_;
  torch::optim::Adam actor_optimizer_;
  torch::optim::Adam critic_optimizer_;
  torch::optim::Adam temperature_optimizer_;
  Tensor action_, loss_;
};

}  // namespace

std::unique_ptr<Workload> make_soft_actor_critic(Setup const& setup) {
  auto const hidden = setup.pick(1024, 256);
  auto actor = orthogonal(make_actor(hidden));
  setup.place(*actor);
  if (setup.test == Test::train)
    return std::make_unique<ActorCriticTraining>(setup, hidden, std::move(actor));

  auto const states = setup.place(make_states(setup.batch));
  Supervised parts;
  parts.network = actor.ptr();
  parts.forward = [actor, states]() mutable {
    return std::vector<Tensor>{mean_action(actor->forward(states)).clamp(-1, 1)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::soft_actor_critic
