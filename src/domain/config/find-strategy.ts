import type { BrokenStrategyFile } from '#contract/config/strategy.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { KnownStrategy, Strategies } from './strategy-ports.ts';

/** Field of the request that names the strategy, and the codes of an unknown one and of one whose file is broken. */
interface NotFound {
  readonly field: string;
  readonly unknown: 'RES002' | 'RES004';
  /** Default: `unknown`. */
  readonly broken?: 'VAL006';
  /** Key of the name in the error's context. Default `strategy`. */
  readonly key?: string;
}

/**
 * The strategy of that name.
 * Throws the given codes: with the known names in `context.known`, or with file, line and error of a broken file.
 */
export async function findStrategy(
  strategies: Strategies,
  name: string,
  { field, unknown, broken: whenBroken, key = 'strategy' }: NotFound,
): Promise<KnownStrategy> {
  const found = await strategies.find(name);
  if (found) return found;
  const shown = name.slice(0, 100);
  const { strategies: all, broken } = await strategies.list();
  const file = broken.find(({ strategy }) => strategy === name);
  if (file) {
    throw new CodedError(whenBroken ?? unknown, {
      message: `Strategy ${shown} cannot be used: ${describeBroken(file)}. Correct the file and repeat the request.`,
      field,
      context: { [key]: shown, file: file.file, line: file.line, error: file.error },
    });
  }
  throw new CodedError(unknown, {
    ...(unknown === 'RES002' && { message: `Strategy ${JSON.stringify(shown)} not found` }),
    field,
    context: {
      [key]: shown,
      known: all.map(({ definition }) => definition.name),
      ...(broken.length > 0 && { broken_files: broken.map((each) => each.file) }),
    },
  });
}

/** A broken file in one sentence without its full stop. */
export function describeBroken({ file, line, error }: BrokenStrategyFile): string {
  return `strategy file ${file}${line === null ? '' : `:${line}`}: ${error.replace(/\.$/, '')}`;
}
