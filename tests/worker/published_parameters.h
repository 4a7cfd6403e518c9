#pragma once

/// Parameters of each model at full scale, and where the number is from.

#include <cstdint>
#include <map>
#include <string_view>

namespace torchwatch::suite {

inline std::map<std::string_view, std::int64_t> const published_parameters{
    // Devlin et al., table 1's base model over 20005 words: 2 tables, 12 layers, 2 heads
    {"BERT_pytorch",
     (20005 + 3) * 768 +
         12 * (4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 4 * 768) +
         (768 * 2 + 2) + (768 * 20005 + 20005)},
    // The DCGAN tutorial of PyTorch: generator and discriminator
    {"dcgan", 3576704 + 2765568},
    // TorchBench's dlrm: 8 tables, 512-512-64 below, 100-1024-1024-1024-1 above
    {"dlrm",
     8 * 1000000LL * 64 + (512 * 512 + 512) + (512 * 64 + 64) + (100 * 1024 + 1024) +
         2 * (1024 * 1024 + 1024) + (1024 + 1)},
    // TorchBench's lennard_jones: 1-16-16-16-16-1
    {"lennard_jones", (16 + 16) + 3 * (16 * 16 + 16) + (16 + 1)},
    // torchvision's documentation
    {"resnet152", 60192808},
    {"resnet18", 11689512},
    {"resnet50", 25557032},
    {"resnext50_32x4d", 25028904},
    // TorchBench's soft_actor_critic: 3-1024-1024-2, twice 4-1024-1024-1, and the temperature
    {"soft_actor_critic",
     (3 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 * 2 + 2) +
         2 * ((4 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 + 1)) + 1},
    // TorchBench's tts_angular: LSTM 40 -> 768, two 256 -> 768, each projected to 256
    {"tts_angular",
     (3072 * (40 + 768) + 2 * 3072) + 2 * (3072 * (256 + 768) + 2 * 3072) + 3 * 768 * 256},
};

}  // namespace torchwatch::suite
