#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Every model: name, domain, task, full batch (train, eval), smoke batch (train, eval), and number
/// of parameters. A batch is 0 when the model does not have that test. Names, tasks and full
/// batches are those of TorchBench in December 2022. A new model needs a line here and a source
/// file in runner/suite/models that defines make_<name>.
#define TORCHWATCH_MODELS(MODEL)                                                              \
  MODEL(alexnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 4, 8, 61100840)                   \
  MODEL(attention_is_all_you_need_pytorch, NLP, TRANSLATION, 256, 32, 8, 16, 58727936)        \
  MODEL(Background_Matting, COMPUTER_VISION, OTHER_COMPUTER_VISION, 4, 1, 2, 1, 38581577)     \
  MODEL(BERT_pytorch, NLP, LANGUAGE_MODELING, 16, 16, 4, 8, 115805991)                        \
  MODEL(DALLE2_pytorch, COMPUTER_VISION, GENERATION, 4, 1, 2, 1, 379886339)                   \
  MODEL(dcgan, COMPUTER_VISION, GENERATION, 32, 256, 4, 64, 6342272)                          \
  MODEL(demucs, OTHER, OTHER_TASKS, 64, 8, 4, 2, 265679496)                                   \
  MODEL(densenet121, COMPUTER_VISION, CLASSIFICATION, 256, 64, 4, 8, 7978856)                 \
  MODEL(detectron2_fasterrcnn_r_101_c4, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 52731548)     \
  MODEL(detectron2_fasterrcnn_r_101_dc5, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 184521372)   \
  MODEL(detectron2_fasterrcnn_r_101_fpn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 60639840)    \
  MODEL(detectron2_fasterrcnn_r_50_c4, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 33791644)      \
  MODEL(detectron2_fasterrcnn_r_50_dc5, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 165581468)    \
  MODEL(detectron2_fasterrcnn_r_50_fpn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 41699936)     \
  MODEL(detectron2_fcos_r_50_fpn, COMPUTER_VISION, SEGMENTATION, 0, 1, 0, 1, 32244245)        \
  MODEL(detectron2_maskrcnn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1, 44343216)                \
  MODEL(detectron2_maskrcnn_r_101_c4, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1, 54849516)    \
  MODEL(detectron2_maskrcnn_r_101_fpn, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1, 63283120)   \
  MODEL(detectron2_maskrcnn_r_50_c4, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1, 35909612)     \
  MODEL(detectron2_maskrcnn_r_50_fpn, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1, 44343216)    \
  MODEL(dlrm, RECOMMENDATION, RECOMMENDATION, 2048, 2048, 64, 128, 514499137)                 \
  MODEL(doctr_det_predictor, COMPUTER_VISION, DETECTION, 0, 1, 0, 1, 25412162)                \
  MODEL(doctr_reco_predictor, COMPUTER_VISION, DETECTION, 0, 1, 0, 2, 15807676)               \
  MODEL(drq, REINFORCEMENT_LEARNING, OTHER_RL, 1, 1, 1, 1, 7267473)                           \
  MODEL(fambench_xlmr, NLP, LANGUAGE_MODELING, 96, 96, 4, 8, 560141458)                       \
  MODEL(fastNLP_Bert, NLP, OTHER_NLP, 6, 1, 4, 8, 102269186)                                  \
  MODEL(functorch_dp_cifar10, OTHER, OTHER_TASKS, 64, 64, 8, 16, 11689512)                    \
  MODEL(functorch_maml_omniglot, OTHER, OTHER_TASKS, 1, 1, 1, 1, 75205)                       \
  MODEL(hf_Albert, NLP, LANGUAGE_MODELING, 8, 1, 4, 8, 11221680)                              \
  MODEL(hf_Bart, NLP, LANGUAGE_MODELING, 4, 1, 4, 8, 139420416)                               \
  MODEL(hf_Bert, NLP, LANGUAGE_MODELING, 4, 1, 4, 8, 109514298)                               \
  MODEL(hf_Bert_large, NLP, LANGUAGE_MODELING, 4, 1, 4, 8, 284818234)                         \
  MODEL(hf_BigBird, NLP, LANGUAGE_MODELING, 2, 1, 2, 2, 128111286)                            \
  MODEL(hf_DistilBert, NLP, LANGUAGE_MODELING, 8, 1, 4, 8, 66985530)                          \
  MODEL(hf_GPT2, NLP, LANGUAGE_MODELING, 4, 1, 4, 8, 124439808)                               \
  MODEL(hf_GPT2_large, NLP, LANGUAGE_MODELING, 4, 1, 4, 8, 774030080)                         \
  MODEL(hf_Longformer, NLP, LANGUAGE_MODELING, 2, 1, 2, 2, 148711257)                         \
  MODEL(hf_Reformer, NLP, LANGUAGE_MODELING, 8, 1, 2, 2, 5975872)                             \
  MODEL(hf_T5, NLP, LANGUAGE_MODELING, 0, 1, 0, 2, 60506624)                                  \
  MODEL(hf_T5_base, NLP, LANGUAGE_MODELING, 0, 1, 0, 2, 222903552)                            \
  MODEL(hf_T5_large, NLP, LANGUAGE_MODELING, 0, 1, 0, 2, 737668096)                           \
  MODEL(LearningToPaint, REINFORCEMENT_LEARNING, OTHER_RL, 96, 96, 4, 4, 33704325)            \
  MODEL(lennard_jones, OTHER, OTHER_TASKS, 1000, 1000, 1000, 1000, 865)                       \
  MODEL(maml, OTHER, OTHER_TASKS, 1, 1, 1, 1, 91781)                                          \
  MODEL(maml_omniglot, OTHER, OTHER_TASKS, 32, 32, 2, 2, 75205)                               \
  MODEL(mnasnet1_0, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 4383312)                   \
  MODEL(mobilenet_v2, COMPUTER_VISION, CLASSIFICATION, 96, 16, 4, 8, 3504872)                 \
  MODEL(mobilenet_v2_quantized_qat, COMPUTER_VISION, CLASSIFICATION, 96, 96, 4, 8, 3504872)   \
  MODEL(mobilenet_v3_large, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 5483032)           \
  MODEL(moco, OTHER, OTHER_TASKS, 32, 32, 4, 8, 47540608)                                     \
  MODEL(nvidia_deeprecommender, RECOMMENDATION, RECOMMENDATION, 256, 256, 64, 128, 204475711) \
  MODEL(opacus_cifar10, OTHER, OTHER_TASKS, 64, 64, 8, 16, 11181642)                          \
  MODEL(phlippe_densenet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 16, 32, 239146)          \
  MODEL(phlippe_resnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 16, 32, 272378)            \
  MODEL(pyhpc_equation_of_state, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096, 0)                  \
  MODEL(pyhpc_isoneutral_mixing, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096, 0)                  \
  MODEL(pyhpc_turbulent_kinetic_energy, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096, 0)           \
  MODEL(pytorch_CycleGAN_and_pix2pix, COMPUTER_VISION, GENERATION, 1, 1, 1, 1, 28285832)      \
  MODEL(pytorch_stargan, COMPUTER_VISION, GENERATION, 16, 16, 2, 4, 53192576)                 \
  MODEL(pytorch_struct, OTHER, OTHER_TASKS, 200, 0, 80, 0, 2882816)                           \
  MODEL(pytorch_unet, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1, 17267458)                    \
  MODEL(resnet152, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 60192808)                   \
  MODEL(resnet18, COMPUTER_VISION, CLASSIFICATION, 16, 8, 4, 8, 11689512)                     \
  MODEL(resnet50, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 25557032)                    \
  MODEL(resnet50_quantized_qat, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 25557032)      \
  MODEL(resnext50_32x4d, COMPUTER_VISION, CLASSIFICATION, 8, 8, 4, 8, 25028904)               \
  MODEL(shufflenet_v2_x1_0, COMPUTER_VISION, CLASSIFICATION, 128, 64, 4, 8, 2278604)          \
  MODEL(soft_actor_critic, REINFORCEMENT_LEARNING, OTHER_RL, 256, 256, 64, 256, 3167237)      \
  MODEL(speech_transformer, SPEECH, RECOGNITION, 32, 1, 4, 1, 44823040)                       \
  MODEL(squeezenet1_1, COMPUTER_VISION, CLASSIFICATION, 0, 16, 0, 8, 1235496)                 \
  MODEL(Super_SloMo, COMPUTER_VISION, OTHER_COMPUTER_VISION, 6, 6, 2, 2, 47245737)            \
  MODEL(tacotron2, SPEECH, SYNTHESIS, 64, 64, 4, 4, 28193153)                                 \
  MODEL(timm_efficientdet, COMPUTER_VISION, DETECTION, 16, 128, 2, 2, 6625898)                \
  MODEL(timm_efficientnet, COMPUTER_VISION, CLASSIFICATION, 32, 64, 4, 8, 5014382)            \
  MODEL(timm_nfnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 4, 8, 71489284)                \
  MODEL(timm_regnet, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 51822544)                 \
  MODEL(timm_resnest, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8, 10611688)                \
  MODEL(timm_vision_transformer, COMPUTER_VISION, GENERATION, 8, 8, 4, 8, 22050664)           \
  MODEL(timm_vision_transformer_large, COMPUTER_VISION, GENERATION, 8, 8, 4, 8, 1012611432)   \
  MODEL(timm_vovnet, COMPUTER_VISION, DETECTION, 32, 32, 4, 8, 22600296)                      \
  MODEL(tts_angular, SPEECH, SYNTHESIS, 64, 64, 8, 16, 9381888)                               \
  MODEL(vgg16, COMPUTER_VISION, CLASSIFICATION, 64, 4, 4, 4, 138357544)                       \
  MODEL(vision_maskrcnn, COMPUTER_VISION, DETECTION, 4, 4, 1, 1, 44401393)                    \
  MODEL(yolov3, COMPUTER_VISION, SEGMENTATION, 16, 8, 2, 2, 62998749)

/// The list of models, for code that does not link LibTorch.
namespace torchwatch::suite {

/// Samples per iteration; 0 when the model does not have that test.
struct Batch {
  std::int64_t train = 0;
  std::int64_t eval = 0;
};

/// The facts about a model that are known without building it.
struct Entry {
  std::string_view name;
  std::string_view domain;
  std::string_view task;
  Batch full;
  Batch smoke;
  std::int64_t parameters = 0;  ///< trained numbers, at full scale
};

/// Returns all models, in the order of their names.
std::vector<Entry> const& catalogue();

/// Returns the entry of a model; null when it does not exist.
Entry const* find_entry(std::string_view name);

}  // namespace torchwatch::suite
