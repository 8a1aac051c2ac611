import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';

/** What was thrown, in words, with the file and line of the strategy's that the engine had called: "no price (mine.ts:12)". */
export function describeThrown(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : `it threw ${typeof thrown}`;
  const place = placeOf(thrown);
  return `${thrown.message || thrown.name}${place && ` (${place})`}`;
}

/** The nearest frame outside the engine that the engine called; empty in a bundle, where lines mean nothing. */
function placeOf({ stack }: Error): string {
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const last = frames.findLastIndex(isEngine);
  const frame = frames.slice(0, last + 1).find((each) => !isEngine(each) && FILE_AND_LINE.test(each));
  const [, file, line] = FILE_AND_LINE.exec(frame ?? '') ?? [];
  return file ? `${file}:${line}` : '';
}

const FILE_AND_LINE = /([^/\\(]+\.ts):(\d+):\d+\)?$/;
const isEngine = (frame: string) => /[/\\]src[/\\]engine[/\\]/.test(frame);

type Callback = (...asked: unknown[]) => unknown;

/** The same callbacks; an error that one throws says which, of what pair and in which candle. */
export function namingCallbacks(callbacks: StrategyCallbacks): StrategyCallbacks {
  const named: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [string, Callback | undefined][]) {
    // None takes more; a list of the rest would be made anew in every candle.
    if (callback)
      named[name] = (context, a, b, c) => {
        try {
          return callback.call(callbacks, context, a, b, c);
        } catch (error) {
          const { pair, time } = context as CallbackContext;
          throw new Error(
            `${name} threw for ${pair} in the candle of ${new Date(time).toISOString()}: ${describeThrown(error)}`,
            { cause: error },
          );
        }
      };
  }
  return named as StrategyCallbacks;
}
