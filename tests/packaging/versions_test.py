#!/usr/bin/env python3
"""Checks that program, packages, API description and changelog have one version.

usage: versions_test.py TORCHWATCH
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def first_match(pattern, file):
    return re.search(pattern, (ROOT / file).read_text(encoding='utf-8'), re.MULTILINE).group(1)


class Versions(unittest.TestCase):
    program = ''
    project = first_match(r'^project\(torchwatch VERSION (\S+)', 'CMakeLists.txt')

    def test_program_has_version_of_project(self):
        done = subprocess.run([self.program, '--version'], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), self.project)

    def test_packages_have_version_of_project(self):
        self.assertEqual(first_match(r'^set\(CPACK_PACKAGE_VERSION (\S+)\)', 'deploy/debian/package.cmake'), '${PROJECT_VERSION}')

    def test_api_description_has_version_of_project(self):
        description = json.loads((ROOT / 'daemon/api/openapi.json').read_text(encoding='utf-8'))
        self.assertEqual(description['info']['version'], self.project)

    def test_changelog_begins_with_version_of_project(self):
        self.assertEqual(first_match(r'^## ([0-9.]+)', 'CHANGELOG.md'), self.project)


if __name__ == '__main__':
    Versions.program = sys.argv.pop(1)
    unittest.main()
