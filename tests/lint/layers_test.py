"""deploy/check_layers.py and deploy/structure on miniature trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / 'deploy'

GOOD = {
    'storage/domain/build.h': '',
    'storage/store.h': '#include "storage/domain/build.h"',
    'bisect/compare/compare.h': '#include "storage/domain/build.h"',
    'daemon/async/run.h': '#include <boost/asio.hpp>',
    'daemon/http/client.h': '#include <boost/beast.hpp>\n#include "daemon/async/run.h"',
    'daemon/report/sender.h': '#include "daemon/http/client.h"\n#include "storage/store.h"',
    'daemon/cli/commands.h': '#include <CLI/CLI.hpp>\n#include "daemon/report/sender.h"',
    'daemon/main.cpp': '#include "daemon/cli/commands.h"',
}


class Tree(unittest.TestCase):
    def run_on(self, program, extra=None):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **(extra or {})}.items():
                file = pathlib.Path(root, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding='utf-8')
            return self.run_with(program, root)

    def run_with(self, program, *arguments):
        return subprocess.run([sys.executable, '-B', DEPLOY / program, *arguments],
                              capture_output=True, text=True, check=False)


class Layers(Tree):
    def test_passes_a_good_tree(self):
        done = self.run_on('check_layers.py')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_fails_on_an_include_upward(self):
        done = self.run_on('check_layers.py', {'daemon/http/server.h': '#include "daemon/report/sender.h"'})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, 'daemon/http/server.h: daemon/http may not include daemon/report/sender.h\n')

    def test_fails_on_an_include_between_rooms_of_another_part(self):
        done = self.run_on('check_layers.py', {'bisect/git/history.cpp': '#include "bisect/compare/compare.h"'})
        self.assertEqual((done.returncode, done.stdout),
                         (1, 'bisect/git/history.cpp: bisect/git may not include bisect/compare/compare.h\n'))

    def test_fails_on_an_include_across_parts(self):
        done = self.run_on('check_layers.py', {'bisect/search/priors.cpp': '#include "storage/store.h"'})
        self.assertEqual((done.returncode, done.stdout), (1, 'bisect/search/priors.cpp: bisect may not include storage/store.h\n'))

    def test_fails_on_a_library_in_the_wrong_place(self):
        done = self.run_on('check_layers.py', {'bisect/search/priors.cpp': '#include <sqlite3.h>'})
        self.assertEqual((done.returncode, done.stdout), (1, 'bisect/search/priors.cpp: <sqlite3.h> belongs in storage/\n'))

    def test_fails_on_a_second_http_client(self):
        for name in ('daemon/http/client.cpp', 'fetch/download.cpp', 'github/client.cpp'):
            done = self.run_on('check_layers.py', {name: '#include <curl/curl.h>'})
            self.assertEqual((done.returncode, done.stdout), (1, f'{name}: <curl/curl.h> belongs in http/\n'))

    def test_fails_on_an_include_upward_from_the_http_client(self):
        done = self.run_on('check_layers.py', {'http/client.h': '#include "fetch/download.h"'})
        self.assertEqual((done.returncode, done.stdout), (1, 'http/client.h: http may not include fetch/download.h\n'))

    def test_names_folders_that_are_not_in_the_table(self):
        for name in ('daemon/misc/odds.h', 'daemon/odds.h'):
            done = self.run_on('check_layers.py', {name: ''})
            self.assertEqual(done.returncode, 1)
            self.assertIn(f'{name}: daemon/{name.split("/")[1]} is not in the table', done.stdout)

    def test_tells_its_usage_without_a_tree(self):
        done = self.run_with('check_layers.py')
        self.assertEqual(done.returncode, 2)
        self.assertIn('usage: check_layers.py ROOT', done.stderr)


class Structure(Tree):
    def test_shows_levels_and_arrows(self):
        done = self.run_on('structure')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('  level 4  main.cpp\n       1 -> cli\n  level 3  cli\n       1 -> report\n', done.stdout)

    def test_marks_an_arrow_upward(self):
        done = self.run_on('structure', {'daemon/api/page.h': '#include "daemon/cli/commands.h"'})
        self.assertEqual(done.returncode, 1)
        self.assertIn('1 -> cli  UPWARD\n', done.stdout)

    def test_marks_a_circle(self):
        done = self.run_on('structure', {'daemon/http/server.h': '#include "daemon/report/sender.h"'})
        self.assertEqual(done.returncode, 1)
        self.assertIn('1 -> report  UPWARD CIRCLE\n', done.stdout)
        self.assertIn('1 -> http  CIRCLE\n', done.stdout)


if __name__ == '__main__':
    unittest.main()
