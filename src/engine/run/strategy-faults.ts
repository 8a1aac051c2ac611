import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';
import { askNext, CALLBACK_NAMES } from './whereabouts.ts';

/** Characters of a text that a strategy threw, and of a whole error: where it happened is beside it, and is kept. */
const MAX_TEXT_LENGTH = 1_000;
const MAX_ERROR_LENGTH = 2_000;
const LONGEST_FRAME = 1_000;

/**
 * What was thrown, in words, with the file and line of the strategy's that the engine had called: "no price (mine.ts:12)".
 * Whatever it is: this throws nothing, and is of bounded length.
 */
export function describeThrown(thrown: unknown): string {
  return describe(thrown, placeOf);
}

/** The same of what was thrown where the engine had called nothing, as in a timer. */
export function describeStray(thrown: unknown): string {
  return describe(thrown, (error) => placeAmong(framesOf(error)));
}

function describe(thrown: unknown, place: (error: Error) => string): string {
  try {
    if (!(thrown instanceof Error)) {
      return typeof thrown === 'string' ? cutMiddle(thrown, MAX_TEXT_LENGTH) : `it threw ${typeof thrown}`;
    }
    const where = place(thrown);
    return `${cutMiddle(String(thrown.message || thrown.name), MAX_TEXT_LENGTH)}${where && ` (${where})`}`;
  } catch {
    return 'it threw something that cannot be read';
  }
}

/** The message of an error of the engine; of anything else what {@link describeThrown} says. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return cutError(String(error.message));
  } catch {
    // Below.
  }
  return describeThrown(error);
}

/** A message as it is stored: its beginning says what failed where, its end the file and line. */
export function cutError(message: string): string {
  return cutMiddle(message, MAX_ERROR_LENGTH);
}

function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const head = Math.floor(most * 0.7);
  const left = `[${text.length - most} characters left out]`;
  return `${text.slice(0, head)} ${left} ${text.slice(head - most)}`.toWellFormed();
}

/** `file:line` of the nearest frame outside the engine that the engine called; empty in a bundle, where lines mean nothing. */
export function placeOf(error: Error): string {
  const frames = framesOf(error);
  return placeAmong(frames.slice(0, frames.findLastIndex(isEngine) + 1));
}

function placeAmong(frames: readonly string[]): string {
  const frame = frames.find((each) => !isEngine(each) && FILE_AND_LINE.test(each));
  const [, file, line] = FILE_AND_LINE.exec(frame ?? '') ?? [];
  return file ? `${file}:${line}` : '';
}

/** Of a stack its frames; lines of the message may look like some, and be of any length. */
function framesOf({ stack }: Error): string[] {
  if (typeof stack !== 'string') return [];
  return stack.split('\n').filter((line) => line.length <= LONGEST_FRAME && /^\s+at /.test(line));
}

/** A module that was loaded again has the number of that in its address. */
const FILE_AND_LINE = /([^/\\(]+\.ts)(?:\?run=\d+)?:(\d+):\d+\)?$/;
const isEngine = (frame: string) => /[/\\]src[/\\]engine[/\\]/.test(frame);

type Callback = (...asked: unknown[]) => unknown;

/** The same callbacks; an error that one throws says which, of what pair and in which candle. */
export function namingCallbacks(callbacks: StrategyCallbacks): StrategyCallbacks {
  const named: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [string, Callback | undefined][]) {
    const number = CALLBACK_NAMES.indexOf(name) + 1;
    // None takes more; a list of the rest would be made anew in every candle.
    if (callback)
      named[name] = (context, a, b, c) => {
        askNext(number);
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
