import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { HyperoptJobConfig } from '#contract/hyperopt/hyperopt.ts';
import { CodedError } from '#contract/values/errors.ts';
import { resolveParameters } from '#engine/definitions/parameters.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { StrategyWithDigest } from '../ports.ts';

/** Configuration of a job, and the source with which it was resolved; absent in jobs of earlier versions. */
interface ResolvedJob {
  readonly strategy_digest?: string | undefined;
  readonly config: ResolvedBacktestConfig;
  /** Parameters that a hyperopt job searches. */
  readonly search?: HyperoptJobConfig['search'];
}

const MAX_NAMED = 10;

/** True when a task found another source than the one with which its job was resolved. */
export function hasOtherSource(
  job: Pick<ResolvedJob, 'strategy_digest'>,
  found: StrategyWithDigest,
): boolean {
  return job.strategy_digest !== undefined && job.strategy_digest !== found.digest;
}

/**
 * One warning for a job that runs another source than the one with which it was resolved; none otherwise.
 * Throws VAL006 when the configuration does not fit the new definition.
 */
export function sourceWarnings(job: ResolvedJob, found: StrategyWithDigest): string[] {
  if (!hasOtherSource(job, found)) return [];
  const { definition, digest } = found;
  const { name } = definition;
  const problems = misfits(job, definition);
  if (problems.length > 0) {
    throw new CodedError('VAL006', {
      message: `Strategy ${name} changed after the submission, and the configuration does not fit it any more: ${problems.slice(0, MAX_NAMED).join('; ')}. Submit the job again`,
    });
  }
  const versions = `digest ${job.strategy_digest!.slice(0, 12)} at submission, ${digest.slice(0, 12)} now`;
  const others = otherDefaults(job.config, definition);
  const detail =
    others.length === 0
      ? ''
      : `. Values that are not the defaults of the new source: ${others.slice(0, MAX_NAMED).join(', ')}`;
  return [
    `The source of strategy ${name} changed after the submission (${versions}): the new source ran with the configuration of the submission${detail}`,
  ];
}

function misfits({ config, search = {} }: ResolvedJob, definition: StrategyDefinition): string[] {
  const { params, timeframe, ml_engine } = config;
  const { parameters, informativeTimeframes = [], informative = [], mlEngine } = definition;
  const values = [params, ...searchedEnds(search)];
  const problems = values.flatMap((each) =>
    resolveParameters(parameters, each).problems.map(({ message }) => message),
  );
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(params, name)) problems.push(`${name}: new parameter without a value in this job`);
  }
  for (const each of [...informativeTimeframes, ...informative.map((other) => other.timeframe)]) {
    if (TIMEFRAME_MS[each] < TIMEFRAME_MS[timeframe]) {
      problems.push(`timeframe: ${timeframe} is longer than ${each}, which the strategy reads`);
    }
  }
  const readsPredictions = mlEngine !== undefined;
  if (readsPredictions && !ml_engine) problems.push('ml_engine: the strategy trades on predictions now');
  if (ml_engine && (ml_engine.entry_threshold === null) !== readsPredictions) {
    problems.push(
      readsPredictions
        ? 'ml_engine: the strategy reads the predictions itself now'
        : 'ml_engine: the strategy does not read the predictions any more',
    );
  }
  return [...new Set(problems)];
}

/** The ends of every searched range, and every searched choice, as parameters. */
function searchedEnds(search: HyperoptJobConfig['search']): Record<string, string | number | boolean>[] {
  return Object.entries(search).flatMap(([name, each]) =>
    (each.kind === 'choice' ? each.choices : [each.min, each.max]).map((value) => ({ [name]: value })),
  );
}

function otherDefaults(
  { params, stoploss }: ResolvedBacktestConfig,
  definition: StrategyDefinition,
): string[] {
  const stop = stoploss === definition.stoploss ? [] : [`stoploss ${stoploss} (now ${definition.stoploss})`];
  const others = Object.entries(definition.parameters).flatMap(([name, parameter]) =>
    params[name] === parameter.default ? [] : [`${name} ${params[name]} (now ${parameter.default})`],
  );
  return [...others, ...stop];
}
