#pragma once

/// Exceptions from the tests of every model, with reasons.

#include <string_view>
#include <vector>

namespace torchwatch::suite {

/// Parameters of a model that may stay untrained.
struct Untrained {
  std::string_view model;
  std::string_view parameter;  ///< regular expression for the whole name
  std::string_view reason;
};

/// Parameters without a gradient, or only with zeros.
inline std::vector<Untrained> const untrained_parameters = {
    {"Background_Matting",
     "generator\\.model_enc_multi\\..*",
     "the reference drops what this encoder finds and combines the background's features twice"},
    {"DALLE2_pytorch",
     "prior\\.null_(text|image)|decoder\\.coarse\\.null_image.*",
     "stand in for conditions that are dropped at random, perhaps none of a batch's"},
    {"DALLE2_pytorch",
     "decoder\\.coarse\\.text_condition\\..*",
     "all of a batch's texts may be dropped at random"},
    {"DALLE2_pytorch",
     "decoder\\.fine\\.null_.*",
     "the reference has them in this network too, which has no such conditions"},
    {"LearningToPaint", "discriminator\\.conv4\\.bias", "cancels out of the loss"},
    {"fambench_xlmr", "head\\..*", "only features are asked for"},
    {"fastNLP_Bert", "pooler\\..*", "computed, but no part of the loss"},
    {"fastNLP_Bert", "spans\\.bias", "softmax over places takes no notice of it"},
    {"hf_BigBird", "pooler\\..*", "no loss asks for the pooled first word"},
    {"hf_Longformer",
     "layer.*\\.global_.*",
     "no word has global attention when masked ones are guessed"},
};

/// A model that is random in evaluation.
struct Drawing {
  std::string_view model;
  std::string_view reason;
};

/// Models that draw random numbers in evaluation, too, so that outputs differ.
inline std::vector<Drawing> const drawing_models = {
    {"DALLE2_pytorch", "images begin as noise"},
    {"hf_Reformer", "hashes words by random directions"},
    {"moco", "each batch's keys take the places of others in the queue"},
    {"tacotron2", "dropout before the decoder stays on, so that speech varies"},
};

}  // namespace torchwatch::suite
