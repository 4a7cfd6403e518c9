#!/usr/bin/env python3
"""Finds statements with co_await that g++ 12 compiles wrongly: it destroys a temporary twice.

That happens to a temporary with braces or a capturing lambda, and to a co_await in a branch of a conditional expression.
Give the value a name in its own statement, then std::move it.
usage: check_co_await.py FILE...      exit status 1 when a statement is found
"""
import re
import sys

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
LAMBDA = re.compile(r'[(,=]\s*\[[^\]]+\]\s*[({m]')     # "[x] {", "[&] (", but not a[i]
BRACE = re.compile(r'(?:[(,]\s*|\b[A-Z]\w*\s*)\{\s*[^}\s]')  # "Foo{x", "({.a", not "Foo{}"
CONDITIONAL = re.compile(r'\?[^;]*\bco_await\b')


def statements(text):
    """Yields (line number, statement) for each statement that awaits."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group())
    text = STRING.sub(lambda m: '"' + ' ' * (len(m.group()) - 2) + '"', COMMENT.sub(blank, text))
    for m in re.finditer(r'\bco_await\b', text):
        begin = max(text.rfind(c, 0, m.start()) for c in ';{}') + 1
        depth, end = 0, m.start()
        while end < len(text) and not (text[end] == ';' and depth <= 0):
            depth += {'{': 1, '(': 1, '}': -1, ')': -1}.get(text[end], 0)
            end += 1
        yield text.count('\n', 0, m.start()) + 1, text[begin:end]


def main(paths):
    found = 0
    for path in paths:
        for line, statement in statements(open(path, encoding='utf-8').read()):
            if any(hazard.search(statement) for hazard in (LAMBDA, BRACE, CONDITIONAL)):
                print(f'{path}:{line}: hazard in a co_await statement: {" ".join(statement.split())[:90]}')
                found += 1
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
