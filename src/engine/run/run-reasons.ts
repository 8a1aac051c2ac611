import type { Analysis } from '../analysis/analyze.ts';
import { PathRecorder } from '../simulator/state/path-recorder.ts';
import type { CallbackContext, StrategyCallbacks, TradeView } from '../strategy.ts';
import type { PairHistory } from './history.ts';

/** What callbacks returned for a trade. Times are open times of candles, ms, ascending. */
export interface TradeAnswers {
  /** Results of `customExit` that were not null. */
  readonly exits: readonly (readonly [time: number, reason: string])[];
  /** Results of `adjustPosition` that were not null or 0, stakes with their tags. */
  readonly adjustments: readonly (readonly [time: number, stake: number, tag: string | null])[];
  /** Results of `customRoi` that were not null. */
  readonly targets: readonly (readonly [time: number, ratio: number])[];
}

const NO_ANSWERS: TradeAnswers = { exits: [], adjustments: [], targets: [] };

type Mutable = { -readonly [K in keyof TradeAnswers]: TradeAnswers[K][number][] };
type Callback = (context: CallbackContext, a?: unknown, b?: unknown, c?: unknown, d?: unknown) => unknown;

/** Why the trades of a run did what they did: the levels of each, and what its callbacks returned. */
export class RunReasons {
  readonly paths = new PathRecorder();
  /** Called with what the strategy computed for each pair that is traded, before the simulation. It must not change the arrays. */
  readonly onAnalyzed: (history: PairHistory, analysis: Analysis) => void;
  readonly #answers = new Map<string, Mutable>();

  constructor(onAnalyzed: RunReasons['onAnalyzed']) {
    this.onAnalyzed = onAnalyzed;
  }

  answersOf(pair: string, openedAt: number, side: 'long' | 'short'): TradeAnswers {
    return this.#answers.get(keyOf({ pair, openedAt, side })) ?? NO_ANSWERS;
  }

  /** Forgets all trades: the simulation begins again. */
  clear(): void {
    this.paths.clear();
    this.#answers.clear();
  }

  /** The callbacks, whose results are recorded. Each is called as a method of the strategy's own object. */
  recording(callbacks: StrategyCallbacks): StrategyCallbacks {
    const recording: Record<string, Callback> = {};
    for (const [name, callback] of Object.entries(callbacks) as [string, Callback | undefined][]) {
      if (!callback) continue;
      const keep = KEPT[name];
      recording[name] = (context, a, b, c, d) => {
        // The view of the trade is valid during the call only.
        const key = keep && keyOf(a as TradeView);
        const returned = callback.call(callbacks, context, a, b, c, d);
        if (keep && key) keep(this.#of(key), context.time, returned);
        return returned;
      };
    }
    return recording as StrategyCallbacks;
  }

  #of(key: string): Mutable {
    const answers = this.#answers.get(key) ?? { exits: [], adjustments: [], targets: [] };
    this.#answers.set(key, answers);
    return answers;
  }
}

/** What is kept of the results of each callback. The engine checks them: here another type is left out. */
const KEPT: Readonly<Record<string, (into: Mutable, time: number, returned: unknown) => void>> = {
  customExit: ({ exits }, time, returned) => {
    if (typeof returned === 'string') exits.push([time, returned]);
  },
  customRoi: ({ targets }, time, returned) => {
    if (typeof returned === 'number') targets.push([time, returned]);
  },
  adjustPosition: ({ adjustments }, time, returned) => {
    if (typeof returned === 'number' && returned !== 0) adjustments.push([time, returned, null]);
    if (typeof returned !== 'object' || returned === null) return;
    const { stake, tag } = returned as { stake?: unknown; tag?: unknown };
    if (typeof stake === 'number') adjustments.push([time, stake, typeof tag === 'string' ? tag : null]);
  },
};

function keyOf({ pair, openedAt, side }: Pick<TradeView, 'pair' | 'openedAt' | 'side'>): string {
  return `${pair}\n${openedAt}\n${side}`;
}
