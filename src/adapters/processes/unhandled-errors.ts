import { AsyncLocalStorage } from 'node:async_hooks';
import { realpathSync } from 'node:fs';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { CodedError } from '#contract/values/errors.ts';
import { BacktestError, describeUnhandled } from '#engine/strategy-errors.ts';
import { USER_STRATEGIES } from '../strategies/strategy-files.ts';
import { isOfTimer } from './strategy-globals.ts';

/** Errors outside of any call: exceptions in timers, and unhandled promise rejections. */
export interface UnhandledErrors {
  /** Attributes later errors to this strategy: those of {@link run}, and of other work unless they point to our code or the system. */
  blame(strategy: string): void;
  /** Runs work that calls code of the strategy. What it starts fails as the strategy, whatever its error looks like. */
  run<T>(work: () => T): T;
  /** Throws the first error of the strategy. */
  check(): void;
}

/**
 * Records uncaught errors of the strategy for {@link UnhandledErrors.check}. Calls `onOwn` for all others; it should end the
 * process. Stacks of a bundle contain no file names: there, only the type of an error identifies it as ours.
 *
 * @param folder of the strategies; default: the users' folder
 */
export function catchUnhandledErrors(
  folder: string | undefined = USER_STRATEGIES,
  onOwn: (error: unknown) => void,
): UnhandledErrors {
  let strategy: string | undefined;
  let first: BacktestError | undefined;
  const address = folder && addressOf(folder);
  const onStray = (error: unknown) => {
    if (strategy === undefined || (!context.getStore() && isOurs(error, address))) return onOwn(error);
    first ??= new BacktestError(
      'strategy',
      `Strategy ${strategy} failed in a timer or an unhandled promise: ${describeUnhandled(error)}`,
    );
  };
  process
    .removeAllListeners('uncaughtException')
    .on('uncaughtException', onStray)
    .on('unhandledRejection', onStray);
  return {
    blame: (name) => {
      strategy = name;
    },
    run: (work) => context.run(true, work),
    check: () => {
      if (first) throw first;
    },
  };
}

/** True in work that calls code of a strategy, and in all that it has started. */
const context = new AsyncLocalStorage<true>();

/** Stores and functions of the platform for work that calls code of a strategy: what they start is the platform's own. */
export function ofPlatform<T extends object>(parts: T): T {
  const leave =
    (of: unknown, work: (...args: unknown[]) => unknown) =>
    (...args: unknown[]) =>
      context.exit(() => Reflect.apply(work, of, args));
  const own = (part: unknown) => {
    if (typeof part === 'function') return leave(undefined, part as () => unknown);
    if (typeof part !== 'object' || part === null) return part;
    return new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? leave(target, value as () => unknown) : value;
      },
    });
  };
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, own(part)])) as T;
}

function addressOf(folder: string): string {
  try {
    return pathToFileURL(`${realpathSync(folder)}/`).href;
  } catch {
    return pathToFileURL(`${folder}/`).href;
  }
}

/** True if the error points to our code or the system and not to the strategy. */
function isOurs(error: unknown, folder: string | undefined): boolean {
  try {
    if (!(error instanceof Error) || isOfTimer(error)) return false;
    const stack = String(error.stack);
    if (folder && stack.includes(folder)) return false;
    if (error instanceof CodedError || 'errno' in error || '$metadata' in error) return true;
    if (!folder) return false;
    return /[/\\](src|node_modules)[/\\]/.test(stack);
  } catch {
    return false;
  }
}
