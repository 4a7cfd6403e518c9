"""deploy/check_words on texts with planted faults."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK_WORDS = pathlib.Path(__file__).resolve().parents[2] / 'deploy' / 'check_words'
THIRTY = '\n'.join(['one two three four five six seven eight nine ten'] * 3)
ROW = THIRTY.replace('\n', ' ')


def run(arguments, folder):
    return subprocess.run([sys.executable, '-B', CHECK_WORDS, *arguments], cwd=folder, capture_output=True, text=True, check=False)


class Words(unittest.TestCase):
    def run_on(self, texts, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                file = pathlib.Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding='utf-8')
            return run(arguments, folder)

    def assert_finds(self, texts, *lines):
        done = self.run_on(texts)
        self.assertEqual((done.returncode, done.stderr), (1 if lines else 0, ''))
        found = done.stdout.splitlines()
        self.assertEqual(len(found), len(lines), done.stdout)
        for line, beginning in zip(found, lines):
            self.assertTrue(line.startswith(beginning), line)

    def test_passes_plain_texts(self):
        self.assert_finds({'a.md': '# Title\n\nThe runner starts workers.\n', 'a.h': '/// Returns the length, in ms.\n'})

    def test_passes_names_of_options(self):
        self.assert_finds({'a.cpp': 'add("--beside-others");\n'})

    def test_names_file_line_word_and_replacement(self):
        done = self.run_on({'docs/a.md': 'Fine.\n\nThe page is beside\nthe other.\n'})
        self.assertEqual(done.stdout, 'docs/a.md:3: "beside": next to, compared with or in addition to\n')

    def test_finds_words_in_sources_in_capitals_and_across_lines(self):
        self.assert_finds({'a.cpp': 'print("Nobody asked");\n', 'b.md': 'It is asked\nagain.\n'},
                          'a.cpp:1: "Nobody"', 'b.md:1: "asked again"')

    def test_leaves_names_that_contain_a_word(self):
        self.assert_finds({'a.cpp': 'is_told(teller);\n'})

    def test_leaves_code_and_addresses_in_markdown(self):
        self.assert_finds({'a.md': 'See `tell` and [it](tell.md), https://tell.example/.\n\n```\ntell\n```\n\n    tell\n\nEnd.\n'})

    def test_finds_words_after_code_blocks(self):
        self.assert_finds({'a.md': 'See:\n\n    tell\n\n```\ntell\n```\n\nIt is told.\n'}, 'a.md:9: "told"')

    def test_finds_long_sentences_in_paragraphs_items_and_cells(self):
        self.assert_finds({'a.md': f'Short.\n{THIRTY} more.\n\n- {THIRTY} more\n- short\n\n| a | {ROW} more |\n'},
                          'a.md:2: 31 words', 'a.md:6: 31 words', 'a.md:11: 31 words')

    def test_leaves_sentences_of_thirty_words_and_code_as_one_word(self):
        self.assert_finds({'a.md': f'{THIRTY}. {THIRTY}.\n\n' + 'one `two three\nfour` ' * 15 + '\n'})

    def test_counts_each_cell_and_item_by_itself(self):
        self.assert_finds({'a.md': f'| {ROW} | {ROW} |\n\n* {THIRTY}\n* {THIRTY}\n'})

    def test_finds_lines_over_120_characters_except_rows_of_tables(self):
        self.assert_finds({'a.md': 'x' * 120 + '\n' + 'x' * 121 + '\n\n| ' + 'x' * 121 + ' |\n'}, 'a.md:2: 121 characters')

    def test_finds_openings_of_comments_in_headers_and_sources(self):
        for name in ('a.h', 'a.cpp'):
            self.assert_finds({name: '/// What it is.\nint a;\n  /// whether it is set\nint b;  ///< by name\n'},
                              f'{name}:1: "What" begins a comment', f'{name}:3: "whether"', f'{name}:4: "by"')

    def test_leaves_openings_of_later_lines_and_of_plain_comments(self):
        self.assert_finds({name: '/// The time\n/// of a run.\nint a;  ///< the name\n        ///< of it\n// What it is.\n'
                           for name in ('a.h', 'a.cpp')})

    def test_skips_test_data_and_build_folders(self):
        self.assert_finds({'tests/data/a.md': 'tell', 'build/a.md': 'tell', '.git/a.md': 'tell'})

    def test_looks_only_at_the_paths_it_is_given(self):
        done = self.run_on({'a.md': 'tell\n', 'b/c.md': 'tell\n', 'd.md': 'tell\n'}, 'b', 'd.md')
        self.assertEqual([line.split(':')[0] for line in done.stdout.splitlines()], ['b/c.md', 'd.md'])

    def test_counts_by_kind_and_passes(self):
        done = self.run_on({'a.md': 'It is told.\nTell it.\n' + 'x' * 121 + '\n'}, '--count')
        self.assertEqual(done.returncode, 0)
        counts = dict(reversed(line.split(None, 1)) for line in done.stdout.splitlines())
        self.assertEqual((counts['tell|tells|told|telling|untold'], counts['line'], counts['all']), ('2', '1', '3'))

    def test_shows_its_usage_for_a_path_that_is_missing_and_an_unknown_option(self):
        for argument in ('missing.md', '--unknown'):
            done = self.run_on({}, argument)
            self.assertEqual(done.returncode, 2)
            self.assertIn('usage: check_words', done.stderr)


class Commits(unittest.TestCase):
    def subjects_found(self, *subjects):
        with tempfile.TemporaryDirectory() as folder:
            git = ['git', '-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.example']
            subprocess.run([*git, 'init', '-q'], check=True)
            for subject in subjects:
                subprocess.run([*git, 'commit', '-q', '--allow-empty', '-m', subject], check=True)
            return run(['--commits', 'HEAD'], folder)

    def test_passes_subjects_with_an_area(self):
        done = self.subjects_found('http: close sockets', 'fetch, http: one client', 'README: try', 'bisect/git: read merges')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_finds_subjects_without_an_area(self):
        done = self.subjects_found('http: close sockets', 'Where one looks for it')
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r'^[0-9a-f]+: "Where one looks for it": write "area: what changed"\n$')


if __name__ == '__main__':
    unittest.main()
