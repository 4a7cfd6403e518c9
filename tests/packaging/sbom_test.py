#!/usr/bin/env python3
"""Checks deploy/debian/sbom with a small package."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SBOM = pathlib.Path(__file__).resolve().parents[2] / 'deploy/debian/sbom'
CONTROL = '''Package: torchwatch
Version: 1.2.3-1
Architecture: all
Maintainer: tester <tester@localhost>
Depends: libc6 (>= 2.36), not-installed-anywhere | dpkg, missing-everywhere
Description: a test
'''


class BillOfMaterials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'tree/DEBIAN').mkdir(parents=True)
            (pathlib.Path(folder) / 'tree/DEBIAN/control').write_text(CONTROL, encoding='utf-8')
            package = pathlib.Path(folder) / 'torchwatch_1.2.3-1_all.deb'
            subprocess.run(['dpkg-deb', '--root-owner-group', '-b', f'{folder}/tree', package],
                           check=True, stdout=subprocess.DEVNULL)
            environment = {**os.environ, 'SOURCE_DATE_EPOCH': '86400'}
            run = [subprocess.run([SBOM, package], check=True, capture_output=True, text=True, env=environment).stdout
                   for _ in range(2)]
        cls.first, cls.second = run
        cls.bill = json.loads(cls.first)
        cls.packages = {package['name']: package for package in cls.bill['packages']}

    def related(self, kind):
        return {(one['spdxElementId'], one['relatedSpdxElement']) for one in self.bill['relationships']
                if one['relationshipType'] == kind}

    def test_has_what_spdx_requires(self):
        self.assertEqual(self.bill['spdxVersion'], 'SPDX-2.3')
        self.assertEqual(self.bill['dataLicense'], 'CC0-1.0')
        self.assertEqual(self.bill['creationInfo']['created'], '1970-01-02T00:00:00Z')
        self.assertEqual(self.related('DESCRIBES'), {('SPDXRef-DOCUMENT', 'SPDXRef-package-torchwatch')})
        ids = [package['SPDXID'] for package in self.bill['packages']]
        self.assertEqual(len(ids), len(set(ids)))
        for one in self.bill['relationships']:
            self.assertLessEqual({one['spdxElementId'], one['relatedSpdxElement']}, {*ids, 'SPDXRef-DOCUMENT'})

    def test_names_version_and_digest_of_package(self):
        own = self.packages['torchwatch']
        self.assertEqual(own['versionInfo'], '1.2.3-1')
        self.assertEqual(own['checksums'][0]['algorithm'], 'SHA256')
        self.assertRegex(own['checksums'][0]['checksumValue'], '^[0-9a-f]{64}$')

    def test_dependencies_have_installed_versions(self):
        version = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', 'dpkg'], check=True, capture_output=True, text=True)
        self.assertEqual(self.packages['dpkg']['versionInfo'], version.stdout, 'the alternative that is installed')
        self.assertIn(('SPDXRef-package-torchwatch', 'SPDXRef-libc6'), self.related('DEPENDS_ON'))
        self.assertNotIn('not-installed-anywhere', self.packages)

    def test_names_missing_dependencies(self):
        self.assertIn('missing-everywhere', self.packages['torchwatch']['comment'])

    def test_lists_packages_of_the_build(self):
        built_with = {first for first, _ in self.related('BUILD_DEPENDENCY_OF')}
        self.assertIn('SPDXRef-nlohmann-json3-dev', built_with)

    def test_two_lists_are_equal(self):
        self.assertEqual(self.first, self.second)


if __name__ == '__main__':
    unittest.main()
