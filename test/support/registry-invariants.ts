import { expect } from 'vitest';
import type { CatalogRow, Stage } from '#contract/registry/stored-registry.ts';
import { canonicalJson } from '#engine/digest.ts';
import type { RegistryFixture } from './registry-fixture.ts';

/** Attributes that transitions may change, including those of the catalog. */
const STATE = [
  'stage',
  'validation',
  'staged_at',
  'promoted_at',
  'archived_at',
  'rolled_back',
  'rolled_back_reason',
  'stopped',
  'stopped_reason',
  'waivers',
  'tags',
  'updated_at',
  'catalog',
  'catalog_name',
  'catalog_sharpe',
  'catalog_drawdown',
  'catalog_row',
];

/** Compares earlier states of the registry with the current one; call {@link check} after every step. */
export class Invariants {
  #fixture: RegistryFixture;
  /** Content of each version when it was first seen, as JSON. */
  readonly #contents = new Map<string, string>();
  /** Events seen, as JSON. */
  readonly #events: string[] = [];

  constructor(fixture: RegistryFixture) {
    this.#fixture = fixture;
  }

  /** Continues with another fixture over the same tables: earlier state must still exist. */
  reopen(fixture: RegistryFixture): void {
    this.#fixture = fixture;
  }

  /**
   * At most one version is in Production, and META has its number. Numbers count from 1 without gaps. Content and past
   * events are unchanged. The history leads to the current state. The catalog has Production and Staging, with counts.
   */
  async check(): Promise<void> {
    const { store } = this.#fixture;
    const [items, inCatalog, ...counts] = await Promise.all([
      this.#fixture.items(),
      allOf(store.catalog({}, { field: 'name', order: 'asc' }, null)),
      ...(['Production', 'Staging'] as const).map((stage) => store.catalogCount({ stage })),
    ]);
    const meta = items.find(({ sk }) => sk === 'META');
    const versions = items.filter(({ sk }) => sk.startsWith('VERSION#'));
    const events = items.filter(({ sk }) => sk.startsWith('EVENT#'));
    const inProduction = versions.filter(({ stage }) => stage === 'Production');
    expect(inProduction.length).toBeLessThanOrEqual(1);
    expect(meta?.production_version ?? null).toBe(inProduction[0]?.version ?? null);
    expect(versions.map(({ version }) => Number(version))).toEqual(versions.map((_, index) => index + 1));
    expect(meta?.latest_version ?? 0).toBe(versions.length);
    expect(meta?.events ?? 0).toBe(events.length);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(replay(events)).toEqual({
      production: meta?.production_version ?? null,
      stages: Object.fromEntries(versions.map(({ version, stage }) => [version, stage])),
    });
    this.#checkContents(versions);
    this.#checkEvents(events);
    const listed = versions.filter(({ stage }) => stage === 'Production' || stage === 'Staging');
    const shown = (each: object) => `${(each as CatalogRow).version} ${(each as CatalogRow).stage}`;
    expect(inCatalog.map(({ row }) => shown(row))).toEqual(listed.map(shown));
    const counted = (stage: Stage) => listed.filter((version) => version.stage === stage).length;
    expect(counts).toEqual([counted('Production'), counted('Staging')]);
  }

  #checkContents(versions: readonly Record<string, any>[]): void {
    for (const version of versions) {
      const content = Object.entries(version).filter(([name]) => !STATE.includes(name));
      const text = canonicalJson(Object.fromEntries(content));
      expect(text).toBe(this.#contents.get(version.version) ?? text);
      this.#contents.set(version.version, text);
    }
    expect(versions.length).toBe(this.#contents.size);
  }

  #checkEvents(events: readonly Record<string, any>[]): void {
    const texts = events.map(canonicalJson);
    expect(texts.slice(0, this.#events.length)).toEqual(this.#events);
    this.#events.push(...texts.slice(this.#events.length));
  }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** State that results from the events. Checks each event against the one before. */
function replay(events: readonly Record<string, any>[]): {
  production: string | null;
  stages: Record<string, Stage>;
} {
  let production: string | null = null;
  const stages: Record<string, Stage> = {};
  let last = '';
  for (const event of events) {
    expect(event.from).toBe(stages[event.version] ?? null);
    expect(event.previous_production).toBe(production);
    expect(event.at >= last).toBe(true);
    last = event.at;
    stages[event.version] = event.to;
    for (const archived of event.archived_versions) {
      expect(stages[archived]).toBe('Production');
      stages[archived] = 'Archived';
    }
    production = event.production;
  }
  return { production, stages };
}
