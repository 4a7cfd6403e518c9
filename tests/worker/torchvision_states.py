#!/usr/bin/env python3
"""Writes what one of torchvision's models is and does, for comparison, into FILE: a dictionary of tensors as
torch.save writes it: the weights by name and, of classifiers, "input" and "output".

usage: torchvision_states.py MODEL FILE    exit status 77 when torchvision is not installed
"""
import sys

try:
    import torch
    import torchvision
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(77)


def shake(model):
    """Makes statistics and affine transforms of normalisations others than one and zero."""
    for name, tensor in model.state_dict().items():
        if 'running_var' in name:
            tensor.uniform_(0.5, 1.5)
        elif 'running_mean' in name:
            tensor.uniform_(-0.1, 0.1)


def make(name):
    """The model of that name in the suite, and whether its output is to be compared."""
    if name == 'vision_maskrcnn':
        # As it is when its weights are the trained ones: normalisation is frozen
        detection = torchvision.models.detection
        backbone = detection.backbone_utils.resnet_fpn_backbone(
            backbone_name='resnet50', weights=None, norm_layer=torchvision.ops.misc.FrozenBatchNorm2d, trainable_layers=3)
        return detection.MaskRCNN(backbone, num_classes=91), False
    if name.endswith('_quantized_qat'):
        base = name.removesuffix('_qat').removesuffix('_quantized')
        return torchvision.models.get_model('quantized_' + base, weights=None, quantize=False), False
    return torchvision.models.get_model(name, weights=None), True


def main(name, file):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model, compares = make(name)
    model.eval()
    shake(model)
    tensors = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    if compares:
        with torch.no_grad():
            tensors['input'] = torch.randn(1, 3, 224, 224)
            tensors['output'] = model(tensors['input'])
    torch.save(tensors, file)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2]))
