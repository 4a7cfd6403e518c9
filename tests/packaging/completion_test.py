#!/usr/bin/env python3
"""Checks that bash completes the commands and options that --help lists.

usage: completion_test.py TORCHWATCH
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/docs'))
import pages  # noqa: E402

SCRIPT = r'''
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_torchwatch
printf '%s\n' "${COMPREPLY[@]}"
'''


class Completion(unittest.TestCase):
    program = ''

    def completed(self, *words):
        done = subprocess.run(['bash', '-c', SCRIPT, 'bash', ROOT / 'deploy/completion/torchwatch', self.program, *words],
                              check=True, capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        return done.stdout.split()

    def test_all_commands_and_options_of_help_are_completed(self):
        commands = pages.commands_of(self.program)
        self.assertIn('config check', commands)
        for command, text in commands.items():
            words = command.split()
            below = {other.split()[-1] for other in commands if other and other.split()[:-1] == words}
            self.assertEqual(set(self.completed(*words, '')), below, command)
            # Ends at the example, whose commands also have options.
            options = set(re.findall(r'^  (?:-\w,)?(--[a-z0-9-]+)', text.split('\nExample:')[0], re.MULTILINE))
            self.assertEqual(set(self.completed(*words, '--')), options, command)

    def test_beginning_selects(self):
        self.assertEqual(self.completed('conf'), ['config'])
        self.assertEqual(self.completed('config', 'check', '--off'), ['--offline'])

    def test_options_before_a_command_are_skipped(self):
        self.assertEqual(self.completed('--config', 'a.json', 'conf'), ['config'])

    def test_other_words_are_files(self):
        self.assertEqual(self.completed('--config', ''), [], 'bash completes names of files then')


if __name__ == '__main__':
    Completion.program = sys.argv.pop(1)
    unittest.main()
