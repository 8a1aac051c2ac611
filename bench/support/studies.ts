import { suggest } from '#engine/search/sampler.ts';
import { type PastTrial, samplerLag, visibleHistory } from '#engine/search/trials.ts';
import type { TestFunction } from './test-functions.ts';

export interface StudyOptions {
  readonly seed: number;
  readonly trials: number;
  readonly sampler: 'tpe' | 'random';
  /** Lag of results behind suggestions; 1 means sequential trials. Default: `samplerLag`. */
  readonly lag?: number;
}

/** Runs one study of a test function and returns all its trials. */
export function runStudy(
  { space, minimize }: Pick<TestFunction, 'space' | 'minimize'>,
  { seed, trials, sampler, lag = samplerLag(trials) }: StudyOptions,
): PastTrial[] {
  const past: PastTrial[] = [];
  for (let number = 0; number < trials; number++) {
    const visible = visibleHistory(past, number, lag);
    const params = suggest(space, visible, { seed, number, direction: 'minimize', sampler });
    past.push({ number, params, state: 'complete', value: minimize(params) });
  }
  return past;
}

/** Smallest value of each of `seeds` studies, ascending. */
export function bestValues(
  subject: TestFunction,
  seeds: number,
  options: Omit<StudyOptions, 'seed'>,
): number[] {
  return Array.from({ length: seeds }, (_, seed) =>
    Math.min(...runStudy(subject, { ...options, seed }).map(({ value }) => value!)),
  ).sort((a, b) => a - b);
}
