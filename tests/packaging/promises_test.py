#!/usr/bin/env python3
"""Checks deploy/check_promises with changes that are allowed and changes that are not."""
import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
FILE = str(pathlib.Path(__file__).resolve().parents[2] / 'deploy/check_promises')
LOADER = importlib.machinery.SourceFileLoader('check_promises', FILE)
MODULE = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_promises', LOADER))
LOADER.exec_module(MODULE)

CONFIG = {
    'type': 'object',
    'required': ['state_dir'],
    'properties': {
        'state_dir': {'type': 'string'},
        'feed': {'type': 'object', 'properties': {
            'kind': {'type': 'string', 'enum': ['wheels', 'git']},
            'poll_s': {'type': 'integer', 'minimum': 1, 'maximum': 60}}},
        'fleets': {'type': 'array', 'items': {'type': 'object', 'properties': {'name': {'type': 'string'}}}},
    },
}
API = {
    'paths': {'/api/v1/alarms': {'get': {}, 'parameters': []}},
    'components': {'schemas': {
        'Alarm': {'type': 'object', 'properties': {'id': {'type': 'integer'}, 'host': {'properties': {'name': {}}}}}}},
}


class Promises(unittest.TestCase):
    def setUp(self):
        self.config, self.api, self.schema = copy.deepcopy(CONFIG), copy.deepcopy(API), 'CREATE TABLE a (b);'

    def assert_broken(self, *expected):
        old = {MODULE.SCHEMA: 'CREATE TABLE a (b);', MODULE.CONFIG: json.dumps(CONFIG), MODULE.API: json.dumps(API)}
        new = {MODULE.SCHEMA: self.schema, MODULE.CONFIG: json.dumps(self.config), MODULE.API: json.dumps(self.api)}
        self.assertEqual([line.split(': ', 1)[1] for line in MODULE.problems(old, new)], list(expected))

    def test_additions_are_allowed(self):
        self.config['properties']['feed']['properties']['url'] = {'type': 'string'}
        self.config['properties']['feed']['properties']['kind']['enum'].append('directory')
        self.config['properties']['state_dir']['type'] = ['string', 'null']
        self.config['properties']['feed']['properties']['poll_s'].update(type='number', maximum=600)
        self.api['paths']['/api/v1/new'] = {'get': {}}
        self.api['components']['schemas']['Alarm']['properties']['more'] = {}
        self.assert_broken()

    def test_changed_schema_of_the_database_is_found(self):
        self.schema += ' CREATE TABLE c (d);'
        self.assert_broken('changed since the release; add a step to storage/migrations.cpp instead')

    def test_removed_keys_are_found(self):
        del self.config['properties']['feed']['properties']['poll_s']
        del self.config['properties']['fleets']['items']['properties']['name']
        self.assert_broken('feed.poll_s was removed', 'fleets[].name was removed')

    def test_keys_that_allow_less_are_found(self):
        feed = self.config['properties']['feed']
        feed['required'] = ['kind']
        feed['properties']['kind']['enum'] = ['git']
        feed['properties']['poll_s'] = {'type': 'string', 'minimum': 5, 'maximum': 30}
        self.assert_broken('feed.kind became required', 'feed.kind may no longer be wheels',
                           'feed.poll_s may no longer be integer', 'the minimum of feed.poll_s was raised',
                           'the maximum of feed.poll_s was lowered')

    def test_removed_routes_and_fields_are_found(self):
        del self.api['paths']['/api/v1/alarms']['get']
        del self.api['components']['schemas']['Alarm']['properties']['host']['properties']['name']
        self.assert_broken('GET /api/v1/alarms was removed', 'Alarm.host.name was removed')

    def test_removed_object_is_found(self):
        del self.api['components']['schemas']['Alarm']
        self.assert_broken('Alarm was removed', 'Alarm.id was removed', 'Alarm.host was removed', 'Alarm.host.name was removed')


if __name__ == '__main__':
    unittest.main()
