#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Every model: name, domain, task, full batch (train, eval), smoke batch (train, eval); 0 where
/// there is no such test. Names, tasks and full batches are TorchBench's of December 2022. A new
/// model takes a line here and a source file in runner/suite/models that defines make_<name>.
#define TORCHWATCH_MODELS(MODEL)                                                   \
  MODEL(alexnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 4, 8)                  \
  MODEL(attention_is_all_you_need_pytorch, NLP, TRANSLATION, 256, 32, 8, 16)       \
  MODEL(Background_Matting, COMPUTER_VISION, OTHER_COMPUTER_VISION, 4, 1, 2, 1)    \
  MODEL(BERT_pytorch, NLP, LANGUAGE_MODELING, 16, 16, 4, 8)                        \
  MODEL(DALLE2_pytorch, COMPUTER_VISION, GENERATION, 4, 1, 2, 1)                   \
  MODEL(dcgan, COMPUTER_VISION, GENERATION, 32, 256, 4, 64)                        \
  MODEL(demucs, OTHER, OTHER_TASKS, 64, 8, 4, 2)                                   \
  MODEL(densenet121, COMPUTER_VISION, CLASSIFICATION, 256, 64, 4, 8)               \
  MODEL(detectron2_fasterrcnn_r_101_c4, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)    \
  MODEL(detectron2_fasterrcnn_r_101_dc5, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)   \
  MODEL(detectron2_fasterrcnn_r_101_fpn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)   \
  MODEL(detectron2_fasterrcnn_r_50_c4, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)     \
  MODEL(detectron2_fasterrcnn_r_50_dc5, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)    \
  MODEL(detectron2_fasterrcnn_r_50_fpn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)    \
  MODEL(detectron2_fcos_r_50_fpn, COMPUTER_VISION, SEGMENTATION, 0, 1, 0, 1)       \
  MODEL(detectron2_maskrcnn, COMPUTER_VISION, DETECTION, 1, 1, 1, 1)               \
  MODEL(detectron2_maskrcnn_r_101_c4, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1)   \
  MODEL(detectron2_maskrcnn_r_101_fpn, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1)  \
  MODEL(detectron2_maskrcnn_r_50_c4, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1)    \
  MODEL(detectron2_maskrcnn_r_50_fpn, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1)   \
  MODEL(dlrm, RECOMMENDATION, RECOMMENDATION, 2048, 2048, 64, 128)                 \
  MODEL(doctr_det_predictor, COMPUTER_VISION, DETECTION, 0, 1, 0, 1)               \
  MODEL(doctr_reco_predictor, COMPUTER_VISION, DETECTION, 0, 1, 0, 2)              \
  MODEL(drq, REINFORCEMENT_LEARNING, OTHER_RL, 1, 1, 1, 1)                         \
  MODEL(fambench_xlmr, NLP, LANGUAGE_MODELING, 96, 96, 4, 8)                       \
  MODEL(fastNLP_Bert, NLP, OTHER_NLP, 6, 1, 4, 8)                                  \
  MODEL(functorch_dp_cifar10, OTHER, OTHER_TASKS, 64, 64, 8, 16)                   \
  MODEL(functorch_maml_omniglot, OTHER, OTHER_TASKS, 1, 1, 1, 1)                   \
  MODEL(hf_Albert, NLP, LANGUAGE_MODELING, 8, 1, 4, 8)                             \
  MODEL(hf_Bart, NLP, LANGUAGE_MODELING, 4, 1, 4, 8)                               \
  MODEL(hf_Bert, NLP, LANGUAGE_MODELING, 4, 1, 4, 8)                               \
  MODEL(hf_Bert_large, NLP, LANGUAGE_MODELING, 4, 1, 4, 8)                         \
  MODEL(hf_BigBird, NLP, LANGUAGE_MODELING, 2, 1, 2, 2)                            \
  MODEL(hf_DistilBert, NLP, LANGUAGE_MODELING, 8, 1, 4, 8)                         \
  MODEL(hf_GPT2, NLP, LANGUAGE_MODELING, 4, 1, 4, 8)                               \
  MODEL(hf_GPT2_large, NLP, LANGUAGE_MODELING, 4, 1, 4, 8)                         \
  MODEL(hf_Longformer, NLP, LANGUAGE_MODELING, 2, 1, 2, 2)                         \
  MODEL(hf_Reformer, NLP, LANGUAGE_MODELING, 8, 1, 2, 2)                           \
  MODEL(hf_T5, NLP, LANGUAGE_MODELING, 0, 1, 0, 2)                                 \
  MODEL(hf_T5_base, NLP, LANGUAGE_MODELING, 0, 1, 0, 2)                            \
  MODEL(hf_T5_large, NLP, LANGUAGE_MODELING, 0, 1, 0, 2)                           \
  MODEL(LearningToPaint, REINFORCEMENT_LEARNING, OTHER_RL, 96, 96, 4, 4)           \
  MODEL(lennard_jones, OTHER, OTHER_TASKS, 1000, 1000, 1000, 1000)                 \
  MODEL(maml, OTHER, OTHER_TASKS, 1, 1, 1, 1)                                      \
  MODEL(maml_omniglot, OTHER, OTHER_TASKS, 32, 32, 2, 2)                           \
  MODEL(mnasnet1_0, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)                 \
  MODEL(mobilenet_v2, COMPUTER_VISION, CLASSIFICATION, 96, 16, 4, 8)               \
  MODEL(mobilenet_v2_quantized_qat, COMPUTER_VISION, CLASSIFICATION, 96, 96, 4, 8) \
  MODEL(mobilenet_v3_large, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)         \
  MODEL(moco, OTHER, OTHER_TASKS, 32, 32, 4, 8)                                    \
  MODEL(nvidia_deeprecommender, RECOMMENDATION, RECOMMENDATION, 256, 256, 64, 128) \
  MODEL(opacus_cifar10, OTHER, OTHER_TASKS, 64, 64, 8, 16)                         \
  MODEL(phlippe_densenet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 16, 32)       \
  MODEL(phlippe_resnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 16, 32)         \
  MODEL(pyhpc_equation_of_state, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096)          \
  MODEL(pyhpc_isoneutral_mixing, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096)          \
  MODEL(pyhpc_turbulent_kinetic_energy, OTHER, OTHER_TASKS, 0, 1048576, 0, 4096)   \
  MODEL(pytorch_CycleGAN_and_pix2pix, COMPUTER_VISION, GENERATION, 1, 1, 1, 1)     \
  MODEL(pytorch_stargan, COMPUTER_VISION, GENERATION, 16, 16, 2, 4)                \
  MODEL(pytorch_struct, OTHER, OTHER_TASKS, 200, 0, 80, 0)                         \
  MODEL(pytorch_unet, COMPUTER_VISION, SEGMENTATION, 1, 1, 1, 1)                   \
  MODEL(resnet152, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)                  \
  MODEL(resnet18, COMPUTER_VISION, CLASSIFICATION, 16, 8, 4, 8)                    \
  MODEL(resnet50, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)                   \
  MODEL(resnet50_quantized_qat, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)     \
  MODEL(resnext50_32x4d, COMPUTER_VISION, CLASSIFICATION, 8, 8, 4, 8)              \
  MODEL(shufflenet_v2_x1_0, COMPUTER_VISION, CLASSIFICATION, 128, 64, 4, 8)        \
  MODEL(soft_actor_critic, REINFORCEMENT_LEARNING, OTHER_RL, 256, 256, 64, 256)    \
  MODEL(speech_transformer, SPEECH, RECOGNITION, 32, 1, 4, 1)                      \
  MODEL(squeezenet1_1, COMPUTER_VISION, CLASSIFICATION, 0, 16, 0, 8)               \
  MODEL(Super_SloMo, COMPUTER_VISION, OTHER_COMPUTER_VISION, 6, 6, 2, 2)           \
  MODEL(tacotron2, SPEECH, SYNTHESIS, 64, 64, 4, 4)                                \
  MODEL(timm_efficientdet, COMPUTER_VISION, DETECTION, 16, 128, 2, 2)              \
  MODEL(timm_efficientnet, COMPUTER_VISION, CLASSIFICATION, 32, 64, 4, 8)          \
  MODEL(timm_nfnet, COMPUTER_VISION, CLASSIFICATION, 128, 128, 4, 8)               \
  MODEL(timm_regnet, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)                \
  MODEL(timm_resnest, COMPUTER_VISION, CLASSIFICATION, 32, 32, 4, 8)               \
  MODEL(timm_vision_transformer, COMPUTER_VISION, GENERATION, 8, 8, 4, 8)          \
  MODEL(timm_vision_transformer_large, COMPUTER_VISION, GENERATION, 8, 8, 4, 8)    \
  MODEL(timm_vovnet, COMPUTER_VISION, DETECTION, 32, 32, 4, 8)                     \
  MODEL(tts_angular, SPEECH, SYNTHESIS, 64, 64, 8, 16)                             \
  MODEL(vgg16, COMPUTER_VISION, CLASSIFICATION, 64, 4, 4, 4)                       \
  MODEL(vision_maskrcnn, COMPUTER_VISION, DETECTION, 4, 4, 1, 1)                   \
  MODEL(yolov3, COMPUTER_VISION, SEGMENTATION, 16, 8, 2, 2)

/// The suite without LibTorch, for those who only want to know what there is.
namespace torchwatch::suite {

/// Samples in one iteration; 0 when there is no such test.
struct Batch {
  std::int64_t train = 0;
  std::int64_t eval = 0;
};

/// What is known of a model without building it.
struct Entry {
  std::string_view name;
  std::string_view domain;
  std::string_view task;
  Batch full;
  Batch smoke;
};

/// All models, by name.
std::vector<Entry> const& catalogue();

/// Null when there is no such model.
Entry const* find_entry(std::string_view name);

}  // namespace torchwatch::suite
