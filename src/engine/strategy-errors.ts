import {
  CALLBACK_NAMES,
  type CallbackContext,
  type LoopContext,
  type StrategyCallbacks,
} from './strategy.ts';

/** Maximum characters of a thrown message, of a whole error with its file and line, and of a stack frame. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_ERROR_LENGTH = 2_000;
const MAX_FRAME_LENGTH = 1_000;

/**
 * Message of a thrown value with the file and line of the strategy: "no price (mine.ts:12)". Has a bounded length, and never
 * throws, for any value.
 */
export function describeThrown(thrown: unknown): string {
  return describe(thrown, locationOf);
}

/** {@link describeThrown} for a value thrown outside of a call by the engine, as in a timer. */
export function describeUnhandled(thrown: unknown): string {
  return describe(thrown, (error) => locationAmong(framesOf(error)));
}

function describe(thrown: unknown, locate: (error: Error) => string): string {
  try {
    if (!(thrown instanceof Error)) {
      return typeof thrown === 'string' ? cutMiddle(thrown, MAX_MESSAGE_LENGTH) : `it threw ${typeof thrown}`;
    }
    const location = locate(thrown);
    return `${cutMiddle(String(thrown.message || thrown.name), MAX_MESSAGE_LENGTH)}${location && ` (${location})`}`;
  } catch {
    return 'it threw something that cannot be read';
  }
}

/** Message of an error of the engine; {@link describeThrown} for any other value. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return cutError(String(error.message));
  } catch {
    // A message that cannot be read is described below.
  }
  return describeThrown(error);
}

/** Cuts a message to the stored length. Keeps its beginning, with what failed, and its end, with file and line. */
export function cutError(message: string): string {
  return cutMiddle(message, MAX_ERROR_LENGTH);
}

function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const head = Math.floor(max * 0.7);
  const omitted = `[${text.length - max} characters left out]`;
  return `${text.slice(0, head)} ${omitted} ${text.slice(head - max)}`.toWellFormed();
}

/** `file:line` of the nearest frame outside the engine that the engine called; empty in a bundle, which has other lines. */
export function locationOf(error: Error): string {
  const frames = framesOf(error);
  return locationAmong(frames.slice(0, frames.findLastIndex(isEngine) + 1));
}

function locationAmong(frames: readonly string[]): string {
  const frame = frames.find((each) => !isEngine(each) && FILE_AND_LINE.test(each));
  const [, file, line] = FILE_AND_LINE.exec(frame ?? '') ?? [];
  return file ? `${file}:${line}` : '';
}

/** Frames of a stack. Lines of the message may look like frames and have any length. */
function framesOf({ stack }: Error): string[] {
  if (typeof stack !== 'string') return [];
  return stack.split('\n').filter((line) => line.length <= MAX_FRAME_LENGTH && /^\s+at /.test(line));
}

/** The URL of a reloaded module contains the number of the run. */
const FILE_AND_LINE = /([^/\\(]+\.ts)(?:\?run=\d+)?:(\d+):\d+\)?$/;
/** In local mode the engine may be in the file of the bundled task. */
const isEngine = (frame: string) => /[/\\](src[/\\]engine[/\\]|backtest\.mjs:)/.test(frame);

type Callback = (...args: unknown[]) => unknown;

/** Wraps callbacks: an error that one throws names the callback, the pair and the candle. */
export function withCallbackContext(callbacks: StrategyCallbacks): StrategyCallbacks {
  const wrapped: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [keyof StrategyCallbacks, Callback?][]) {
    const number = CALLBACK_NAMES.indexOf(name) + 1;
    // Callbacks have at most five parameters; a rest parameter would allocate in every candle.
    if (callback)
      wrapped[name] = (context, a, b, c, d) => {
        active[0] = number;
        try {
          return callback.call(callbacks, context, a, b, c, d);
        } catch (error) {
          const at = context as CallbackContext | LoopContext;
          const { time } = at;
          throw new Error(
            `${name} threw${'pair' in at ? ` for ${at.pair}` : ''} in the candle of ${new Date(time).toISOString()}: ${describeThrown(error)}`,
            { cause: error },
          );
        }
      };
  }
  return wrapped as StrategyCallbacks;
}

// Current activity of the run, so that a supervisor can name the code that never returns. It is process state: a process runs
// one thing at a time. Results do not depend on it.
//
// A listener is called before strategy code is entered. That costs too much for callbacks, which are called a million times in
// a run of some milliseconds. Their number is written to memory that the supervisor reads from outside.

/**
 * @param what part of the strategy or of the run
 * @param pairs pairs of the activity; in a simulation all, in the order of the pair numbers
 */
type ActivityListener = (what: string, pairs: readonly string[]) => void;

let listener: ActivityListener | undefined;
/** Numbers of the callback called last and of its pair. Callback: index in {@link CALLBACK_NAMES} plus 1; 0 for none. */
let active = new Uint16Array(2);
let activePairs: readonly string[] = [];

/** Sets the listener of later activities and the memory, two elements, for the numbers of callback and pair. */
export function setActivityListener(onActivity: ActivityListener, memory: Uint16Array<ArrayBuffer>): void {
  listener = onActivity;
  active = memory;
}

/** Reports the next activity; without `pairs`, for the pairs of the activity before. */
export function reportActivity(what: string, pairs = activePairs): void {
  activePairs = pairs;
  active[0] = 0;
  listener?.(what, pairs);
}

/** Sets the number of the pair whose callbacks are called next. */
export function setActivePair(pair: number): void {
  active[1] = pair;
}

/**
 * - `insufficient_data`: no pair has enough candles to trade on
 * - `invalid_candles`: a candle is impossible, out of order or off its grid
 * - `strategy`: the strategy threw, or returned something that is not one value per candle
 */
export type BacktestErrorKind = 'insufficient_data' | 'invalid_candles' | 'strategy';

/** Failure of a backtest. The message is for its author. */
export class BacktestError extends Error {
  override readonly name = 'BacktestError';
  readonly kind: BacktestErrorKind;

  constructor(kind: BacktestErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
