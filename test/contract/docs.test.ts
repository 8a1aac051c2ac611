import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DataProxyEnv } from '#contract/env/env.ts';
import { CHALLENGE_DEFAULTS, COMPARISON_MINIMUMS } from '#contract/values/challenge-limits.ts';
import { EVENT_TYPES } from '#contract/values/event-types.ts';
import { OHLCV_DEFAULTS, OHLCV_LIMITS } from '#contract/values/market-data-limits.ts';
import { ML_ENGINE_DEFAULTS, ML_ENGINE_LIMITS } from '#contract/values/model-limits.ts';
import { STAGING_WARNINGS } from '#contract/values/registry-limits.ts';

/** Rows of the page's tables that have a column `Default`: field names, their defaults and the other cells. */
function settingRows(page: string): { names: string[]; defaults: string[]; rest: string }[] {
  const lines = readFileSync(`docs/${page}.md`, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (!/^\|[^|]*\| Default \|/.test(line)) return [];
    const end = lines.findIndex((each, at) => at > index && !each.startsWith('|'));
    return lines.slice(index + 2, end).map((row) => {
      const [names = '', defaults = '', ...rest] = row.slice(1).split('|');
      const listOf = (cell: string) => cell.replaceAll('`', '').trim().split(/, */);
      return { names: listOf(names), defaults: listOf(defaults), rest: rest.join('|') };
    });
  });
}

function statedDefaults(page: string, known: Readonly<Record<string, unknown>>): Record<string, string> {
  const stated = settingRows(page).flatMap(({ names, defaults }) =>
    names.map((name, index) => [name, defaults[index]] as const),
  );
  return Object.fromEntries(stated.filter(([name]) => name in known)) as Record<string, string>;
}

it.each([
  ['writing-strategies', ML_ENGINE_DEFAULTS, ['max_leaves', 'max_bins']],
  ['challenges', CHALLENGE_DEFAULTS, ['min_trades', 'on_rollback']],
] as const)('docs/%s.md states the defaults of the contract', (page, defaults, some) => {
  const stated = statedDefaults(page, defaults);
  expect(Object.keys(stated)).toEqual(expect.arrayContaining([...some]));
  const actual = Object.keys(stated).map((name) => [name, String(defaults[name as keyof typeof defaults])]);
  expect(stated).toEqual(Object.fromEntries(actual));
});

it('docs/writing-strategies.md states the bounds of the training periods', () => {
  const { rest } = settingRows('writing-strategies').find(({ names }) =>
    names.includes('train_period_days'),
  )!;
  const { train_period_days: train, backtest_period_days: test } = ML_ENGINE_LIMITS;
  expect(rest).toContain(`${train.min} to ${train.max}, ${test.min} to ${test.max}`);
});

/** The table rows of a page whose first cell is `cell`. */
function rowsOf(page: string, cell: string): string {
  const lines = readFileSync(`docs/${page}.md`, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`| ${cell} |`)).join('\n');
}

it('docs/registry.md states the values at which staging warns', () => {
  const { min_trades, max_age_days } = STAGING_WARNINGS;
  const text = `at least ${min_trades} trades, candles that end within the last ${max_age_days} days`;
  expect(rowsOf('registry', 'stage')).toContain(text);
});

it('docs/registry.md states the requirements of the decision PROMOTE', () => {
  const { sharpe_improvement_pct, trades, confidence } = COMPARISON_MINIMUMS;
  expect(rowsOf('registry', '`PROMOTE`')).toContain(
    `at least ${sharpe_improvement_pct} % better, at least ${trades} trades of b, confidence of at least ${confidence}`,
  );
});

it('docs/calling-the-proxy.md states bounds and default of the number of candles', () => {
  const [min, max, fallback] = [OHLCV_LIMITS.limit.min, OHLCV_LIMITS.limit.max, OHLCV_DEFAULTS.limit].map(
    (value) => value.toLocaleString('en-US'),
  );
  expect(rowsOf('calling-the-proxy', '`params`')).toContain(`\`limit\` (${min} to ${max}; ${fallback})`);
});

it('docs/calling-the-proxy.md states the default number of retries', () => {
  const retries = DataProxyEnv.variables.MAX_RETRIES.fallback;
  expect(readFileSync('docs/calling-the-proxy.md', 'utf8')).toContain(`\`MAX_RETRIES\` (${retries}) times`);
});

it('docs/events.md lists every type of event with its change', () => {
  const rows = [...readFileSync('docs/events.md', 'utf8').matchAll(/^\| `(\w+\.\w+)` \| (.*?) \|/gm)];
  expect(rows.map(([, type, change]) => [type, change])).toEqual(Object.entries(EVENT_TYPES));
});
