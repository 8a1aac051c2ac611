import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { VISIT } from '#lib/cost/model.ts';
import { costOf, type PriceName, type Usage } from '#lib/cost/prices.ts';
import { type CostReport, costReport } from '#lib/cost/report.ts';
import { type Resources, resourcesOf } from '#lib/cost/templates.ts';
import { type StageConfig, stageConfig } from '#lib/settings/config.ts';
import { templatesOf } from '../support/stacks.ts';

/**
 * Each text about money is written here again, with the amounts that the cost program computes: the texts must contain it, and no other
 * amounts. Where an amount changes, the failure shows the text to write.
 */

const resources: Readonly<Record<StageConfig['stage'], Resources>> = {
  dev: templatesOf('dev').resources,
  test: resourcesOf(stageConfig('test')),
  prod: templatesOf('prod').resources,
};
const reports = Object.entries(resources).map(([stage, each]) => costReport(stage, each));
const [dev, , prod] = reports as [CostReport, CostReport, CostReport];
const prodWith = (changes: Partial<StageConfig>) =>
  costReport('prod', resourcesOf({ ...stageConfig('prod'), ...changes }));

const item = ({ idle }: CostReport, ...names: string[]) =>
  idle.items.filter((each) => names.includes(each.item)).reduce((sum, { usd }) => sum + usd, 0);
const lane = ({ lanes }: CostReport, name: string) => lanes.find((each) => each.name === name)!.usd;
const price = (name: PriceName, quantity: number) => costOf({ item: '', price: name, quantity } as Usage);

/** Rounded to as many decimals as the text has. */
const usd = (value: number, decimals = 2) => value.toFixed(decimals);
const million = (name: PriceName) => price(name, 1e6);
const secrets = (count: number) => price('secret', count);

const alarms = item(prod, 'Alarms');
const canary = item(prod, 'Canary');
const firewall = item(prod, 'Firewall');
const endpoints = item(prod, 'Endpoints of the isolated network');
const insights = item(prod, 'Container Insights');
const spot = item(prod, 'Data collection') - item(dev, 'Data collection on Spot');
const brakes = alarms - item(prodWith({ trafficShift: false }), 'Alarms');
const withoutWeb = { web: { ...stageConfig('prod').web, enabled: false } };
const rateRules = (changes: Partial<StageConfig>) =>
  item(prodWith({ ...changes, rateLimits: true }), 'Firewall') - item(prodWith(changes), 'Firewall');

const SETTINGS = [
  `Alarms of docs/runbook.md, ${usd(alarms)} USD per month.`,
  `fires an alarm when it fails, ${usd(canary)} USD per month, and ${usd(secrets(2))} for its two secrets.`,
  `endpoints of AWS services, about ${usd(endpoints, 0)} USD per month in two zones.`,
  `before the APIs: about ${usd(firewall, 0)} USD per month and ${usd(million('webAclRequest'))} USD per million requests.`,
  `Adds ${usd(rateRules(withoutWeb), 0)} USD per month, ${usd(rateRules({}), 0)} with the dashboard.`,
  `Data collection on Fargate Spot: ${usd(spot, 0)} USD per month less.`,
  `network of each task family, ${usd(insights)} USD per month.`,
  `cost ${usd(price('objectStorageInfrequent', 1), 4)} instead of ${usd(price('objectStorage', 1), 3)} USD per GB and month after 30 days, and ${usd(price('objectStorageArchive', 1), 3)} after 90. The move costs ${usd(price('objectMove', 1000))} USD per 1,000 objects.`,
  `about ${usd(price('tableBackup', 1))} USD per GB and month of tables and ${usd(price('objectBackup', 1))} of objects.`,
  `about three times \`minutes\`. ${usd(brakes)} USD per month.`,
  `No fixed cost but two secrets, ${usd(secrets(2))} USD per month; ${usd(million('edgeRequest') + million('edgeFunction'))} USD per million requests.`,
  `Each costs ${usd(price('machineClient', 1), 0)} USD per month, and ${usd(price('machineToken', 1000))} per 1,000 tokens.`,
];

/** A row of the table of fixed costs: of each stage, in whole USD. */
const row = (title: string, of: (report: CostReport) => number) =>
  `| ${[title, ...reports.map((report) => (of(report) ? usd(of(report), 0) : '–'))].join(' | ')} |`;
const DATA_COLLECTION = ['Data collection', 'Data collection on Spot', 'Public address of data collection'];
const ROWS = [
  'Endpoints of the isolated network',
  'Firewall',
  'Container Insights',
  'Alarms',
  'Canary',
  ...DATA_COLLECTION,
];

const five = costReport('prod', resources.prod, 300);
const task = (name: string) =>
  five.lanes.find((each) => each.name === name)!.parts.find((part) => part.item === 'Tasks')!.usd / 1000;
const worker = (vcpu: PriceName, memory: PriceName) => price(vcpu, 4) + price(memory, 16);
const streamed = price('lambdaDuration', 3600 * 0.25);
const VISITS = ['Visit of the dashboard, 10 minutes', 'Visit of the dashboard while jobs run'] as const;

