import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operationsOf } from '#contract/operations/operations.ts';
import { type Operation, pathsOf } from '#contract/values/operation.ts';
import { GATEWAY_QUERY, LOG_QUERIES } from '#lib/watch/log-queries.ts';
import { ofType, templatesOf } from '../support/stacks.ts';

const SERVICES = ['backend', 'strategy', 'data_collection'] as const;

test.each(['dev', 'prod'] as const)('%s has eleven saved queries over its own log groups', (stage) => {
  const synthesized = templatesOf(stage);
  const queries = ofType(synthesized, 'AWS::Logs::QueryDefinition').map(([, each]) => each.Properties);
  expect(queries).toHaveLength(11);
  expect(new Set(queries.map(({ Name }) => Name)).size).toBe(11);
  for (const { Name, LogGroupNames } of queries) {
    expect(Name).toMatch(new RegExp(`^touchstone-${stage}-platform/`));
    expect(LogGroupNames.length, Name).toBeGreaterThan(0);
    for (const { Ref } of LogGroupNames) {
      expect(synthesized.resources.get(Ref)?.Type, Name).toBe('AWS::Logs::LogGroup');
    }
  }
  const [all] = queries;
  const read = JSON.stringify(all!.LogGroupNames);
  for (const name of [
    'Backend',
    'Strategy',
    'DataProxy',
    'Dispatcher',
    'Repair',
    'BacktestTask',
    'DataCollection',
  ]) {
    expect(read).toContain(name);
  }
});

test("query of the gateway's errors reads the access log of each API, and only fields that it has", () => {
  const dev = templatesOf('dev');
  const stages = ofType(dev, 'AWS::ApiGateway::Stage').map(([, each]) => each.Properties.AccessLogSetting);
  const query = ofType(dev, 'AWS::Logs::QueryDefinition')
    .map(([, { Properties }]) => Properties)
    .find(({ Name }) => Name.endsWith(GATEWAY_QUERY.name))!;
  const groups = stages.map((each) => /"Ref":"(\w*AccessLog\w*)"/.exec(JSON.stringify(each))![1]!);
  expect(query.LogGroupNames.map(({ Ref }: { Ref: string }) => Ref).sort()).toEqual(groups.sort());
  const fields = Object.keys(JSON.parse(stages[0]!.Format));
  const words = query.QueryString.replaceAll(/"[^"]*"|as \w+|count\(\*\)|sort .*/g, '').match(/[a-z_]+/g);
  const named = words.filter((word: string) => !['filter', 'and', 'stats', 'max', 'by'].includes(word));
  expect(named.length).toBeGreaterThan(6);
  for (const word of named) expect(fields, word).toContain(word);
});

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

test('each route in the runbook is an operation', () => {
  const routes = [...runbook.matchAll(/`(GET|POST) ([^` ]+)`/g)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  const operations = SERVICES.flatMap((service): readonly Operation[] => operationsOf(service)).flatMap(
    (operation) => pathsOf(operation).map((path) => `${operation.method} ${path}`),
  );
  expect(routes.length).toBeGreaterThan(6);
  for (const route of routes) expect(operations, route).toContain(route);
});

test('runbook lists every saved query', () => {
  for (const { name } of [...LOG_QUERIES, GATEWAY_QUERY]) expect(runbook).toContain(`| ${name} |`);
});
