import type { TestPlatform } from '../../support/platform.ts';
import { seedBacktest, seedChallenge, seedProduction, seedStaged } from './seed.ts';
import { seedData } from './seed-data.ts';
import { seedHyperopt } from './seed-hyperopt.ts';

/** Ids of what {@link seed} made. */
export interface Seeded {
  readonly backtest: string;
  /** A run of the same strategy with another parameter. */
  readonly faster: string;
  readonly hyperopt: string;
  readonly challenge: string;
  readonly collection: string;
}

/** A page in one state. */
export interface PageToSee {
  /** Name of its screenshots. */
  readonly name: string;
  readonly path: string;
  /** CSS selector of what is there when the page has its data. */
  readonly ready: string;
  /** Another state of a page that is in the list: `npm test` leaves it to `npm run test:full`. */
  readonly isState?: true;
}

/** Fills a platform so that every page has something to show. */
export async function seed(platform: TestPlatform): Promise<Seeded> {
  // It runs next to what follows.
  const hyperopt = await seedHyperopt(platform);
  const backtest = await seedBacktest(platform);
  await seedProduction(platform, backtest);
  const faster = await seedBacktest(platform, { params: { fast: 12 } });
  const challenge = await seedChallenge(platform, await seedStaged(platform, faster));
  await platform.until(hyperopt, 'completed');
  return { backtest, faster, hyperopt, challenge, collection: await seedData(platform) };
}

/** Every page of the dashboard, in the states that a seeded platform has. */
export function pagesToSee(seeded: Seeded): readonly PageToSee[] {
  const { backtest, faster, hyperopt, challenge, collection } = seeded;
  return [
    { name: 'home', path: '/', ready: '.home-jobs li' },
    { name: 'data', path: '/data', ready: '[data-state="corrupt"]' },
    {
      name: 'data-series',
      path: `/data?series=SOL%2FUSDT%3AUSDT+4h&collection=${collection}`,
      ready: '.data-gaps table',
      isState: true,
    },
    {
      name: 'data-collect',
      path: '/data?collect=SOL%2FUSDT%3AUSDT+4h&from=2024-03-01',
      ready: '.cover-line',
      isState: true,
    },
    { name: 'data-import', path: '/data?import=new', ready: '.import-drop', isState: true },
    { name: 'data-empty', path: '/data?exchange=okx', ready: '.cover-map .state', isState: true },
    { name: 'backtests', path: '/backtests', ready: 'tbody tr' },
    { name: 'compare', path: `/compare?ids=${backtest},${faster}`, ready: '.compare-curves canvas' },
    { name: 'compare-none', path: '/compare', ready: '.state', isState: true },
    { name: 'new-backtest', path: '/backtests/new', ready: '.stored-range' },
    {
      name: 'run-again',
      path: `/backtests/new?from=${backtest}`,
      ready: '.cover-line',
      isState: true,
    },
    {
      name: 'new-backtest-signals',
      path: '/backtests/new?strategy=signals',
      ready: 'input[type=file]',
      isState: true,
    },
    { name: 'strategies', path: '/strategies', ready: '.configurations li' },
    { name: 'strategy', path: '/strategies/ema_crossover?a=1&b=2', ready: '.history li' },
    {
      name: 'version',
      path: '/strategies/ema_crossover/versions/1',
      ready: '.lineage li',
    },
    { name: 'hyperopt', path: '/hyperopt', ready: 'table.grid' },
    { name: 'hyperopt-new', path: '/hyperopt/new', ready: 'form' },
    { name: 'hyperopt-again', path: `/hyperopt/new?from=${hyperopt}`, ready: 'form', isState: true },
    { name: 'hyperopt-job', path: `/hyperopt/${hyperopt}?trial=0`, ready: '[data-panel="trial"] canvas' },
    { name: 'hyperopt-trials', path: `/hyperopt/${hyperopt}?tab=trials`, ready: 'table.grid', isState: true },
    { name: 'hyperopt-parameters', path: `/hyperopt/${hyperopt}?tab=parameters`, ready: '.own-canvas' },
    {
      name: 'hyperopt-result',
      path: `/hyperopt/${hyperopt}?tab=result`,
      ready: '.diagnostics',
      isState: true,
    },
    { name: 'report', path: `/backtests/${backtest}`, ready: '.report-trades tr[aria-rowindex]' },
    {
      name: 'report-trade',
      path: `/backtests/${backtest}?trade=40&candles=true&market=true&table=month`,
      ready: '.chart-candles canvas',
      isState: true,
    },
    { name: 'challenges', path: '/challenges', ready: 'tbody tr' },
    { name: 'challenge', path: `/challenges/${challenge}`, ready: '.chart-frame canvas' },
    { name: 'audit', path: '/audit', ready: 'tbody tr' },
    { name: 'audit-filtered', path: '/audit?operation=promoteVersion', ready: 'tbody tr', isState: true },
    { name: 'unknown', path: '/nowhere', ready: 'h1' },
  ];
}
