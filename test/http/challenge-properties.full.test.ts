import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  batchOf,
  nearTheLook,
  read,
  repeatableFixture,
  type Step,
  stored,
  take,
  write,
} from '../support/challenge-scenarios.ts';
import { fileEngine } from '../support/file-engine.ts';

const engine = fileEngine();

const start = fc.constantFrom('with canary', 'at 50 %', 'near the look', 'near the look');
type Start = 'with canary' | 'at 50 %' | 'near the look';
/** Called after every step, with the step if it was an accepted write. */
type Retry = (place: number, done: Step | null, take: (again: Step) => Promise<unknown>) => Promise<void>;

/** Plays the steps of a challenge. Returns its stored items and its evaluation. */
async function play(from: Start, steps: readonly Step[], retry: Retry = async () => undefined) {
  const fixture = await repeatableFixture(engine);
  let id = 'ch-near';
  if (from === 'near the look') await nearTheLook(fixture, id);
  else {
    const request = { enable_canary: from === 'with canary', max_duration_hours: 48, max_drawdown_pct: 60 };
    id = (await fixture.create(request, { 'X-Correlation-ID': 'play' })).body.challenge_id;
  }
  for (const [place, step] of [...steps, { kind: 'tick' } as const].entries()) {
    const isDone = await take(fixture, id, step);
    await retry(place, isDone ? step : null, (again) => take(fixture, id, again));
  }
  const items = (await stored(fixture, engine.client)) as Record<string, any>[];
  return { items, evaluation: await fixture.evaluate(id) };
}

/** Outcome without the number of writes, and without the evaluations: a write stores one at most. */
function outcomeOf({ items, evaluation }: Awaited<ReturnType<typeof play>>) {
  const kept = items.filter(({ sk }) => !sk.startsWith('EVALUATION#'));
  return {
    items: kept.map(({ revision: _, evaluations: __, evaluated_trades: ___, ...item }) => item),
    evaluation,
  };
}

const parameters = { seed: 7, endOnFailure: true };

it('reads at any time change no stored state', async () => {
  const ends: Record<string, number> = {};
  const steps = fc.array(fc.tuple(fc.array(read, { maxLength: 3 }), write), { minLength: 4, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(start, steps, async (from, steps) => {
      const unread = await play(
        from,
        steps.map(([, step]) => step),
      );
      const { status, outcome } = unread.items.find(({ sk }) => sk === 'META')!;
      ends[`${status} ${outcome}`] = (ends[`${status} ${outcome}`] ?? 0) + 1;
      const watched = steps.flatMap(([reads, step]) => [...reads, step]);
      expect(await play(from, watched)).toEqual(unread);
    }),
    { numRuns: 14, ...parameters },
  );
  expect(Object.keys(ends).length).toBeGreaterThanOrEqual(4);
});

it('batch equals its trades posted one by one', async () => {
  await fc.assert(
    fc.asyncProperty(start, fc.array(write, { minLength: 3, maxLength: 8 }), async (from, steps) => {
      const oneByOne = steps.flatMap((step): Step[] => {
        const trades = step.kind === 'batch' ? batchOf(step.seed, step.shift) : null;
        const batch = step.kind === 'trades' ? step.trades : trades;
        return batch ? batch.map((trade) => ({ kind: 'trades', trades: [trade] })) : [step];
      });
      expect(outcomeOf(await play(from, oneByOne))).toEqual(outcomeOf(await play(from, steps)));
    }),
    { numRuns: 8, ...parameters },
  );
});

it('write repeated immediately or later counts once', async () => {
  const steps = fc.array(fc.record({ step: write, again: fc.array(fc.nat(3), { maxLength: 2 }) }), {
    minLength: 3,
    maxLength: 10,
  });
  await fc.assert(
    fc.asyncProperty(start, steps, async (from, steps) => {
      const writes = steps.map(({ step }) => step);
      const due: Step[][] = [];
      const retry: Retry = async (place, done, take) => {
        for (const step of due[place] ?? []) await take(step);
        for (const after of done ? (steps[place]?.again ?? []) : []) {
          // Trades and keys have IDs and may repeat at any time; a call repeats before the next one.
          const isNamed = done!.kind !== 'call' && done!.kind !== 'tick';
          if (after === 0) await take(done!);
          else if (isNamed) due[place + after] = [...(due[place + after] ?? []), done!];
        }
      };
      expect(outcomeOf(await play(from, writes, retry))).toEqual(outcomeOf(await play(from, writes)));
    }),
    { numRuns: 8, ...parameters },
  );
});
