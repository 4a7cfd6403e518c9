"""pages.py on pages with planted mistakes."""
import pathlib
import unittest

import pages


class NoSandbox:
    """Runs no programs: prints for each command the text that `printed` has for it, with status 0."""

    def __init__(self, printed):
        self.printed = printed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run_console(self, block):
        for command in pages.commands_in(block):
            pages.check_output(command, 0, self.printed[command.text])

    def check_json(self, block):
        if 'good' not in block.content:
            raise pages.Wrong(block.line, 'found a mistake')


def check(text, printed=None):
    return pages.check_page('a.md', text, lambda: NoSandbox(printed or {}))


def console(*lines):
    return '\n'.join(['```console', *lines, '```'])


class Reader(unittest.TestCase):
    def test_reads_each_kind_with_its_first_line(self):
        blocks = pages.blocks_in('# A\n\n```console\n$ a\n```\n\n```json\n"b": 1\n```\n```text\nc\n```\n')
        self.assertEqual([(block.kind, block.line, block.content) for block in blocks],
                         [('console', 4, '$ a'), ('json', 8, '"b": 1'), ('text', 11, 'c')])

    def test_reads_block_in_list(self):
        block, = pages.blocks_in('- item:\n\n  ```console\n  $ a\n  ```\n')
        self.assertEqual(block.content, '$ a')

    def test_reads_marks(self):
        marked, other, empty = pages.blocks_in('<!-- not run: needs a GPU -->\n' + console('$ a') + '\n' + console('$ b') +
                                               '\n<!-- in an empty directory -->\n' + console('$ c'))
        self.assertEqual((marked.not_run, other.not_run), ('needs a GPU', ''))
        self.assertEqual((other.in_empty, empty.in_empty), (False, True))

    def test_rejects_unknown_kind(self):
        self.assertEqual(check('A\n\n```yaml\na: 1\n```\n')[0],
                         ['a.md:3: found a block of kind "yaml", allowed are console, json, text'])
        self.assertEqual(check('```\na\n```\n')[0],
                         ['a.md:1: found a block of kind "", allowed are console, json, text'])

    def test_rejects_block_without_end(self):
        self.assertEqual(check('A\n```console\n$ a\n')[0], ['a.md:2: the block has no end'])

    def test_rejects_console_without_command(self):
        self.assertEqual(check(console('a'))[0], ['a.md:2: a console block starts with a command: "$ ..."'])

    def test_reads_command_of_several_lines(self):
        block, = pages.blocks_in(console('$ a \\', "    -d '{", "  }'", 'out', "$ b  # the service's", 'more', ''))
        first, second = pages.commands_in(block)
        self.assertEqual((first.line, first.text, first.shown), (2, "a \\\n    -d '{\n  }'", ['out']))
        self.assertEqual((second.line, second.shown), (6, ['more']))


class Pages(unittest.TestCase):
    def test_passes_output_that_is_printed(self):
        self.assertEqual(check(console('$ a', 'one', 'two'), {'a': 'one\ntwo\n'}), ([], []))

    def test_names_file_and_line_of_wrong_output(self):
        failures, _ = check('# A\n\n' + console('$ a \\', '  b', 'one', 'three'), {'a \\\n  b': 'one\ntwo\n'})
        self.assertEqual(failures, ['a.md:7: expected "three"; printed:\none\ntwo\n'])

    def test_rejects_output_that_is_missing_or_too_much(self):
        self.assertEqual(check(console('$ a', 'one'), {'a': ''})[0], ['a.md:3: expected "one"; printed:\n'])
        self.assertEqual(check(console('$ a', 'one'), {'a': 'one\ntwo\n'})[0],
                         ['a.md:4: expected nothing more; printed:\none\ntwo\n'])

    def test_goes_on_after_wrong_block(self):
        failures, _ = check(console('$ a', 'x') + '\n' + console('$ b', 'y'), {'a': '', 'b': ''})
        self.assertEqual([failure[:7] for failure in failures], ['a.md:3:', 'a.md:7:'])

    def test_lists_blocks_that_are_not_run(self):
        self.assertEqual(check('<!-- not run: needs a GPU -->\n' + console('$ a')), ([], ['a.md:3: needs a GPU']))

    def test_checks_configurations(self):
        self.assertEqual(check('```json\n"good": 1\n```\n```json\n"bad": 1\n```\n')[0], ['a.md:5: found a mistake'])

    def test_rejects_failed_command_without_shown_output(self):
        with self.assertRaises(pages.Wrong):
            pages.check_output(pages.Command(1, 'a', []), 2, 'no such file')


class Matching(unittest.TestCase):
    def assert_matches(self, shown, printed, expected=True):
        self.assertEqual(pages.first_difference(shown, printed) is None, expected, (shown, printed))

    def test_dots_match_any_text(self):
        self.assert_matches(['{"id":1,...}'], ['{"id":1,"state":"done"}'])
        self.assert_matches(['{"id":1,...}'], ['{"id":2,"state":"done"}'], False)

    def test_line_of_dots_matches_any_lines(self):
        self.assert_matches(['a', '...', 'd'], ['a', 'b', 'c', 'd'])
        self.assert_matches(['a', '...'], ['a', 'b', 'c'])
        self.assert_matches(['...', 'a'], ['a'])
        self.assert_matches(['a', '...', 'd'], ['a', 'b', 'c'], False)

    def test_measured_numbers_commits_and_times_match_their_kind(self):
        self.assert_matches(['+20.4% 1.942 ms'], ['+21.0% 2.1 ms'])
        self.assert_matches(['1.942 ms'], ['2 ms'])
        self.assert_matches(['36fb56833c5c...'], ['769d8b2974545969a81958747362bdf482e088d2 [CPU]'])
        self.assert_matches(['2.9.0a0+git340bc50  done'], ['2.9.0a0+gitf91d3b4 done'])
        self.assert_matches(['at 2026-11-28 07:27'], ['at 2027-01-02 03:04'])

    def test_whole_numbers_and_dates_match_themselves(self):
        self.assert_matches(['id 1'], ['id 2'], False)
        self.assert_matches(['2025-09-02'], ['2025-09-03'], False)

    def test_spaces_in_a_row_count_as_one(self):
        self.assert_matches(['a    b'], ['a  b'])


class HelpTexts(unittest.TestCase):
    HELP = 'Lists the kept builds.\nUsage: torchwatch builds\n\nExample:\n  $ torchwatch builds\n  one\n\n'

    def test_example_becomes_a_block_at_its_line(self):
        block, = pages.blocks_in(pages.page_of_help('builds', self.HELP))
        self.assertEqual((block.line, block.content), (5, '$ torchwatch builds\none'))

    def test_rejects_help_without_sentence_or_example(self):
        with self.assertRaisesRegex(pages.Wrong, 'expected a sentence'):
            pages.page_of_help('builds', self.HELP.replace('builds.', 'builds'))
        with self.assertRaisesRegex(pages.Wrong, 'found no "Example:"'):
            pages.page_of_help('builds', self.HELP.replace('Example:', 'Other:'))

    def test_example_that_names_a_build_is_not_run(self):
        self.assertEqual(len(check(pages.page_of_help('builds pin', self.HELP))[1]), 1)


class Repository(unittest.TestCase):
    def test_every_page_can_be_read(self):
        source = pathlib.Path(__file__).resolve().parents[2]
        for page in [source / 'README.md', *source.glob('docs/*.md')]:
            for block in pages.blocks_in(page.read_text()):
                if block.kind == 'console':
                    self.assertTrue(pages.commands_in(block), page)


if __name__ == '__main__':
    unittest.main()
