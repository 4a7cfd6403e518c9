#pragma once

/// Parameters of each model at full scale, and where the number is from.

#include <cstdint>
#include <map>
#include <string_view>

namespace torchwatch::suite {

/// Weights of the layers that the table's formulas are made of.
constexpr std::int64_t linear(std::int64_t in, std::int64_t out) {
  return in * out + out;
}

constexpr std::int64_t conv_norm(std::int64_t in,
                                 std::int64_t out,
                                 std::int64_t kernel = 1,
                                 std::int64_t groups = 1) {
  return in / groups * out * kernel * kernel + 2 * out;
}

/// timm's normalisation-free block: biases and gains with each convolution.
constexpr std::int64_t norm_free(std::int64_t in, std::int64_t out, bool shortcut) {
  auto const inner = out / 2;
  return conv_norm(in, inner) + 2 * conv_norm(inner, inner, 3, inner / 128) +
         conv_norm(inner, out) + linear(out, inner) + linear(inner, out) + 1 +
         (shortcut ? conv_norm(in, out) : 0);
}

/// effdet's convolution that brings a feature to the pyramid's width, and its separable one.
constexpr std::int64_t resample(std::int64_t in) {
  return conv_norm(in, 88) + 88;
}

constexpr std::int64_t separable(std::int64_t out) {
  return 88 * 9 + linear(88, out);
}

/// Parts of detectron2's region-based detectors, layer by layer. Frozen normalisation has no
/// parameters, so a body is torchvision's ResNet without those and without `fc`.
namespace detectron2 {

inline constexpr std::int64_t first_stages = 9408 + 212992 + 1212416;
inline constexpr std::int64_t fourth_50 = 7077888;
inline constexpr std::int64_t fourth_101 = 26017792;
inline constexpr std::int64_t fifth = 14942208;

/// Convolution with bias.
constexpr std::int64_t conv(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return in * out * kernel * kernel + out;
}

/// A convolution, then a score and a box for each anchor of a place.
constexpr std::int64_t proposals(std::int64_t channels, std::int64_t anchors) {
  return conv(channels, channels, 3) + conv(channels, anchors, 1) + conv(channels, anchors * 4, 1);
}

/// 81 scores and 80 boxes.
constexpr std::int64_t predictor(std::int64_t in) {
  return conv(in, 81, 1) + conv(in, 80 * 4, 1);
}

/// Two linear layers on 7 x 7 bins.
constexpr std::int64_t linear_head(std::int64_t channels) {
  return conv(channels * 7 * 7, 1024, 1) + conv(1024, 1024, 1) + predictor(1024);
}

constexpr std::int64_t mask_predictor(std::int64_t channels) {
  return conv(channels, 256, 2) + conv(256, 80, 1);
}

inline constexpr std::int64_t pyramid = conv(256, 256, 1) + conv(512, 256, 1) + conv(1024, 256, 1) +
                                        conv(2048, 256, 1) + 4 * conv(256, 256, 3);
inline constexpr std::int64_t fpn =
    first_stages + fifth + pyramid + proposals(256, 3) + linear_head(256);
inline constexpr std::int64_t fpn_masks = 4 * conv(256, 256, 3) + mask_predictor(256);
inline constexpr std::int64_t c4 = first_stages + fifth + proposals(1024, 15) + predictor(2048);
inline constexpr std::int64_t dc5 = first_stages + fifth + proposals(2048, 15) + linear_head(2048);
/// Pyramid of the last three stages topped by two convolutions; two towers of four normalised ones.
inline constexpr std::int64_t fcos = first_stages + fourth_50 + fifth + conv(512, 256, 1) +
                                     conv(1024, 256, 1) + conv(2048, 256, 1) +
                                     5 * conv(256, 256, 3) + 2 * 4 * (conv(256, 256, 3) + 2 * 256) +
                                     conv(256, 80, 3) + conv(256, 4, 3) + conv(256, 1, 3);

}  // namespace detectron2

/// Parts of lucidrains/DALLE2-pytorch, layer by layer.
namespace dalle2 {

constexpr std::int64_t norm_conv(std::int64_t in, std::int64_t out) {
  return linear(9 * in, out) + 2 * out;
}

/// Eight heads of 64, a context of 128; all of it without biases.
constexpr std::int64_t attention(std::int64_t width) {
  return 2 * width * 512 + 128 * 2 * 512 + 2 * 64 + 2 * width;
}

/// Two convolutions, a condition, a shortcut where needed.
constexpr std::int64_t block(std::int64_t in, std::int64_t out, std::int64_t whole) {
  return linear(whole, 2 * out) + norm_conv(in, out) + norm_conv(out, out) +
         (in == out ? 0 : linear(in, out));
}

/// One resolution: three blocks down and three up, which attend but for the first down.
constexpr std::int64_t stage(std::int64_t in, std::int64_t out, std::int64_t whole) {
  return 3 * (block(in, in, whole) + block(out + in, out, whole)) + 2 * attention(in) +
         3 * attention(out) + linear(4 * in, out) + linear(out, 4 * in);
}

/// The first resolution neither attends nor enlarges; the last does not shrink.
constexpr std::int64_t first_stage(std::int64_t width) {
  return stage(width, width, 4 * width) - 5 * attention(width) - linear(width, 4 * width);
}

constexpr std::int64_t last_stage(std::int64_t in, std::int64_t whole) {
  return stage(in, 2 * in, whole) - linear(4 * in, 2 * in) + linear(in, 2 * in);
}

/// Two blocks and between them sixteen heads of 32 that share keys and values.
constexpr std::int64_t bottom(std::int64_t width, std::int64_t whole) {
  return 2 * (block(width, width, whole) + attention(width)) + 2 * width * 512 + width * 2 * 32 +
         2 * 32 + 2 * width;
}

/// Convolutions that begin and end, time and what stands for no condition; condition width 128.
constexpr std::int64_t rest(std::int64_t width, std::int64_t in, std::int64_t out) {
  auto const whole = 4 * width;
  return linear(9 * in, width / 2) + linear(49 * in, width / 4) + linear(225 * in, width / 4) +
         linear(width, whole) + linear(whole, 2 * 128) + linear(whole, whole) + 2 * 2 * 128 +
         (4 + 256) * 128 + whole + block(2 * width, width, whole) + linear(width + in - 3, out);
}

inline constexpr std::int64_t coarse = rest(128, 3, 6) + linear(512, 4 * 128) + linear(512, 512) +
                                       linear(512, 128) + first_stage(128) + stage(128, 256, 512) +
                                       stage(256, 512, 512) + last_stage(512, 512) +
                                       bottom(1024, 512);
inline constexpr std::int64_t fine = rest(16, 6, 3) + first_stage(16) + stage(16, 32, 64) +
                                     stage(32, 64, 64) + stage(64, 128, 64) + last_stage(128, 64) +
                                     bottom(256, 64);
/// Six layers of eight heads that share keys and values of 64, and gated feeds of four times the
/// width.
inline constexpr std::int64_t prior =
    linear(512, 1024) + linear(1024, 1024) + linear(1024, 512) + (256 + 3) * 512 + 32 * 8 +
    6 * (2 * 512 * 512 + 512 * 2 * 64 + 2 * 64 + 2 * 512 + 512 + 512 * 4096 + 2048 * 512) + 512 +
    512 * 512;
/// OpenAI's count of ViT-B/32: github.com/openai/CLIP, notebooks/Interacting_with_CLIP.ipynb.
inline constexpr std::int64_t clip = 151277313;

}  // namespace dalle2

inline std::map<std::string_view, std::int64_t> const published_parameters{
    // lucidrains/DALLE2-pytorch's layers and CLIP, which does not learn
    {"DALLE2_pytorch", dalle2::clip + dalle2::prior + dalle2::coarse + dalle2::fine},
    // Devlin et al., table 1's base model over 20005 words: 2 tables, 12 layers, 2 heads
    {"BERT_pytorch",
     (20005 + 3) * 768 +
         12 * (4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 4 * 768) +
         (768 * 2 + 2) + (768 * 20005 + 20005)},
    // The paper's code. Actor and critic: torchvision's resnet18 without its ends, one shortcut
    // more in the first stage, other ends; weight normalisation has as many numbers as batch
    // normalisation, and the critic has 17 TReLUs. Discriminator: five 5 x 5 convolutions, four
    // TReLUs. Renderer: four linear layers, six 3 x 3 convolutions
    {"LearningToPaint",
     2 * (11689512 - 3 * 64 * 49 - (512 * 1000 + 1000) + (64 * 64 + 2 * 64)) +
         (9 * 64 * 9 + 512 * 65 + 65) + (12 * 64 * 9 + 512 + 1 + 17) +
         25 * (6 * 16 + 16 * 32 + 32 * 64 + 64 * 128 + 128) + 2 * (16 + 32 + 64 + 128 + 1) + 4 +
         (10 * 512 + 512) + (512 * 1024 + 1024) + (1024 * 2048 + 2048) + (2048 * 4096 + 4096) +
         9 * (16 * 32 + 32 * 32 + 8 * 16 + 16 * 16 + 4 * 8 + 8 * 4) + (32 + 32 + 16 + 16 + 8 + 4)},
    // Vaswani et al.'s base model over Multi30k's 9521 words: 3 tables, 6 layers a side
    {"attention_is_all_you_need_pytorch",
     3 * 9521 * 512 + 6 * (4 * 512 * 512 + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512) +
         6 * (8 * 512 * 512 + (512 * 2048 + 2048) + (2048 * 512 + 512) + 3 * 2 * 512) +
         2 * 2 * 512},
    // senguptaumd/Background-Matting: generator and supervisor (five encoders, combiners, thirteen
    // blocks, two decoders), and its patch discriminator
    {"Background_Matting",
     2 * ((49 * (3 + 3 + 1 + 4) * 64 + 4 * 3 * 64) +
          4 * ((9 * 64 * 128 + 3 * 128) + (9 * 128 * 256 + 3 * 256)) + 3 * (512 * 64 + 2 * 64) +
          (448 * 256 + 2 * 256) + 13 * 2 * (9 * 256 * 256 + 3 * 256) +
          2 * ((9 * 256 * 128 + 3 * 128) + 9 * 128 * 64 + 3 * 64) + 64 * 9 * 128 + (49 * 64 + 1) +
          (49 * 64 * 3 + 3)) +
         2764737},
    // avinashpaliwal/Super-SloMo: two U-Nets that differ in their first and last convolutions, and
    // torchvision's vgg16().features[:22]
    {"Super_SloMo",
     (49 * (6 + 20) * 32 + 2 * 32) + (9 * 32 * (4 + 5) + (4 + 5)) +
         2 * ((49 * 32 * 32 + 32) + (25 * 64 * (32 + 64) + 2 * 64) +
              (9 * 128 * (64 + 128) + 2 * 128) + (9 * 256 * (128 + 256) + 2 * 256) +
              (9 * 512 * (256 + 512) + 2 * 512) + (9 * 512 * (512 + 512) + 2 * 512) +
              (9 * 512 * (512 + 1024) + 2 * 512) + (9 * 256 * (512 + 512) + 2 * 256) +
              (9 * 128 * (256 + 256) + 2 * 128) + (9 * 64 * (128 + 128) + 2 * 64) +
              (9 * 32 * (64 + 64) + 2 * 32)) +
         7635264},
    // The DCGAN tutorial of PyTorch: generator and discriminator
    {"dcgan", 3576704 + 2765568},
    // Demucs, 64 channels: each level's four convolutions, weights first; two LSTM layers, linear
    {"demucs",
     8 * (2 * 64 + 64 * 128 + 128 * 256 + 256 * 512 + 512 * 1024 + 1024 * 2048) +
         8 * (8 * 64 + 64 * 128 + 128 * 256 + 256 * 512 + 512 * 1024 + 1024 * 2048) +
         (2 + 6) * (64 * 64 + 128 * 128 + 256 * 256 + 512 * 512 + 1024 * 1024 + 2048 * 2048) +
         (1 + 2 + 2) * (64 + 128 + 256 + 512 + 1024 + 2048) + (8 + 64 + 128 + 256 + 512 + 1024) +
         2 * (8192 * (2048 + 2048) + 2 * 8192) + 2 * (8192 * (4096 + 2048) + 2 * 8192) +
         (4096 * 2048 + 2048)},
    // detectron2's configurations of those names
    {"detectron2_fasterrcnn_r_101_c4", detectron2::c4 + detectron2::fourth_101},
    {"detectron2_fasterrcnn_r_101_dc5", detectron2::dc5 + detectron2::fourth_101},
    {"detectron2_fasterrcnn_r_101_fpn", detectron2::fpn + detectron2::fourth_101},
    {"detectron2_fasterrcnn_r_50_c4", detectron2::c4 + detectron2::fourth_50},
    {"detectron2_fasterrcnn_r_50_dc5", detectron2::dc5 + detectron2::fourth_50},
    {"detectron2_fasterrcnn_r_50_fpn", detectron2::fpn + detectron2::fourth_50},
    {"detectron2_fcos_r_50_fpn", detectron2::fcos},
    {"detectron2_maskrcnn", detectron2::fpn + detectron2::fourth_50 + detectron2::fpn_masks},
    {"detectron2_maskrcnn_r_101_c4",
     detectron2::c4 + detectron2::fourth_101 + detectron2::mask_predictor(2048)},
    {"detectron2_maskrcnn_r_101_fpn",
     detectron2::fpn + detectron2::fourth_101 + detectron2::fpn_masks},
    {"detectron2_maskrcnn_r_50_c4",
     detectron2::c4 + detectron2::fourth_50 + detectron2::mask_predictor(2048)},
    {"detectron2_maskrcnn_r_50_fpn",
     detectron2::fpn + detectron2::fourth_50 + detectron2::fpn_masks},
    // TorchBench's dlrm: 8 tables, 512-512-64 below, 100-1024-1024-1024-1 above
    {"dlrm",
     8 * 1000000LL * 64 + (512 * 512 + 512) + (512 * 64 + 64) + (100 * 1024 + 1024) +
         2 * (1024 * 1024 + 1024) + (1024 + 1)},
    // XLM-R's table 5 (250k words, 24 layers of 1024) with fairseq's 514 positions and masked head
    {"fambench_xlmr",
     (250002 + 514 + 2) * 1024 + 24 * (12 * 1024 * 1024 + 13 * 1024) +
         (1024 * 1024 + 3 * 1024 + 250002)},
    // BERT's base model over the Chinese vocabulary (102267648 with its pooler), and the span layer
    {"fastNLP_Bert", 102267648 + (768 * 2 + 2)},
    // AlbertForMaskedLM: tables and norm, projection, the one layer, head without its shared table
    {"hf_Albert",
     (30000 + 512 + 2 + 2) * 128 + (128 * 768 + 768) + (12 * 768 * 768 + 13 * 768) +
         (768 * 128 + 3 * 128 + 30000)},
    // BartForConditionalGeneration of bart-base: table, twice positions and norm, six layers each
    {"hf_Bart",
     50265 * 768 + 2 * (1024 + 2 + 2) * 768 + 6 * (12 * 768 * 768 + 13 * 768) +
         6 * (16 * 768 * 768 + 19 * 768)},
    // BertForMaskedLM: tables and norm, layers, head without its shared table
    {"hf_Bert",
     (30522 + 512 + 2 + 2) * 768 + 12 * (12 * 768 * 768 + 13 * 768) +
         (768 * 768 + 3 * 768 + 30522)},
    // The same at width 1024, but linear layers 3072 wide
    {"hf_Bert_large",
     (30522 + 512 + 2 + 2) * 1024 +
         24 * (4 * (1024 * 1024 + 1024) + (1024 * 3072 + 3072) + (3072 * 1024 + 1024) + 4 * 1024) +
         (1024 * 1024 + 3 * 1024 + 30522)},
    // DistilBertForMaskedLM: BERT with half of the layers and without segments
    {"hf_DistilBert",
     (30522 + 512 + 2) * 768 + 6 * (12 * 768 * 768 + 13 * 768) + (768 * 768 + 3 * 768 + 30522)},
    // Hugging Face's documentation of gpt2 and gpt2-large: 124M and 774M
    {"hf_GPT2", (50257 + 1024) * 768 + 12 * (12 * 768 * 768 + 13 * 768) + 2 * 768},
    {"hf_GPT2_large", (50257 + 1024) * 1280 + 36 * (12 * 1280 * 1280 + 13 * 1280) + 2 * 1280},
    // TorchBench's drq: four convolutions of 3 x 3 on 27 channels, 84 x 84 to 35 x 35; two heads,
    // 50-1024-1024-2, twice 51-1024-1024-1, and the temperature
    {"drq",
     (27 * 32 * 9 + 32) + 3 * (32 * 32 * 9 + 32) + 2 * (32 * 35 * 35 * 50 + 50 + 2 * 50) +
         (50 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 * 2 + 2) +
         2 * ((51 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 + 1)) + 1},
    // torchvision's resnet18; group normalisation has as many parameters as batch normalisation
    {"functorch_dp_cifar10", 11689512},
    // The example: three convolutions of 3 x 3 and 64 channels, each with batch normalisation, and
    // a linear layer
    {"functorch_maml_omniglot", (9 * 64 + 64) + 2 * (9 * 64 * 64 + 64) + 3 * 2 * 64 + (64 * 5 + 5)},
    // BigBirdConfig's defaults: 50358 words, 4096 places, 2 segments, 12 layers, pooler, and a head
    // that shares the words' table
    {"hf_BigBird",
     (50358 + 4096 + 2 + 2) * 768 +
         12 * (4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 4 * 768) +
         (768 * 768 + 768) + (768 * 768 + 768 + 2 * 768 + 50358)},
    // allenai/longformer-base-4096: 50265 words, 4098 places, 1 segment, 12 layers with second
    // projections for global attention, and a head that shares the words' table
    {"hf_Longformer",
     (50265 + 4098 + 1 + 2) * 768 +
         12 * (7 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 4 * 768) +
         (768 * 768 + 768 + 2 * 768 + 50265)},
    // ReformerConfig's defaults: 320 words, 64 x 64 places, 3 local and 3 hashing layers of 256
    // with 12 heads of 64
    {"hf_Reformer",
     320 * 256 + 64 * 64 + 64 * 192 + 3 * (3 + 2) * 256 * 768 +
         6 * (768 * 256 + 4 * 256 + (256 * 512 + 512) + (512 * 256 + 256)) + 2 * 512 +
         (512 * 320 + 320)},
    // Hugging Face's t5-small, t5-base, t5-large
    {"hf_T5", 60506624},
    {"hf_T5_base", 222903552},
    {"hf_T5_large", 737668096},
    // TorchBench's lennard_jones: 1-16-16-16-16-1
    {"lennard_jones", (16 + 16) + 3 * (16 * 16 + 16) + (16 + 1)},
    // TorchBench's maml: convolutions of 64 channels, three of 3 x 3 and one of 2 x 2, each with
    // batch normalisation, and a linear layer
    {"maml",
     (9 * 64 + 64) + 2 * (9 * 64 * 64 + 64) + (4 * 64 * 64 + 64) + 4 * 2 * 64 + (64 * 5 + 5)},
    // As functorch_maml_omniglot
    {"maml_omniglot", (9 * 64 + 64) + 2 * (9 * 64 * 64 + 64) + 3 * 2 * 64 + (64 * 5 + 5)},
    // Two of torchvision's resnet50 with 128 classes
    {"moco", 2 * (25557032 - (2048 + 1) * 1000 + (2048 + 1) * 128)},
    // TorchBench's nvidia_deeprecommender: 197951-512-512-1024-512-512-197951
    {"nvidia_deeprecommender",
     (197951 * 512 + 512) + (512 * 512 + 512) + (512 * 1024 + 1024) + (1024 * 512 + 512) +
         (512 * 512 + 512) + (512 * 197951 + 197951)},
    // torchvision's resnet18 with 10 classes
    {"opacus_cifar10", 11689512 - (512 + 1) * 1000 + (512 + 1) * 10},
    // Formulas
    {"pyhpc_equation_of_state", 0},
    {"pyhpc_isoneutral_mixing", 0},
    {"pyhpc_turbulent_kinetic_energy", 0},
    // pytorch-struct's NeuralCFG of 30 + 30 symbols, with 5000 words: embeddings of words,
    // symbols, pairs of symbols, roots and the start, two networks of five linear layers
    {"pytorch_struct", (5000 + 30 + 30 + 60 * 60 + 30 + 1) * 256 + 2 * 5 * (256 * 256 + 256)},
    // The tutorial's DenseNet: 32 channels, four blocks of 6 layers that add 16 channels each and
    // begin with 32, 64, 80 and 88, three transitions and a linear layer
    {"phlippe_densenet",
     (3 * 9 * 32 + 32) + (2 + 32) * (6 * (32 + 64 + 80 + 88) + 4 * (0 + 1 + 2 + 3 + 4 + 5) * 16) +
         4 * 6 * (2 * 32 + 32 * 9 * 16) + (2 * 128 + 128 * 64) + (2 * 160 + 160 * 80) +
         (2 * 176 + 176 * 88) + (2 * 184 + 184 * 10 + 10)},
    // The tutorial's ResNet: three stages of three blocks of two convolutions, 16 to 64 channels
    {"phlippe_resnet",
     (3 * 9 * 16 + 2 * 16) + 3 * (2 * 16 * 9 * 16 + 4 * 16) +
         (16 * 9 * 32 + 5 * 32 * 9 * 32 + 3 * 4 * 32 + 16 * 32 + 32) +
         (32 * 9 * 64 + 5 * 64 * 9 * 64 + 3 * 4 * 64 + 32 * 64 + 64) + (64 * 10 + 10)},
    // doctr's documentation says 25.4 M: torchvision's resnet50 less `fc`, pyramid, two heads
    {"doctr_det_predictor",
     (25557032 - (2048 * 1000 + 1000)) + ((256 + 512 + 1024 + 2048) * 256 + 4 * 2 * 256) +
         4 * (9 * 256 * 64 + 2 * 64) +
         2 * ((9 * 256 * 64 + 2 * 64) + (4 * 64 * 64 + 2 * 64) + (4 * 64 + 1))},
    // doctr's documentation says 15.8 M: torchvision's vgg16_bn().features, LSTM, 124 outputs
    {"doctr_reco_predictor",
     14723136 + 2 * (512 * (512 + 128) + 2 * 512) + 2 * (512 * (256 + 128) + 2 * 512) +
         (256 * 124 + 124)},
    // TorchBench's lennard_jones: 1-16-16-16-16-1
    {"lennard_jones", (16 + 16) + 3 * (16 * 16 + 16) + (16 + 1)},
    // junyanz/pytorch-CycleGAN-and-pix2pix says 11.378 M and 2.765 M for each of its two generators
    // and discriminators
    {"pytorch_CycleGAN_and_pix2pix",
     2 * ((49 * 3 * 64 + 64) + 2 * (9 * 64 * 128 + 9 * 128 * 256) + (128 + 256) + (128 + 64) +
          9 * 2 * (9 * 256 * 256 + 256) + (49 * 64 * 3 + 3)) +
         2 * ((16 * 3 * 64 + 64) + (16 * 64 * 128 + 128) + (16 * 128 * 256 + 256) +
              (16 * 256 * 512 + 512) + (16 * 512 + 1))},
    // yunjey/stargan for five attributes: generator, discriminator
    {"pytorch_stargan",
     (49 * 8 * 64 + 2 * 64) + 2 * (16 * 64 * 128 + 16 * 128 * 256) + 2 * (128 + 256) +
         2 * (128 + 64) + 6 * 2 * (9 * 256 * 256 + 2 * 256) + 49 * 64 * 3 + (16 * 3 * 64 + 64) +
         16 * 64 * 64 * (1 * 2 + 2 * 4 + 4 * 8 + 8 * 16 + 16 * 32) + 64 * (2 + 4 + 8 + 16 + 32) +
         9 * 2048 + 4 * 2048 * 5},
    // milesial/Pytorch-UNet for two classes: nine pairs of convolutions, and the last
    {"pytorch_unet",
     (9 * 64 * (3 + 64) + 6 * 64) + (9 * 128 * (64 + 128) + 6 * 128) +
         (9 * 256 * (128 + 256) + 6 * 256) + (9 * 512 * (256 + 512) + 6 * 512) +
         (9 * 512 * (512 + 512) + 6 * 512) + (9 * 512 * (1024 + 256) + 3 * (512 + 256)) +
         (9 * 256 * (512 + 128) + 3 * (256 + 128)) + (9 * 128 * (256 + 64) + 3 * (128 + 64)) +
         (9 * 64 * (128 + 64) + 3 * (64 + 64)) + (64 * 2 + 2)},
    // torchvision's documentation
    {"alexnet", 61100840},
    {"densenet121", 7978856},
    {"mnasnet1_0", 4383312},
    {"mobilenet_v2", 3504872},
    {"mobilenet_v2_quantized_qat", 3504872},
    {"mobilenet_v3_large", 5483032},
    {"resnet152", 60192808},
    {"resnet18", 11689512},
    {"resnet50", 25557032},
    {"resnet50_quantized_qat", 25557032},
    {"resnext50_32x4d", 25028904},
    {"shufflenet_v2_x1_0", 2278604},
    {"squeezenet1_1", 1235496},
    {"vgg16", 138357544},
    // TorchBench's soft_actor_critic: 3-1024-1024-2, twice 4-1024-1024-1, and the temperature
    {"soft_actor_critic",
     (3 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 * 2 + 2) +
         2 * ((4 * 1024 + 1024) + (1024 * 1024 + 1024) + (1024 + 1)) + 1},
    // effdet's tf_efficientdet_d1, 6.6M in the paper: EfficientNet-B1 (6101024 of its parameters
    // are
    // before the head, says torchvision), six features brought to the pyramid's width, four cells
    // of eight nodes, two heads of three layers at five levels
    {"timm_efficientdet",
     6101024 + (resample(40) + 2 * resample(112) + 3 * resample(320)) +
         4 * (8 * (separable(88) + 2 * 88) + (4 * 2 + 3 * 3 + 2)) +
         2 * 3 * (separable(88) + 5 * 2 * 88) + separable(9 * 90) + separable(9 * 4)},
    // osmr/imgclsmob's documentation: MixNet-M
    {"timm_efficientnet", 5014382},
    // timm's dm_nfnet_f0, 71.5M in the paper
    {"timm_nfnet",
     conv_norm(3, 16, 3) + conv_norm(16, 32, 3) + conv_norm(32, 64, 3) + conv_norm(64, 128, 3) +
         norm_free(128, 256, true) + norm_free(256, 512, true) + norm_free(512, 512, false) +
         norm_free(512, 1536, true) + 5 * norm_free(1536, 1536, false) +
         norm_free(1536, 1536, true) + 2 * norm_free(1536, 1536, false) + conv_norm(1536, 3072) +
         linear(3072, 1000)},
    // torchvision's RegNet with timm's settings of regnety_120: w_0 = 168, w_a = 73.36, w_m = 2.37,
    // depth 19, groups of 112, squeezed to a quarter
    {"timm_regnet", 51822544},
    // osmr/imgclsmob's documentation: ResNeSt(A)-BC-14
    {"timm_resnest", 10611688},
    // torchvision's VisionTransformer with timm's settings of vit_small_patch16_224: width 384,
    // feed
    // forward 1536, 12 layers; and of vit_giant_patch14_224: width 1408, feed forward 6144, 40
    // layers
    {"timm_vision_transformer", 22050664},
    {"timm_vision_transformer_large", 1012611432},
    // osmr/imgclsmob's documentation: VoVNet-39
    {"timm_vovnet", 22600296},
    // Speech-Transformer, 320 features, 1014 characters: input and its norm, table, layers
    {"speech_transformer",
     (320 * 512 + 512 + 2 * 512) + 1014 * 512 +
         6 * (4 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512) +
         6 * (8 * (512 * 512 + 512) + (512 * 2048 + 2048) + (2048 * 512 + 512) + 3 * 2 * 512)},
    // Tacotron 2: symbols, encoder and its LSTM; prenet, cells, attention, frame and gate; postnet
    {"tacotron2",
     148 * 512 + 3 * (512 * 512 * 5 + 512 + 2 * 512) + 2 * (1024 * (512 + 256) + 2 * 1024) +
         (80 * 256 + 256 * 256) + 2 * 4096 * 1024 + 2 * 2 * 4096 + 4096 * (256 + 512) +
         4096 * (1024 + 512) + (1024 * 128 + 512 * 128 + 128 + 2 * 32 * 31 + 32 * 128) +
         ((1024 + 512) * 80 + 80) + ((1024 + 512) + 1) + (80 * 512 * 5 + 512 + 2 * 512) +
         3 * (512 * 512 * 5 + 512 + 2 * 512) + (512 * 80 * 5 + 80 + 2 * 80)},
    // TorchBench's tts_angular: LSTM 40 -> 768, two 256 -> 768, each projected to 256
    {"tts_angular",
     (3072 * (40 + 768) + 2 * 3072) + 2 * (3072 * (256 + 768) + 2 * 3072) + 3 * 768 * 256},
    // YOLOv3 has 61949149 by ultralytics/yolov3, which says 62.9987 M for yolov3-spp: a convolution
    // from 2048 to 512 more
    {"yolov3", 61949149 + (2048 * 512 + 2 * 512)},
    // torchvision's documentation
    {"vision_maskrcnn", 44401393},
};

}  // namespace torchwatch::suite
