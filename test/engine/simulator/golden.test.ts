import { describe, expect, it } from 'vitest';
import { simulateLoop } from '#engine/simulator/loop/loop.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { GOLDEN, observed } from './golden.ts';

describe.each([
  { path: 'the loop', run: simulateLoop },
  { path: 'the chosen path', run: simulate },
])('golden scenarios of the reference on $path', ({ run }) => {
  it.each(GOLDEN)('$name', (scenario) => {
    const simulation = run([scenario.pair], scenario.settings);

    expect(observed(simulation, scenario)).toEqual(scenario.trades);
  });
});
