import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { GOLDEN, observed } from './worked-scenarios.ts';

describe('golden scenarios of the reference', () => {
  it.each(GOLDEN)('simulate reproduces $name', (scenario) => {
    const simulation = simulate([scenario.pair], scenario.settings);

    expect(observed(simulation, scenario)).toEqual(scenario.trades);
  });
});
