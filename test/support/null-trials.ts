import { type DeflatedRun, deflateRun } from '#domain/trials/deflate-run.ts';
import { createRandom } from '#engine/random.ts';
import { sharpeSample } from '#engine/stats/sharpe-ratio.ts';

/** Trials without skill, of which the best is shown. */
export interface NullTrials {
  readonly trials: number;
  readonly days: number;
  /** Between the daily returns of any two trials. */
  readonly correlation: number;
  /** Number of such selections. */
  readonly runs: number;
  readonly seed: number;
}

const RUN = { strategy: 's', simulated: false, assets: ['BTC'], start: 0, end: 1, session: null };

/** Share of the selections whose best trial, with normal returns and a true Sharpe ratio of 0, has a deflated ratio above 0.95. */
export function falsePositives({ trials, days, correlation, runs, seed }: NullTrials): number {
  const normal = normals(seed);
  const [common, own] = [Math.sqrt(correlation), Math.sqrt(1 - correlation)];
  let found = 0;
  for (let run = 0; run < runs; run++) {
    const market = Float64Array.from({ length: days }, normal);
    const tried = Array.from({ length: trials }, (_, index): DeflatedRun => {
      const returns = market.map((each) => 0.01 * (common * each + own * normal()));
      return { ...RUN, digest: String(index), days, sample: sharpeSample(returns) };
    });
    const sharpe = ({ sample }: DeflatedRun) => sample!.sharpe;
    const best = tried.reduce((a, b) => (sharpe(b) > sharpe(a) ? b : a));
    const known = { trials: tried.map((each) => ({ ...each, sharpe: sharpe(each) })), sums: [] };
    if (deflateRun(best, known).owner.deflated_sharpe_ratio! > 0.95) found++;
  }
  return found / runs;
}

/** Standard normal numbers by Box and Muller. */
function normals(seed: number): () => number {
  const random = createRandom(seed);
  let next: number | undefined;
  return () => {
    if (next !== undefined) {
      const value = next;
      next = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    next = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
