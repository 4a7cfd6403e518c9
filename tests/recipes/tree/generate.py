import sys

import typing_extensions  # PyTorch's generator needs it
import yaml

with open(sys.argv[1], encoding='utf-8') as operators, open(sys.argv[2], 'w', encoding='utf-8') as code:
    print(f'int operators() {{ return {len(yaml.safe_load(operators))}; }}', file=code)