const DOCS: Readonly<Record<string, readonly string[]>> = {
  'deploy.md': [
    row('Data collection: 0.25 vCPU, 1 GB, a public address', (each) => item(each, ...DATA_COLLECTION)),
    row('Endpoints of the isolated network: three, in two zones', (each) => item(each, ROWS[0]!)),
    row('Firewall: two managed rule groups in front of each API', (each) => item(each, 'Firewall')),
    row('Container Insights', (each) => item(each, 'Container Insights')),
    row('Alarms and the canary', (each) => item(each, 'Alarms', 'Canary')),
    row(
      'CloudWatch dashboard, metrics, secrets, private zone, scheduled functions',
      (each) => each.idle.usd - item(each, ...ROWS),
    ),
    `cost $${usd(lane(prod, 'Backtest in a function'))} in the fast lane. 1,000 of up to one minute cost $${usd(lane(prod, 'Backtest on Spot'))} on Spot and $${usd(lane(prod, 'Backtest on demand'))} on demand.`,
    `| $${usd(task('Backtest on Spot'), 4)} on Spot, $${usd(task('Backtest on demand'), 4)} on demand |`,
    `| $${usd(worker('spotVcpu', 'spotMemory'), 3)} on Spot, $${usd(worker('fargateVcpu', 'fargateMemory'), 3)} on demand |`,
    `| One hour of watching a job live | $${usd(streamed, 3)} |`,
    `| One million API requests | $${usd(million('apiRequest'))} |`,
    `before those of the APIs | $${usd(million('edgeRequest') + million('edgeFunction'))}, and $${usd(price('edgeTransfer', 1), 3)} per GB |`,
    `| $${usd(lane(prod, VISITS[0]))}, or $${usd(lane(prod, VISITS[1]))} while jobs run |`,
    `| \`firewall\` | managed rules before the APIs, ${usd(firewall, 0)} USD per month |`,
    `${usd(canary)} USD per month; not in dev |`,
    `Cognito bills each one, $${usd(price('machineToken', 1000))} per 1,000, and $${usd(price('machineClient', 1), 0)} per month for each client.`,
    `about 40,000 read units ($${usd(price('tableRead', 40_000), 3)})`,
  ],
  'cost.md': [
    `in S3 $${usd(price('objectStorage', 1), 3)} per GB-month, tables $${usd(price('tableStorage', 1))} and their point-in-time recovery $${usd(price('tableRecovery', 1))}, logs\n$${usd(price('logStorage', 1))}, the container image in ECR $${usd(price('imageStorage', 1))}.`,
    `| \`dataCollectionSpot\` | true | $${usd(spot)} |`,
    `| \`containerInsights\` | false | $${usd(insights)} |`,
    `| \`alarms\` | false | $${usd(alarms)} |`,
  ],
  'data.md': [
    `$${usd(price('objectStorage', 1), 3)} per GB and\nmonth, $${usd(price('objectStorageInfrequent', 1), 4)} after 30 days without a read, and $${usd(price('objectStorageArchive', 1), 3)} after 90.`,
    `costs $${usd(price('objectMove', 1000))} per 1,000 objects, monitoring $${usd(price('objectMonitoring', 1000), 4)} per 1,000 objects and month.`,
    `A backup of tables costs about $${usd(price('tableBackup', 1))} per GB and month, of objects $${usd(price('objectBackup', 1))}, and the transfer to a second region $${usd(price('backupTransfer', 1))} per GB.`,
  ],
  'challenges.md': [
    `$${usd(million('tableWrite'), 3)} per million write units and\n$${usd(million('tableRead'), 3)} per million read units.`,
    `$${usd(4 * million('tableRead') + 10 * million('tableWrite'), 0)} to $${usd(4 * million('tableRead') + 12 * million('tableWrite'), 0)} one by one and $${usd(0.1 * million('tableRead') + 4.1 * million('tableWrite'), 0)} in batches of 100.`,
  ],
};

const AMOUNT = /\$\d[\d,.]*|\d[\d,.]* USD\b/g;
/** Amounts of a text outside of those that are known. */
const others = (text: string, known: readonly string[]) =>
  known.reduce((rest, each) => rest.replaceAll(each, ''), text).match(AMOUNT) ?? [];

/** Descriptions of all settings. */
function* descriptions(schema: unknown): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'description' && typeof value === 'string') yield value;
    else yield* descriptions(value);
  }
}

describe('settings', () => {
  const file = new URL('../../touchstone.config.schema.json', import.meta.url);
  const text = [...descriptions(JSON.parse(readFileSync(file, 'utf8')))].join('\n');

  test.each(SETTINGS)('a setting says what npm run cost computes: %s', (known) => {
    expect(text.includes(known), `write: ${known}`).toBe(true);
  });

  test('no setting has another amount', () => {
    expect(others(text, SETTINGS)).toEqual([]);
  });
});

describe('docs', () => {
  const folder = new URL('../../docs/', import.meta.url);
  const pages = readdirSync(folder).filter((name) => name.endsWith('.md'));
  /** Without what is not prose: commands, and the reports that another test compares. */
  const proseOf = (page: string) =>
    readFileSync(new URL(page, folder), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

  test.each(Object.entries(DOCS).flatMap(([page, texts]) => texts.map((text) => [page, text] as const)))(
    'docs/%s says what npm run cost computes: %s',
    (page, known) => {
      expect(proseOf(page).includes(known), `write: ${known}`).toBe(true);
    },
  );

  test('no page has another amount', () => {
    expect(Object.keys(DOCS).filter((page) => !pages.includes(page))).toEqual([]);
    for (const page of pages) expect(others(proseOf(page), DOCS[page] ?? []), page).toEqual([]);
  });

  test('hour of a stream is that of a visit', () => {
    // One stream of 256 MB: the difference of the two visits, as long as a visit lasts.
    const api = VISITS.map(
      (name) => prod.lanes.find((each) => each.name === name)!.parts.find((part) => part.item === 'API')!.usd,
    );
    expect(((api[1]! - api[0]!) / 1000) * (3600 / VISIT.streamSeconds)).toBeCloseTo(streamed, 6);
  });
});
