import { describe, expect, it } from 'vitest';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import example from '#strategies/example_pullback.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

const OWN = [...builtInStrategies, example].filter(({ mlEngine }) => !mlEngine);
/** Minimum number of entry signals over the three markets, so that the analysis covers entries. */
const MIN_SIGNALS = 30;

describe('own strategies', () => {
  it.each(OWN.map((strategy) => [strategy.name, strategy] as const))(
    'strategy %s has no look-ahead bias',
    async (_name, strategy) => {
      const subject = lookAheadSubject(() => strategy, { seeds: [21, 22, 23], rows: 3_000 });
      const certificate = await certifyLookAhead(subject, { histories: 120 });
      expect(certificate.findings).toEqual([]);
      expect(certificate.histories).toBeGreaterThan(60);
      expect(certificate.entrySignals).toBeGreaterThanOrEqual(MIN_SIGNALS);
    },
  );

  it.each(OWN.map((strategy) => [strategy.name, strategy] as const))(
    'strategy %s has no look-ahead bias at the ends of its parameter ranges',
    async (_name, strategy) => {
      for (const end of ['min', 'max'] as const) {
        const params = Object.fromEntries(
          Object.entries(strategy.parameters).map(([name, parameter]) => [
            name,
            parameter.kind === 'choice' ? parameter.choices.at(end === 'min' ? 0 : -1)! : parameter[end],
          ]),
        );
        const subject = lookAheadSubject(() => strategy, {
          seeds: [21],
          rows: 2_000,
          params: { ...defaultParameters(strategy.parameters), ...params },
        });
        expect((await certifyLookAhead(subject, { histories: 24, cuts: 6 })).findings).toEqual([]);
      }
    },
  );
});
