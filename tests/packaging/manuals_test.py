#!/usr/bin/env python3
"""Checks that each command has a manual page.

usage: manuals_test.py TORCHWATCH FOLDER     FOLDER: with the pages
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'docs'))
import pages  # noqa: E402


class Manuals(unittest.TestCase):
    program = folder = ''

    def test_each_command_has_a_page(self):
        commands = {name for name in pages.commands_of(self.program) if ' ' not in name}
        for command in commands:
            page = pathlib.Path(self.folder, '-'.join(['torchwatch', *command.split()]) + '.1')
            self.assertTrue(page.is_file(), f'{page}: add the command to the list in daemon/CMakeLists.txt')
            self.assertIn('.SH DESCRIPTION', page.read_text(encoding='utf-8'))


if __name__ == '__main__':
    Manuals.program, Manuals.folder = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
