import { canaryUsage } from './canary.ts';
import { idleUsage } from './idle.ts';
import { COLUMNS, laneCosts, RUNS } from './lanes.ts';
import { MIN_TASK_SECONDS } from './model.ts';
import { costOf, PRICE_DATE, PRICE_NOTE, REGION, totalOf, type Usage, unitOf } from './prices.ts';
import type { Resources } from './templates.ts';
import { visitCosts } from './visits.ts';

interface Row {
  readonly item: string;
  readonly usd: number;
}

/** Costs of a stage in USD. Shape of `npm run cost -- --json`. */
export interface CostReport {
  readonly stage: string;
  readonly region: string;
  readonly price_date: string;
  /** Per month, without any use. */
  readonly idle: {
    readonly usd: number;
    readonly items: readonly (Row & {
      readonly uses: readonly { quantity: number; unit: string; usd: number }[];
    })[];
  };
  /** Per 1,000 backtests, trials or visits of each lane. */
  readonly lanes: readonly { readonly name: string; readonly usd: number; readonly parts: readonly Row[] }[];
  /** Billed duration of a backtest's task. */
  readonly task_seconds: number;
}

export function costReport(stage: string, resources: Resources, seconds = MIN_TASK_SECONDS): CostReport {
  const idle = [...idleUsage(resources), ...canaryUsage(resources)];
  return {
    stage,
    region: REGION,
    price_date: PRICE_DATE,
    idle: {
      usd: totalOf(idle),
      items: [...Map.groupBy(idle, ({ item }) => item)]
        .map(([item, usages]) => ({ item, usd: totalOf(usages), uses: usesOf(usages) }))
        .toSorted((a, b) => b.usd - a.usd),
    },
    lanes: [...laneCosts(resources, seconds), ...visitCosts(resources)].map(({ name, usages }) => ({
      name,
      usd: totalOf(usages),
      parts: COLUMNS.map((item) => ({ item, usd: totalOf(usages.filter((each) => each.item === item)) })),
    })),
    task_seconds: seconds,
  };
}

/** Uses of one price together. */
function usesOf(usages: readonly Usage[]) {
  return [...Map.groupBy(usages, ({ price }) => price)].map(([price, uses]) => ({
    quantity: uses.reduce((sum, { quantity }) => sum + quantity, 0),
    unit: unitOf(price),
    usd: uses.reduce((sum, use) => sum + costOf(use), 0),
  }));
}

const dollars = (usd: number) => usd.toFixed(2);

/** The report as text: idle items with their quantities, then a row per lane. */
export function costText({ stage, region, price_date, idle, lanes, task_seconds }: CostReport): string {
  const items = idle.items.flatMap(({ item, usd, uses }) => [
    [item, dollars(usd), ...(uses.length === 1 ? [quantity(uses[0]!)] : [''])],
    ...(uses.length === 1 ? [] : uses.map((use) => ['', '', `${quantity(use)}: ${dollars(use.usd)}`])),
  ]);
  return [
    `Stage ${stage}: USD, list prices of ${region}, ${price_date}${PRICE_NOTE}. Free tiers are not deducted.`,
    '',
    ...table([['Idle, per month', 'USD', 'Quantity'], ...items, ['Sum', dollars(idle.usd), '']], [1]),
    '',
    ...table(
      [
        [`Per ${RUNS.toLocaleString('en-US')} (task of ${task_seconds} s)`, ...COLUMNS, 'Sum'],
        ...lanes.map(({ name, usd, parts }) => [
          name,
          ...parts.map((part) => dollars(part.usd)),
          dollars(usd),
        ]),
      ],
      COLUMNS.map((_, index) => index + 1).concat(COLUMNS.length + 1),
    ),
    '',
  ].join('\n');
}

function quantity({ quantity, unit }: { quantity: number; unit: string }): string {
  const rounded = quantity >= 100 ? Math.round(quantity) : Number(quantity.toPrecision(3));
  return `${rounded.toLocaleString('en-US')} ${unit}`;
}

/** Lines of a table; the columns in `right` are aligned to the right. */
function table(rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        right.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  const [head, ...body] = rows.map(line);
  return [head!, '-'.repeat(Math.max(...rows.map((row) => line(row).length))), ...body];
}
