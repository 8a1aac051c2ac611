import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CodedError } from '#contract/errors.ts';
import { BacktestError, describeStray } from '#engine/run/strategy-errors.ts';
import { USER_STRATEGIES } from './strategy-files.ts';

/** Errors that no run meets: thrown in a timer, or rejections that nothing waits for. */
export interface StrayErrors {
  /** From now on what strays is the strategy's, unless it is known to be ours. */
  blame(strategy: string): void;
  /** Throws the first that was the strategy's. */
  check(): void;
}

/**
 * Keeps what strays for {@link StrayErrors.check} when code of the strategy threw it; for anything else calls `onOwn`, which
 * should end the process. A bundle knows no files: there, what the system or our code threw is told by its kind alone.
 *
 * @param folder of the strategies; absent: the users' folder
 */
export function catchStrayErrors(
  folder: string | undefined = USER_STRATEGIES,
  onOwn: (error: unknown) => void,
): StrayErrors {
  let strategy: string | undefined;
  let first: BacktestError | undefined;
  const place = folder && addressOf(folder);
  const onStray = (error: unknown) => {
    if (strategy === undefined || isOurs(error, place)) return onOwn(error);
    first ??= new BacktestError(
      'strategy',
      `Strategy ${strategy} failed in a timer or a promise that nothing waits for: ${describeStray(error)}`,
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
    check: () => {
      if (first) throw first;
    },
  };
}

function addressOf(folder: string): string {
  try {
    return pathToFileURL(`${realpathSync(folder)}/`).href;
  } catch {
    return pathToFileURL(`${folder}/`).href;
  }
}

/** Whether nothing of it points to the strategy, and something to our code or the system. */
function isOurs(error: unknown, folder: string | undefined): boolean {
  try {
    if (!(error instanceof Error)) return false;
    if (error instanceof CodedError || 'errno' in error || '$metadata' in error) return true;
    const stack = String(error.stack);
    if (!folder || stack.includes(folder)) return false;
    return /[/\\](src|node_modules)[/\\]/.test(stack);
  } catch {
    return false;
  }
}
