#!/usr/bin/env python3
"""Writes weights, inputs and outputs of torchvision models into DIRECTORY/MODEL, for comparison: a dictionary of tensors,
written by torch.save: the weights by name, "input", and the outputs as "output.0", "output.1" and so on.

Of a quantized model the weights are those before quantization, the output is computed in integers, and "seen" is the
input from which the ranges were learned.

usage: torchvision_states.py DIRECTORY MODEL...    exit status 77 when torchvision is not installed
"""
import os
import sys

try:
    import torch
    import torchvision
    from torch.ao.quantization import get_default_qat_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_qat_fx
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(77)


def shake(model):
    """Gives normalisations statistics other than one and zero."""
    for name, tensor in model.state_dict().items():
        if 'running_var' in name:
            tensor.uniform_(0.5, 1.5)
        elif 'running_mean' in name:
            tensor.uniform_(-0.1, 0.1)


def spread(layer, deviation):
    """Draws the layer's weights when it gets its next input, so that its outputs differ from row to row."""
    def draw(module, inputs):
        features = inputs[0]
        weight = torch.randn_like(module.weight) * deviation / features.size(1) ** 0.5
        module.weight.copy_(weight / (features.std(0) + 1e-6))
        module.bias.copy_(-module.weight @ features.mean(0))
        handle.remove()

    handle = layer.register_forward_pre_hook(draw)


def classifier(name):
    model = torchvision.models.get_model(name, weights=None).eval()
    shake(model)
    states = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    images = torch.randn(1, 3, 224, 224)
    return states, {'input': images}, [model(images)]


def quantized(name):
    """Quantizes the floating-point model by FX, as TorchBench does."""
    model = torchvision.models.get_model(name, weights=None)
    shake(model)
    states = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    seen = torch.randn(2, 3, 224, 224)
    images = torch.randn(1, 3, 224, 224)
    prepared = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping('fbgemm'), (seen,)).eval()
    prepared(seen)
    return states, {'seen': seen, 'input': images}, [convert_fx(prepared)(images)]


def mask_rcnn():
    """Makes a detector like one with trained weights: frozen normalisation, different regions."""
    detection = torchvision.models.detection
    backbone = detection.backbone_utils.resnet_fpn_backbone(
        backbone_name='resnet50', weights=None, norm_layer=torchvision.ops.misc.FrozenBatchNorm2d, trainable_layers=3)
    model = detection.MaskRCNN(backbone, num_classes=91).eval()
    shake(model)
    for name, tensor in model.state_dict().items():
        if name.endswith('bn3.weight'):
            tensor.uniform_(0.1, 0.5)
    picture = torch.rand(3, 480, 640)
    spread(model.roi_heads.box_predictor.cls_score, 1.5)
    spread(model.roi_heads.box_predictor.bbox_pred, 0.5)
    found = model([picture])[0]
    return model.state_dict(), {'input': picture[None]}, [found[key] for key in ('boxes', 'labels', 'scores', 'masks')]


def make(name):
    """Returns weights, inputs and outputs of a model of the suite."""
    if name == 'vision_maskrcnn':
        return mask_rcnn()
    if name.endswith('_quantized_qat'):
        return quantized(name.removesuffix('_quantized_qat'))
    return classifier(name)


def write(name, file):
    torch.manual_seed(1)
    with torch.no_grad():
        states, inputs, outputs = make(name)
    outputs = {f'output.{i}': tensor for i, tensor in enumerate(outputs)}
    torch.save({**states, **inputs, **outputs}, file)


def main(directory, names):
    torch.set_num_threads(1)
    for name in names:
        write(name, os.path.join(directory, name))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
