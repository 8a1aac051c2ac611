import { suggest } from '#engine/search/sampler.ts';
import { type PastTrial, samplerLag, visibleHistory } from '#engine/search/trials.ts';
import type { TestFunction } from './test-functions.ts';

export interface StudyOptions {
  readonly seed: number;
  readonly trials: number;
  readonly sampler: 'tpe' | 'random';
  /** How far results lag behind suggestions: 1 is one trial after the other; default the lag of studies. */
  readonly lag?: number;
}

/** All trials of one study of a test function. */
export function runStudy(
  { space, minimise }: Pick<TestFunction, 'space' | 'minimise'>,
  { seed, trials, sampler, lag = samplerLag(trials) }: StudyOptions,
): PastTrial[] {
  const past: PastTrial[] = [];
  for (let number = 0; number < trials; number++) {
    const visible = visibleHistory(past, number, lag);
    const params = suggest(space, visible, { seed, number, direction: 'minimize', sampler });
    past.push({ number, params, state: 'complete', value: minimise(params) });
  }
  return past;
}

/** The smallest value of each of `seeds` studies, in order of the values. */
export function bestValues(
  subject: TestFunction,
  seeds: number,
  options: Omit<StudyOptions, 'seed'>,
): number[] {
  return Array.from({ length: seeds }, (_, seed) =>
    Math.min(...runStudy(subject, { ...options, seed }).map(({ value }) => value!)),
  ).sort((a, b) => a - b);
}
