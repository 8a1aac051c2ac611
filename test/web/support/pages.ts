import type { TestPlatform } from '../../support/platform.ts';
import { seedBacktest } from './seed.ts';

/** Ids of what {@link seed} made. */
export interface Seeded {
  readonly backtest: string;
}

/** A page in one state. */
export interface PageToSee {
  /** Name of its screenshots. */
  readonly name: string;
  readonly path: string;
  /** CSS selector of what is there when the page has its data. */
  readonly ready: string;
}

/** Fills a platform so that every page has something to show. */
export async function seed(platform: TestPlatform): Promise<Seeded> {
  return { backtest: await seedBacktest(platform) };
}

/** Every page of the dashboard, in the states that a seeded platform has. */
export function pagesToSee(_seeded: Seeded): readonly PageToSee[] {
  return [
    { name: 'home', path: '/', ready: '[data-status="healthy"]' },
    { name: 'unknown', path: '/nowhere', ready: 'h1' },
  ];
}
